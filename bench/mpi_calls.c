/*
 * What a call of MPI costs, in ns, in one process: the fastest of many batches of each kind.
 *
 *     mpi_calls [BATCHES]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define BATCH 1000

static int number;

static void probe(void)
{
	int flag;

	MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void collective(void)
{
	MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_SELF);
}

/* Three calls. */
static void message(void)
{
	MPI_Request request;
	int got;

	MPI_Irecv(&got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
	MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct {
	const char *name;
	void (*call)(void);
} kinds[] = {{"MPI_Iprobe", probe}, {"MPI_Bcast", collective}, {"message", message}};

int main(int argc, char **argv)
{
	int batches = argc > 1 ? atoi(argv[1]) : 200;

	MPI_Init(&argc, &argv);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		double best = 1e18;

		for (int i = 0; i < batches; i++) {
			uint64_t start = now();
			double time;

			for (int j = 0; j < BATCH; j++)
				kinds[k].call();
			time = (double)(now() - start) / BATCH;
			best = time < best ? time : best;
		}
		printf("%s %.2f\n", kinds[k].name, best);
	}
	MPI_Finalize();
	return 0;
}
