/*
 * A master hands out tasks of different length to whoever is idle: master_worker [TASKS]. All workers send to
 * one rank, which receives from any.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASK = 1, RESULT = 2, END = 3 };

static double work(int task)
{
	volatile double sum = 0;

	for (int i = 0; i < (task % 7 + 1) * 200000; i++)
		sum += 1.0 / (1 + i);
	return sum;
}

static void worker(void)
{
	MPI_Status status;
	double result = 0;
	int task;

	for (;;) {
		MPI_Send(&result, 1, MPI_DOUBLE, 0, RESULT, MPI_COMM_WORLD);
		MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		if (status.MPI_TAG == END)
			return;
		result = work(task);
	}
}

static double master(int tasks, int workers)
{
	MPI_Status status;
	double result, sum = 0;

	for (int task = 0; workers; task++) {
		MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
		sum += result;
		MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, task < tasks ? TASK : END, MPI_COMM_WORLD);
		workers -= task >= tasks;
	}
	return sum;
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank)
		worker();
	else
		printf("sum %g\n", master(argc > 1 ? atoi(argv[1]) : 200, size - 1));
	MPI_Finalize();
	return 0;
}
