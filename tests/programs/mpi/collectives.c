/*
 * Collectives whose traffic is known: collectives SCENARIO, 2 ranks or more. Lines of truth have the root
 * (world rank, -1: none) in the place of the peer and no tag. Bytes sent and received are those of the
 * caller's buffers that the operation reads and writes: for each rank that gets or gives a part of its own,
 * that part.
 */
#include "truth.h"

static int in[1024], out[1024];

static void line(const char *function, int root, int sent, int received)
{
	truth("%s collective %d - %d %d", function, root, sent * 4, received * 4);
}

static void rooted(void)
{
	int root = size - 1, here = rank == root;

	MPI_Bcast(in, 10, MPI_INT, root, MPI_COMM_WORLD);
	line("MPI_Bcast", root, here ? 10 : 0, here ? 0 : 10);
	MPI_Reduce(in, out, 6, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	line("MPI_Reduce", 0, 6, rank ? 0 : 6);
	MPI_Reduce(rank ? in : MPI_IN_PLACE, in, 6, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	line("MPI_Reduce", 0, 6, rank ? 0 : 6);
	MPI_Gather(in, 3, MPI_INT, out, 3, MPI_INT, 0, MPI_COMM_WORLD);
	line("MPI_Gather", 0, 3, rank ? 0 : 3 * size);
	MPI_Scatter(in, 2, MPI_INT, out, 2, MPI_INT, 0, MPI_COMM_WORLD);
	line("MPI_Scatter", 0, rank ? 0 : 2 * size, 2);
}

static void all(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	line("MPI_Barrier", -1, 0, 0);
	MPI_Allreduce(in, out, 7, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	line("MPI_Allreduce", -1, 7, 7);
	MPI_Allreduce(MPI_IN_PLACE, out, 7, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	line("MPI_Allreduce", -1, 7, 7);
	MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD);
	line("MPI_Allgather", -1, 2, 2 * size);
	MPI_Alltoall(in, 3, MPI_INT, out, 3, MPI_INT, MPI_COMM_WORLD);
	line("MPI_Alltoall", -1, 3 * size, 3 * size);
	MPI_Reduce_scatter_block(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	line("MPI_Reduce_scatter_block", -1, 2 * size, 2);
	MPI_Scan(in, out, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	line("MPI_Scan", -1, 4, 4);
	MPI_Exscan(in, out, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	line("MPI_Exscan", -1, 4, rank ? 4 : 0);
}

/* Rank i has i + 1 numbers. */
static void vectors(void)
{
	int counts[64], places[64], total = 0;

	for (int i = 0; i < size; i++) {
		counts[i] = i + 1;
		places[i] = total;
		total += counts[i];
	}
	MPI_Gatherv(in, rank + 1, MPI_INT, out, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
	line("MPI_Gatherv", 0, rank + 1, rank ? 0 : total);
	MPI_Scatterv(in, counts, places, MPI_INT, out, rank + 1, MPI_INT, 0, MPI_COMM_WORLD);
	line("MPI_Scatterv", 0, rank ? 0 : total, rank + 1);
	MPI_Allgatherv(in, rank + 1, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
	line("MPI_Allgatherv", -1, rank + 1, total);
	MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	line("MPI_Reduce_scatter", -1, total, rank + 1);
	for (int i = 0; i < size; i++) {
		counts[i] = 2;
		places[i] = 2 * i;
	}
	MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
	line("MPI_Alltoallv", -1, 2 * size, 2 * size);
}

static void nonblocking(void)
{
	MPI_Request requests[3];

	MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
	line("MPI_Ibarrier", -1, 0, 0);
	MPI_Ibcast(in, 5, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
	line("MPI_Ibcast", 0, rank ? 0 : 5, rank ? 5 : 0);
	MPI_Iallreduce(out, out + 100, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
	line("MPI_Iallreduce", -1, 2, 2);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 3; i++)
		truth("* collected");
}

/* On a ring: each has two neighbours (with 2 ranks, one of them twice). */
static void neighbours(void)
{
	MPI_Comm ring;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
	MPI_Neighbor_allgather(in, 3, MPI_INT, out, 3, MPI_INT, ring);
	line("MPI_Neighbor_allgather", -1, 3, 6);
	MPI_Neighbor_alltoall(in, 3, MPI_INT, out, 3, MPI_INT, ring);
	line("MPI_Neighbor_alltoall", -1, 6, 6);
	MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {{"rooted", rooted}, {"all", all}, {"vectors", vectors},
		{"nonblocking", nonblocking}, {"neighbours", neighbours}, {NULL, NULL}};
	int status;

	MPI_Init(&argc, &argv);
	truth_begin();
	status = play(scenarios, argc > 1 ? argv[1] : "");
	MPI_Finalize();
	return status;
}
