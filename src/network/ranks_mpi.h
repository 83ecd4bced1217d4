/*
 * What a libhybrid-ranks-*.so exports, as `hybrid_ranks`: the few things of MPI by which ranks of
 * hybrid-report pass bytes to each other. One library an MPI, loaded where that MPI's launcher started the
 * ranks, so that hybrid-report itself is linked with none.
 */
#ifndef HYB_RANKS_MPI_H
#define HYB_RANKS_MPI_H

#include <stddef.h>

struct ranks_mpi {
	/* Joins the other ranks; 0, or -1 if MPI does not begin. */
	int (*begin)(int *ret_rank, int *ret_size);
	/* Send and receive any number of bytes. If MPI fails it ends all ranks. A receiver sleeps while it
	 * waits, since other ranks may need the core. */
	void (*send)(int to, const void *data, size_t size);
	/* The data are to be freed by the caller; NULL when memory is out. */
	void *(*receive)(int from, size_t *ret_size);
	void (*end)(void);
};

#endif
