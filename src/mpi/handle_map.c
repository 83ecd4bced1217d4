#include "mpi/handle_map.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#define ARENA ((size_t)256 << 10)
#define SCRATCHES 8

struct arena {
	_Atomic size_t used;
};

static struct arena *_Atomic arena;

static void *map_pages(size_t size)
{
	int before = errno;
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = before;
	return memory == MAP_FAILED ? NULL : memory;
}

void *memory_get(size_t size)
{
	size = (size + 63) & ~(size_t)63;
	if (size > ARENA / 4)
		return map_pages(size);
	for (;;) {
		struct arena *now = atomic_load_explicit(&arena, memory_order_acquire);
		struct arena *fresh;

		if (now) {
			size_t at = atomic_fetch_add_explicit(&now->used, size, memory_order_relaxed);

			if (at + size <= ARENA)
				return (char *)now + at;
		}
		fresh = map_pages(ARENA);
		if (!fresh)
			return NULL;
		fresh->used = 64;
		if (!atomic_compare_exchange_strong(&arena, &now, fresh))
			munmap(fresh, ARENA);
	}
}

struct scratch {
	size_t size;
};

static struct scratch *_Atomic scratches[SCRATCHES];

void *scratch_take(size_t size, size_t *ret_size)
{
	struct scratch *scratch = NULL;

	for (int i = 0; i < SCRATCHES && !scratch; i++)
		if (atomic_load_explicit(&scratches[i], memory_order_relaxed))
			scratch = atomic_exchange(&scratches[i], NULL);
	if (scratch && scratch->size < size) {
		munmap(scratch, scratch->size);
		scratch = NULL;
	}
	if (!scratch) {
		size = (size + 0xffff) & ~(size_t)0xffff;
		scratch = map_pages(size);
		if (!scratch)
			return NULL;
		scratch->size = size;
	}
	*ret_size = scratch->size;
	return scratch;
}

void scratch_give(void *memory, size_t size)
{
	struct scratch *scratch = memory;

	scratch->size = size;
	for (int i = 0; i < SCRATCHES; i++) {
		struct scratch *none = NULL;

		if (atomic_compare_exchange_strong(&scratches[i], &none, scratch))
			return;
	}
	munmap(memory, size);
}

static size_t bucket_size(const struct handle_map *map)
{
	return (64 + HANDLE_WAYS * map->entry + 63) & ~(size_t)63;
}

static handle_slot *first_bucket(const struct handle_map *map, char *buckets, uint64_t key)
{
	return (handle_slot *)(buckets + (key * 0x9e3779b97f4a7c15u >> (64 - map->bits)) * bucket_size(map));
}

/* The eighth word of a bucket is the next one's address. */
static handle_slot *next_bucket(handle_slot *bucket)
{
	return (handle_slot *)(uintptr_t)atomic_load_explicit(&bucket[HANDLE_WAYS], memory_order_acquire);
}

handle_slot *handle_map_find(struct handle_map *map, uint64_t key)
{
	char *buckets = atomic_load_explicit(&map->buckets, memory_order_acquire);

	if (!buckets)
		return NULL;
	for (handle_slot *bucket = first_bucket(map, buckets, key); bucket; bucket = next_bucket(bucket))
		for (unsigned i = 0; i < HANDLE_WAYS; i++)
			if (atomic_load_explicit(&bucket[i], memory_order_acquire) == key)
				return &bucket[i];
	return NULL;
}

static char *get_buckets(struct handle_map *map)
{
	char *buckets = atomic_load_explicit(&map->buckets, memory_order_acquire);
	size_t size = bucket_size(map) << map->bits;
	char *fresh;

	if (buckets)
		return buckets;
	fresh = map_pages(size);
	if (fresh && !atomic_compare_exchange_strong(&map->buckets, &buckets, fresh)) {
		munmap(fresh, size);
		return buckets;
	}
	return fresh;
}

/* Another bucket behind this last one; false: no memory. What a thread that came second has got is unused. */
static bool append_bucket(struct handle_map *map, handle_slot *last)
{
	uint64_t none = 0;
	void *fresh = memory_get(bucket_size(map));

	if (!fresh)
		return false;
	atomic_compare_exchange_strong(&last[HANDLE_WAYS], &none, (uint64_t)(uintptr_t)fresh);
	return true;
}

handle_slot *handle_map_claim(struct handle_map *map, uint64_t key)
{
	char *buckets = get_buckets(map);

	while (buckets) {
		handle_slot *vacant = NULL, *last = NULL;
		uint64_t expected;

		for (handle_slot *bucket = first_bucket(map, buckets, key); bucket;
			bucket = next_bucket(bucket)) {
			last = bucket;
			for (unsigned i = 0; i < HANDLE_WAYS; i++) {
				expected = atomic_load_explicit(&bucket[i], memory_order_acquire);
				if (expected == key &&
					atomic_compare_exchange_strong(&bucket[i], &expected, HANDLE_HELD))
					return &bucket[i];
				if (expected == HANDLE_FREE && !vacant)
					vacant = &bucket[i];
			}
		}
		expected = HANDLE_FREE;
		if (vacant && atomic_compare_exchange_strong(vacant, &expected, HANDLE_HELD))
			return vacant;
		if (!vacant && !append_bucket(map, last))
			return NULL;
	}
	return NULL;
}
