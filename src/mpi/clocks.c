/*
 * A leader (the lowest rank of a clock domain) exchanges messages with rank 0, one leader after the other,
 * and sends the result to the others of its domain, whose clock is the same. The exchange with the shortest
 * round trip counts: the reading of rank 0 was taken somewhere within it, so that its middle is wrong by half
 * of it at most.
 */
#include "mpi/clocks.h"

#include <string.h>

#define ROUNDS 32

static MPI_Comm domain_comm; /* of the processes with the same clock */
static MPI_Comm leaders; /* rank 0 and a leader of each other domain */
static bool differ; /* the two are there */
static struct hyb_def_clock comparison; /* rounds is 0: the clock is rank 0's own */

static void answer(int leader)
{
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Status status;
		uint64_t now;

		PMPI_Recv(NULL, 0, MPI_BYTE, leader, 0, leaders, &status);
		now = api->mono();
		PMPI_Send(&now, sizeof(now), MPI_BYTE, leader, 0, leaders);
	}
}

static void ask(struct hyb_def_clock *best)
{
	memset(best, 0, sizeof(*best));
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t before = api->mono(), reference, round;
		MPI_Status status;

		PMPI_Send(NULL, 0, MPI_BYTE, 0, 0, leaders);
		PMPI_Recv(&reference, sizeof(reference), MPI_BYTE, 0, 0, leaders, &status);
		round = api->mono() - before;
		if (i && (round + 1) / 2 >= best->error)
			continue;
		best->mono = before + round / 2;
		best->offset = (int64_t)(reference - best->mono);
		best->error = (round + 1) / 2;
	}
	best->rounds = ROUNDS;
}

static void compare(void)
{
	int rank = 0, size = 0;

	if (leaders != MPI_COMM_NULL) {
		PMPI_Comm_rank(leaders, &rank);
		PMPI_Comm_size(leaders, &size);
		for (int i = 1; i < size && !rank; i++)
			answer(i);
		if (rank)
			ask(&comparison);
	}
	PMPI_Bcast(&comparison, sizeof(comparison), MPI_BYTE, 0, domain_comm);
}

void clocks_meet(uint64_t domain)
{
	int color = (int)(domain % 0x7fffffff), rank = 0;

	differ = true;
	PMPI_Comm_split(MPI_COMM_WORLD, color, (int)world.rank, &domain_comm);
	PMPI_Comm_rank(domain_comm, &rank);
	PMPI_Comm_split(MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 0, (int)world.rank, &leaders);
	compare();
}

void clocks_part(void)
{
	if (!differ)
		return;
	compare();
	differ = false;
	PMPI_Comm_free(&domain_comm);
	if (leaders != MPI_COMM_NULL)
		PMPI_Comm_free(&leaders);
}

void clocks_define(void)
{
	if (comparison.rounds)
		api->clock(&comparison);
	comparison.rounds = 0;
}
