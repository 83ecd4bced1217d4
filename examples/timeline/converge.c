#include <hybrid/hybrid.h>
#include <mpi.h>
#include "plate.h"

int plate_converged(double change)
{
	double sum;

	HYBRID_ENTER("converge");
	MPI_Allreduce(&change, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	HYBRID_LEAVE("converge");
	return sum < 1e-9;
}
