/*
 * What the generated wrappers use.
 */
#ifndef HYB_MPI_WRAPPERS_H
#define HYB_MPI_WRAPPERS_H

#include <stdatomic.h>

#include "mpi/collectives.h"
#include "mpi/completion.h"
#include "mpi/handles.h"
#include "mpi/messages.h"
#include "mpi/requests.h"
#include "mpi/spawn.h"
#include "mpi/world.h"

/* A function that MPI's library for Fortran calls for its own sake, too: static, one for each. */
struct fortran_helper {
	const char *name; /* "MPI_Comm_size" */
	atomic_bool known; /* the rest was looked up */
	uintptr_t start[2], size[2]; /* Fortran's function of that name, as mpif.h and as mpi_f08 have it */
};

/* Whether it is called so now, inside of another function that the program called. Not recorded. */
bool fortran_helps(struct fortran_helper *helper, const void *caller);

#endif
