/*
 * Communicators that brought processes of several worlds together. What only the new members make of them,
 * as MPI_Intercomm_create does, has them in common: all members know the places of all in a bridge.
 *
 * Any thread, no lock, no communication.
 */
#ifndef HYB_MPI_BRIDGES_H
#define HYB_MPI_BRIDGES_H

#include "mpi/handles.h"

/* A communicator whose identity all members know; kept if there are other worlds in it, and no bridge has
 * them all. */
void bridge_keep(const struct handle *handle, MPI_Comm comm);

/* The members of a communicator by their places in a bridge. */
struct bridge_places {
	uint64_t bridge; /* its identity */
	uint64_t own, other; /* hashes of the groups' places */
	bool second; /* the other group's first member stands in front */
};

/* False: they are of one world, or no bridge has them all. All members find the same one. */
bool bridge_find(const struct handle *handle, MPI_Comm comm, struct bridge_places *ret);

#endif
