/*
 * What a profile keeps of MPI beside the tree: ranks, functions, and what was communicated. All of
 * it are sums by key, so that two of them are merged row by row.
 */
#ifndef HYB_PROFILE_MPI_H
#define HYB_PROFILE_MPI_H

#include "base/strings.h"
#include "profile/views/spread.h"
#include "profile/views/row_map.h"

/* What the rank that is being added spent in a function; by row of `functions`. */
struct mpi_now {
	uint64_t calls, time;
};

struct mpi {
	struct row_map functions; /* struct profile_function */
	struct row_map ranks; /* struct profile_rank */
	struct row_map flows; /* struct profile_flow */
	struct row_map volumes; /* struct profile_volume */
	struct row_map handles; /* struct profile_handle */
	struct spreads spreads; /* by node of the tree as it grew, if wanted */
	struct mpi_now *now;
	size_t now_count;
};

void mpi_init(struct mpi *mpi);
void mpi_release(struct mpi *mpi);

/* Functions and messages of a location. 0 or HYB_ENOMEM. */
int mpi_add_location(struct mpi *mpi, struct strings *strings, const struct hyb_location_info *location,
	uint64_t blocked, bool traffic);

/* All locations of a process were added; `selected`: any at all. 0 or HYB_ENOMEM. */
int mpi_add_process(struct mpi *mpi, struct strings *strings, const struct hyb_process *process,
	const struct tree *tree, bool selected);

/* Puts all in an order that does not depend on what was added first. */
void mpi_finish(struct mpi *mpi);

/* Which of two names holds does not depend on which came first. *name: interned, NULL while there is none. */
int mpi_choose_name(struct strings *strings, const char **name, const char *other);

#endif
