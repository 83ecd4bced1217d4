/* Heat on a plate, a row for each rank: plate [STEPS]. Prints its messages and collectives by its own
 * account. */
#include "plate.h"

#include <hybrid/hybrid.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static struct plate plate;
	int steps = argc > 1 ? atoi(argv[1]) : 12, step = 0, outputs = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &plate.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &plate.size);
	for (int j = 0; j < SIDE; j++)
		plate.now[1][j] = plate.rank ? 0 : 100;
	HYBRID_ENTER("evolution");
	for (; step < steps; step++) {
		plate_exchange(&plate);
		plate_converged(plate_relax(&plate, step));
		if (step % 6 == 5) {
			plate_output(&plate, step);
			outputs++;
		}
	}
	HYBRID_LEAVE("evolution");
	if (!plate.rank)
		printf("messages %d\ncollectives %d\n", (plate.size - 1) * (2 * steps + outputs), steps);
	MPI_Finalize();
	return 0;
}
