/*
 * What a call of MPI costs, in ns, in one process: the fastest of many batches of each kind.
 *
 *     mpi_calls [BATCHES]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH 1000

static int number;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

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
			double start = now(), time;

			for (int j = 0; j < BATCH; j++)
				kinds[k].call();
			time = (now() - start) / BATCH;
			best = time < best ? time : best;
		}
		printf("%s %.2f\n", kinds[k].name, best);
	}
	MPI_Finalize();
	return 0;
}
