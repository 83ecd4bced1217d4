/*
 * Between libhybrid-mpi.so, which is preloaded and has a stub for every function of MPI (entry.c, stubs.S),
 * and the wrapper libraries, one for each ABI, of which it loads the one that fits: libhybrid-mpi-mpich.so or
 * libhybrid-mpi-openmpi.so beside it. The stub library knows nothing of MPI's types.
 */
#ifndef HYB_MPI_LIBRARY_H
#define HYB_MPI_LIBRARY_H

#include <stdint.h>

#include "mpi/find.h"
#include "runtime/mpi/call.h"

#define HYBRID_MPI_LIBRARY "hybrid_mpi_library_1" /* name of the variable that a wrapper library exports */

struct mpi_wrapper {
	const char *name; /* "MPI_Send" */
	void *code;
};

/* What the stub library knows of the loaded objects. */
struct mpi_finder {
	/* Where MPI has "PMPI_Send", "mpi_attr_get_" or a variable; NULL: nowhere. */
	void *(*real)(const char *name);
	/* mpi_symbol() */
	void *(*symbol)(const char *name, uint64_t *ret_size, struct mpi_object *ret_object);
	struct mpi_object fortran; /* MPI's library for Fortran; empty if there is none */
};

struct mpi_library {
	uint32_t count;
	const struct mpi_wrapper *wrappers; /* sorted by name */
	/* Before the first call of a wrapper; by several threads at a time, with the same arguments. */
	void (*start)(const struct hybrid_mpi *api, const struct mpi_finder *finder);
};

/* Generated with the wrappers: the names of the pointers in struct pmpi, in its order. */
extern const char *const pmpi_names[];
extern const unsigned pmpi_count;

void pmpi_start(const struct hybrid_mpi *runtime, const struct mpi_finder *finder);

#endif
