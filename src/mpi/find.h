/*
 * Which of the loaded objects is an MPI: one that has PMPI_Init. Also those that were loaded by dlopen for
 * one library only, as Python does, where dlsym finds nothing.
 */
#ifndef HYB_MPI_FIND_H
#define HYB_MPI_FIND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct mpi_object {
	char path[PATH_MAX];
	uintptr_t start, end; /* addresses from its first segment to behind its last */
};

/*
 * How many MPIs are loaded, and the first two of them, in the order of loading, but the one that has the
 * address `preferred` first. The calling object and the executable are passed over.
 */
unsigned mpi_objects(const void *preferred, struct mpi_object *ret_first, struct mpi_object *ret_second);

bool mpi_object_has(const struct mpi_object *object, const void *address);

/*
 * The function or variable in any loaded object but the calling one and the executable, and its bytes;
 * NULL: in none. The object it is in, if `ret_object` is not NULL.
 */
void *mpi_symbol(const char *name, uint64_t *ret_size, struct mpi_object *ret_object);

#endif
