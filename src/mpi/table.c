#include "mpi/table.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#define ARENA ((size_t)256 << 10)
#define SCRATCHES 8

struct arena {
	_Atomic size_t used;
};

static struct arena *_Atomic arena;

static void *map(size_t size)
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
		return map(size);
	for (;;) {
		struct arena *now = atomic_load_explicit(&arena, memory_order_acquire);
		struct arena *fresh;

		if (now) {
			size_t at = atomic_fetch_add_explicit(&now->used, size, memory_order_relaxed);

			if (at + size <= ARENA)
				return (char *)now + at;
		}
		fresh = map(ARENA);
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
		scratch = map(size);
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

static size_t bucket_size(const struct table *table)
{
	return (64 + TABLE_WAYS * table->entry + 63) & ~(size_t)63;
}

static table_slot *first_bucket(const struct table *table, char *buckets, uint64_t key)
{
	return (table_slot *)(buckets +
			      (key * 0x9e3779b97f4a7c15u >> (64 - table->bits)) * bucket_size(table));
}

/* The eighth word of a bucket is the next one's address. */
static table_slot *next_bucket(table_slot *bucket)
{
	return (table_slot *)(uintptr_t)atomic_load_explicit(&bucket[TABLE_WAYS], memory_order_acquire);
}

table_slot *table_find(struct table *table, uint64_t key)
{
	char *buckets = atomic_load_explicit(&table->buckets, memory_order_acquire);

	if (!buckets)
		return NULL;
	for (table_slot *bucket = first_bucket(table, buckets, key); bucket; bucket = next_bucket(bucket))
		for (unsigned i = 0; i < TABLE_WAYS; i++)
			if (atomic_load_explicit(&bucket[i], memory_order_acquire) == key)
				return &bucket[i];
	return NULL;
}

static char *get_buckets(struct table *table)
{
	char *buckets = atomic_load_explicit(&table->buckets, memory_order_acquire);
	size_t size = bucket_size(table) << table->bits;
	char *fresh;

	if (buckets)
		return buckets;
	fresh = map(size);
	if (fresh && !atomic_compare_exchange_strong(&table->buckets, &buckets, fresh)) {
		munmap(fresh, size);
		return buckets;
	}
	return fresh;
}

/* Another bucket behind this last one; false: no memory. What a thread that came second has got is unused. */
static bool append_bucket(struct table *table, table_slot *last)
{
	uint64_t none = 0;
	void *fresh = memory_get(bucket_size(table));

	if (!fresh)
		return false;
	atomic_compare_exchange_strong(&last[TABLE_WAYS], &none, (uint64_t)(uintptr_t)fresh);
	return true;
}

table_slot *table_claim(struct table *table, uint64_t key)
{
	char *buckets = get_buckets(table);

	while (buckets) {
		table_slot *vacant = NULL, *last = NULL;
		uint64_t expected;

		for (table_slot *bucket = first_bucket(table, buckets, key); bucket;
			bucket = next_bucket(bucket)) {
			last = bucket;
			for (unsigned i = 0; i < TABLE_WAYS; i++) {
				expected = atomic_load_explicit(&bucket[i], memory_order_acquire);
				if (expected == key &&
					atomic_compare_exchange_strong(&bucket[i], &expected, TABLE_HELD))
					return &bucket[i];
				if (expected == TABLE_FREE && !vacant)
					vacant = &bucket[i];
			}
		}
		expected = TABLE_FREE;
		if (vacant && atomic_compare_exchange_strong(vacant, &expected, TABLE_HELD))
			return vacant;
		if (!vacant && !append_bucket(table, last))
			return NULL;
	}
	return NULL;
}
