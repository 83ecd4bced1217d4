/*
 * Messages of many sizes between all pairs, from two call paths, collectives and waiting that is known:
 * traffic [SLEEP]. Line of truth: what from to bytes.
 */
#include "truth.h"

static char data[1 << 16];

static void send_to(int to, int bytes)
{
	MPI_Send(data, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
	truth("send %d %d", to, bytes);
}

static void receive_from(int from, int bytes)
{
	MPI_Recv(data, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	truth("recv %d %d", from, bytes);
}

/* Each to each higher one, sizes by who they are; then back. */
__attribute__((noinline)) static void pairs(void)
{
	for (int from = 0; from < size; from++)
		for (int to = from + 1; to < size; to++)
			for (int i = 0; i < 3; i++) {
				int bytes = (from + 1) * 1000 + to * 10 + i;

				if (rank == from)
					send_to(to, bytes);
				else if (rank == to)
					receive_from(from, bytes);
			}
}

/* Each rank is later than the one before it. */
__attribute__((noinline)) static void solve(long ms)
{
	double before;

	sleep_ms(ms * rank);
	before = now_ns();
	MPI_Barrier(MPI_COMM_WORLD);
	truth("barrier %.0f", now_ns() - before);
	pairs();
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	truth_begin();
	solve(argc > 1 ? atoi(argv[1]) : 20);
	MPI_Finalize();
	return 0;
}
