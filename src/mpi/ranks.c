#include "mpi/ranks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "mpi/handle_map.h"

#define FEW 512 /* ranks that are translated at a time */
#define LISTS 64

/* A program that splits in a loop gets the same groups over and over. */
struct ranks {
	struct ranks *next;
	uint64_t hash;
	uint32_t size;
	uint32_t world[];
};

static struct ranks *_Atomic lists[LISTS];

uint64_t ranks_hash(const uint32_t *ranks, uint32_t size)
{
	uint64_t hash = size;

	for (uint32_t i = 0; i < size; i++)
		hash = mix(hash, ranks_at(ranks, i));
	return hash;
}

uint64_t ranks_hash_in(MPI_Group other, MPI_Group group, uint32_t size)
{
	int from[FEW], to[FEW];
	uint64_t hash = size;

	for (uint32_t done = 0, n; done < size; done += n) {
		n = size - done < FEW ? size - done : FEW;
		for (uint32_t i = 0; i < n; i++)
			from[i] = (int)(done + i);
		PMPI_Group_translate_ranks(group, (int)n, from, other, to);
		for (uint32_t i = 0; i < n; i++)
			hash = mix(hash, (uint64_t)to[i]);
	}
	return hash;
}

/* False: a rank of the group is not the rank in the world. */
static bool translate(MPI_Group group, uint32_t size, uint32_t *world_ranks)
{
	int from[FEW], to[FEW];
	bool same = true;

	for (uint32_t done = 0; done < size;) {
		uint32_t n = size - done < FEW ? size - done : FEW;

		for (uint32_t i = 0; i < n; i++) {
			from[i] = (int)(done + i);
			to[i] = MPI_UNDEFINED;
		}
		if (world.has_group)
			PMPI_Group_translate_ranks(group, (int)n, from, world.group, to);
		for (uint32_t i = 0; i < n; i++, done++) {
			world_ranks[done] = to[i] >= 0 ? (uint32_t)to[i] : HYB_PEER_FOREIGN | done;
			same &= world_ranks[done] == done;
		}
	}
	return same;
}

static const struct ranks *keep(const uint32_t *world_ranks, uint32_t size)
{
	uint64_t hash = ranks_hash(world_ranks, size);
	struct ranks *_Atomic *list = &lists[hash % LISTS];
	struct ranks *first = atomic_load_explicit(list, memory_order_acquire), *fresh;

	for (const struct ranks *at = first; at; at = at->next)
		if (at->hash == hash && at->size == size &&
			!memcmp(at->world, world_ranks, size * sizeof(*world_ranks)))
			return at;
	fresh = memory_get(sizeof(*fresh) + size * sizeof(*world_ranks));
	if (!fresh)
		return NULL;
	fresh->hash = hash;
	fresh->size = size;
	memcpy(fresh->world, world_ranks, size * sizeof(*world_ranks));
	do {
		fresh->next = first;
	} while (!atomic_compare_exchange_weak(list, &first, fresh));
	return fresh;
}

int ranks_of(MPI_Group group, uint32_t size, const uint32_t **ret_ranks)
{
	const struct ranks *kept = NULL;
	size_t scratch_size;
	struct {
		size_t reserved;
		uint32_t world[];
	} * scratch;
	bool same;

	scratch = scratch_take(sizeof(*scratch) + size * sizeof(uint32_t), &scratch_size);
	if (!scratch)
		return -1;
	same = translate(group, size, scratch->world);
	if (!same)
		kept = keep(scratch->world, size);
	scratch_give(scratch, scratch_size);
	if (!same && !kept)
		return -1;
	*ret_ranks = kept ? kept->world : NULL;
	return 0;
}
