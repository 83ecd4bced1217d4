/*
 * World ranks of the members of groups.
 */
#ifndef HYB_MPI_RANKS_H
#define HYB_MPI_RANKS_H

#include "mpi/world.h"

/*
 * The world rank of each of the `size` members of the group; HYB_PEER_FOREIGN and the rank in the group, if
 * it is of another world. The same group twice is one array, kept for ever. *ret_ranks is NULL where all
 * ranks are world ranks. -1: no memory.
 */
int ranks_of(MPI_Group group, uint32_t size, const uint32_t **ret_ranks);

static inline uint32_t ranks_at(const uint32_t *ranks, uint32_t rank)
{
	return ranks ? ranks[rank] : rank;
}

/* A hash that depends on all that went into it. */
static inline uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value ^ 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	hash = (hash ^ hash >> 32) * 0xc4ceb9fe1a85ec53u;
	return hash ^ hash >> 29;
}

uint64_t ranks_hash(const uint32_t *ranks, uint32_t size);

/* The same of the members' ranks in another group, which has processes of any world. */
uint64_t ranks_hash_in(MPI_Group other, MPI_Group group, uint32_t size);

#endif
