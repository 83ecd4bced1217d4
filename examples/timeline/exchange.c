#include <hybrid/hybrid.h>
#include <mpi.h>
#include "plate.h"

void plate_exchange(struct plate *p)
{
	int up = p->rank ? p->rank - 1 : MPI_PROC_NULL;
	int down = p->rank + 1 < p->size ? p->rank + 1 : MPI_PROC_NULL;
	MPI_Request requests[4];
	MPI_Status statuses[4];

	HYBRID_ENTER("exchange");
	MPI_Irecv(p->now[0], SIDE, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(p->now[2], SIDE, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(p->now[1], SIDE, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(p->now[1], SIDE, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &requests[3]);
	MPI_Waitall(4, requests, statuses);
	HYBRID_LEAVE("exchange");
}
