/*
 * Heat on a plate, rows shared out, with timers of its own around everything: stencil [STEPS].
 *
 * The shape is that of FLASH in paper 003: before it exchanges guard cells it waits for all ranks in a
 * barrier that has a timer of its own, and later ranks have more to do, as if their part of the grid were
 * refined.
 */
#include <hybrid/hybrid.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 512

static double grid[2][SIDE + 2][SIDE + 2];
static int rank, size, rows;

__attribute__((noinline)) static void exchange(double (*u)[SIDE + 2])
{
	int up = rank ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;

	MPI_Sendrecv(u[1], SIDE + 2, MPI_DOUBLE, up, 1, u[rows + 1], SIDE + 2, MPI_DOUBLE, down, 1,
		MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(u[rows], SIDE + 2, MPI_DOUBLE, down, 2, u[0], SIDE + 2, MPI_DOUBLE, up, 2,
		MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void fill_guardcells(double (*u)[SIDE + 2])
{
	HYBRID_ENTER("guardcell");
	HYBRID_ENTER("guardcell Barrier");
	MPI_Barrier(MPI_COMM_WORLD);
	HYBRID_LEAVE("guardcell Barrier");
	HYBRID_ENTER("guardcell exchange");
	exchange(u);
	HYBRID_LEAVE("guardcell exchange");
	HYBRID_LEAVE("guardcell");
}

__attribute__((noinline)) static double relax(double (*u)[SIDE + 2], double (*next)[SIDE + 2])
{
	double change = 0;

	for (int i = 1; i <= rows; i++)
		for (int j = 1; j <= SIDE; j++) {
			double new = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);

			change += (new - u[i][j]) * (new - u[i][j]);
			next[i][j] = new;
		}
	return change;
}

__attribute__((noinline)) static double hydro(double (*u)[SIDE + 2], double (*next)[SIDE + 2])
{
	double change = 0;

	HYBRID_ENTER("hydro");
	for (int i = 0; i <= 2 * rank; i++)
		change = relax(u, next);
	HYBRID_LEAVE("hydro");
	return change;
}

/* The time step is the same everywhere. */
__attribute__((noinline)) static double timestep(double change)
{
	double sum;

	HYBRID_ENTER("timestep");
	MPI_Allreduce(&change, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	HYBRID_LEAVE("timestep");
	return sum;
}

__attribute__((noinline)) static double evolve(int steps)
{
	double change = 0;

	HYBRID_ENTER("evolution");
	for (int step = 0; step < steps; step++) {
		fill_guardcells(grid[step % 2]);
		change = timestep(hydro(grid[step % 2], grid[1 - step % 2]));
	}
	HYBRID_LEAVE("evolution");
	return change;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 1000;
	double change;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	rows = SIDE / size;
	for (int j = 0; j < SIDE + 2; j++)
		grid[0][0][j] = grid[1][0][j] = rank ? 0 : 100;
	change = evolve(steps);
	if (rank == 0)
		printf("last change %g\n", change);
	MPI_Finalize();
	return 0;
}
