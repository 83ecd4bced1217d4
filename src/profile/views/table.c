#include "profile/views/table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u

static size_t hash_key(const void *key, size_t size)
{
	const unsigned char *p = key;
	uint64_t h = size, word = 0;

	for (; size; size -= size < 8 ? size : 8, p += 8) {
		word = 0;
		memcpy(&word, p, size < 8 ? size : 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h;
}

static void *row_at(const struct table *table, size_t i)
{
	return (char *)table->rows + i * table->row_size;
}

static int grow(struct table *table)
{
	size_t capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY, slot_count = 2 * capacity;
	uint32_t *slots;
	void *rows;

	if (capacity > UINT32_MAX || capacity > SIZE_MAX / 2 / table->row_size)
		return -1;
	rows = realloc(table->rows, capacity * table->row_size);
	if (!rows)
		return -1;
	table->rows = rows;
	slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return -1;
	for (size_t i = 0; i < table->count; i++) {
		size_t s = hash_key(row_at(table, i), table->key_size) & (slot_count - 1);

		while (slots[s])
			s = (s + 1) & (slot_count - 1);
		slots[s] = (uint32_t)i + 1;
	}
	free(table->slots);
	table->slots = slots;
	table->slot_count = slot_count;
	table->capacity = capacity;
	return 0;
}

void *table_row(struct table *table, const void *key)
{
	size_t s;
	void *row;

	if (table->count == table->capacity && grow(table))
		return NULL;
	for (s = hash_key(key, table->key_size) & (table->slot_count - 1); table->slots[s];
		s = (s + 1) & (table->slot_count - 1)) {
		row = row_at(table, table->slots[s] - 1);
		if (!memcmp(row, key, table->key_size))
			return row;
	}
	row = row_at(table, table->count++);
	table->slots[s] = (uint32_t)table->count;
	memset(row, 0, table->row_size);
	return memcpy(row, key, table->key_size);
}

void table_sort(struct table *table, int (*compare)(const void *a, const void *b))
{
	free(table->slots);
	table->slots = NULL;
	table->slot_count = 0;
	if (table->count)
		qsort(table->rows, table->count, table->row_size, compare);
}

void table_release(struct table *table)
{
	free(table->rows);
	free(table->slots);
	table->rows = NULL;
	table->slots = NULL;
	table->count = table->capacity = table->slot_count = 0;
}
