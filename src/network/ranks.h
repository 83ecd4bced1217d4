/*
 * The ranks of hybrid-report under a launcher of MPI programs: who takes part, and passing bytes among them.
 * Rank 0 speaks for all.
 */
#ifndef HYB_RANKS_H
#define HYB_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/blob.h"

struct ranks_mpi;

/* All zero: one process, started by no launcher. */
struct ranks {
	int rank, size;
	bool idle; /* the others cannot be reached, and this one is not rank 0: it has nothing to do */
	const struct ranks_mpi *mpi; /* NULL: works alone */
};

/*
 * Sees from the environment whether a launcher started this process with others, without calling MPI;
 * `mpi` stays NULL.
 */
void ranks_find(struct ranks *ret);

/*
 * Joins the others that ranks_find() found, if the library for their MPI is there; else rank 0 works alone,
 * and prints a line about it on stderr.
 */
void ranks_begin(struct ranks *ranks);

/* Rank 0 works alone; nothing is printed. */
void ranks_alone(struct ranks *ranks);

void ranks_send(const struct ranks *ranks, int to, const struct blob *blob);

/* To be released by the caller; `failed` when memory is out. */
struct blob ranks_receive(const struct ranks *ranks, int from);

/*
 * A reduction over a binary tree of ranks: calls take() with the bytes of each child, in the order of the
 * ranks, then give(), whose bytes go to the parent. On rank 0 give() is not called.
 */
void ranks_gather(const struct ranks *ranks, void (*take)(void *data, const struct blob *from),
	void (*give)(void *data, struct blob *to), void *data);

/* An all-gather: each rank gets the bytes of all ranks, in the order of the ranks. Ends the process if memory
 * is out. */
void ranks_exchange(const struct ranks *ranks, struct blob *blob);

/* Leaves MPI, if it was begun. */
void ranks_end(const struct ranks *ranks);

#endif
