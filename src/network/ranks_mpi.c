/* Passing bytes by MPI; built once for each MPI. */
#include "ranks_mpi.h"

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define PIECE (1u << 30) /* MPI counts bytes by int */
#define SLEEP_LEAST_NS 20000
#define SLEEP_MOST_NS 2000000

/* Waits without using the core; MPI_Recv would poll. */
static void wait_for(int from)
{
	struct timespec pause = {.tv_nsec = SLEEP_LEAST_NS};
	int there = 0;

	for (;;) {
		MPI_Iprobe(from, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
		if (there)
			return;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < SLEEP_MOST_NS)
			pause.tv_nsec += pause.tv_nsec / 4;
	}
}

static int begin(int *ret_rank, int *ret_size)
{
	if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
		return -1;
	MPI_Comm_rank(MPI_COMM_WORLD, ret_rank);
	MPI_Comm_size(MPI_COMM_WORLD, ret_size);
	return 0;
}

static void send_bytes(int to, const void *data, size_t size)
{
	uint64_t bytes = size;

	MPI_Send(&bytes, 8, MPI_BYTE, to, 0, MPI_COMM_WORLD);
	for (const char *p = data; size; p += PIECE) {
		int piece = (int)(size < PIECE ? size : PIECE);

		MPI_Send(p, piece, MPI_BYTE, to, 0, MPI_COMM_WORLD);
		size -= (size_t)piece;
	}
}

static void *receive(int from, size_t *ret_size)
{
	uint64_t bytes;
	char *data;

	wait_for(from);
	MPI_Recv(&bytes, 8, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	data = malloc(bytes ? bytes : 1);
	if (!data)
		return NULL;
	for (size_t done = 0; done < bytes;) {
		int piece = (int)(bytes - done < PIECE ? bytes - done : PIECE);

		wait_for(from);
		MPI_Recv(data + done, piece, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		done += (size_t)piece;
	}
	*ret_size = bytes;
	return data;
}

static void end(void)
{
	MPI_Finalize();
}

extern const struct ranks_mpi hybrid_ranks;
__attribute__((visibility("default")))
const struct ranks_mpi hybrid_ranks = {begin, send_bytes, receive, end};
