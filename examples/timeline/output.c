#include <hybrid/hybrid.h>
#include <mpi.h>
#include <time.h>
#include "plate.h"

void plate_output(const struct plate *p, int step)
{
	struct timespec t = {0, 1000000};
	int turn = step;

	HYBRID_ENTER("output");
	if (p->rank)
		MPI_Recv(&turn, 1, MPI_INT, p->rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	nanosleep(&t, NULL);
	if (p->rank + 1 < p->size)
		MPI_Send(&turn, 1, MPI_INT, p->rank + 1, 3, MPI_COMM_WORLD);
	HYBRID_LEAVE("output");
}
