/* Rank 0 computes while rank 1 waits in MPI_Recv: most samples of rank 1 are inside MPI. */
#include "truth.h"

static volatile double sum;

__attribute__((noinline)) static void compute(double ms)
{
	double end = now_ns() + ms * 1e6;

	while (now_ns() < end)
		for (int i = 0; i < 1000; i++)
			sum += i;
}

__attribute__((noinline)) static void first_wait(int *number)
{
	MPI_Recv(number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void second_wait(int *number)
{
	MPI_Recv(number, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sum++;
}

int main(int argc, char **argv)
{
	int number = 0;

	MPI_Init(&argc, &argv);
	truth_begin();
	if (rank == 0) {
		compute(300);
		MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
		compute(600);
		MPI_Send(&number, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
	} else {
		first_wait(&number);
		second_wait(&number);
	}
	MPI_Finalize();
	return 0;
}
