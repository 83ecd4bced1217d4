/*
 * Hash maps from the handles of MPI to what we know of them, in mapped memory: any number of threads, no
 * lock, nothing of the program's heap. Memory is never given back, and is used again.
 *
 * A bucket is a line of seven keys and the next bucket, then their entries. A key is a slot's owner: whoever
 * has claimed or held a slot has its entry alone. Keys 0 and 1 are the map's own; MPI uses neither as a
 * handle.
 */
#ifndef HYB_MPI_HANDLE_MAP_H
#define HYB_MPI_HANDLE_MAP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define HANDLE_FREE 0u
#define HANDLE_HELD 1u
#define HANDLE_WAYS 7u

typedef _Atomic uint64_t handle_slot;

struct handle_map {
	size_t entry; /* bytes of an entry, a multiple of 8 */
	unsigned bits; /* log2 of the first buckets */
	char *_Atomic buckets;
};

/* NULL: not there. */
handle_slot *handle_map_find(struct handle_map *map, uint64_t key);
/* A held slot for the key: one that has it already, or a free one. To be set by handle_map_set(). NULL: no
 * memory.
 */
handle_slot *handle_map_claim(struct handle_map *map, uint64_t key);

/* Buckets begin at multiples of 64, and so do their entries. */
static inline void *handle_map_entry(const struct handle_map *map, handle_slot *slot)
{
	uintptr_t bucket = (uintptr_t)slot & ~(uintptr_t)63;

	return (char *)bucket + 64 + ((uintptr_t)slot - bucket) / sizeof(*slot) * map->entry;
}

/* Gives the slot a key, or HANDLE_FREE; its entry is for others to see. */
static inline void handle_map_set(handle_slot *slot, uint64_t key)
{
	atomic_store_explicit(slot, key, memory_order_release);
}

/* Zeroed memory at a multiple of 64, for ever; NULL: there is none. Keeps errno. */
void *memory_get(size_t size);

/* Memory for the time of a call, of at least the size; *ret_size is to be given back with it. NULL: none. */
void *scratch_take(size_t size, size_t *ret_size);
void scratch_give(void *scratch, size_t size);

#endif
