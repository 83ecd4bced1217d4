/*
 * Latency of small messages between two ranks, in ns (half a round trip): the
 * fastest and the middle batch. Two ranks on two processors have good and bad
 * spells, so that only the fastest of many short batches can be compared.
 *
 *     mpiexec -n 2 pingpong [BATCHES [ROUND_TRIPS [BYTES]]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define BATCHES_MAX 100000

static double batches[BATCHES_MAX];

static void round_trips(int rank, int count, char *data, int bytes)
{
	for (int i = 0; i < count; i++) {
		if (rank == 0) {
			MPI_Send(data, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
			MPI_Recv(data, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(data, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
		}
	}
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 200, trips = argc > 2 ? atoi(argv[2]) : 500;
	int bytes = argc > 3 ? atoi(argv[3]) : 8, rank, size;
	char *data = calloc(1, bytes > 0 ? (size_t)bytes : 1);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2 || count < 1 || count > BATCHES_MAX || trips < 1 || bytes < 0 || !data) {
		fprintf(stderr, "usage: mpiexec -n 2 pingpong [BATCHES [ROUND_TRIPS [BYTES]]]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	round_trips(rank, trips, data, bytes);
	for (int i = 0; i < count; i++) {
		uint64_t start = now();

		round_trips(rank, trips, data, bytes);
		batches[i] = (double)(now() - start) / trips / 2;
	}
	if (rank == 0) {
		qsort(batches, (size_t)count, sizeof(*batches), compare_doubles);
		printf("fastest %.2f\nmedian %.2f\n", batches[0], batches[count / 2]);
	}
	MPI_Finalize();
	free(data);
	return 0;
}
