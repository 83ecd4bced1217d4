#include "profile/views/row_map.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u

static uint32_t hash_key(const void *key, size_t size)
{
	const unsigned char *p = key;
	uint64_t h = size, word = 0;

	for (; size; size -= size < 8 ? size : 8, p += 8) {
		word = 0;
		memcpy(&word, p, size < 8 ? size : 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

static void *row_at(const struct row_map *table, size_t i)
{
	return (char *)table->rows + i * table->row_size;
}

static int grow(struct row_map *table)
{
	size_t capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY;
	void *rows;

	if (capacity > UINT32_MAX || capacity > SIZE_MAX / table->row_size)
		return -1;
	rows = realloc(table->rows, capacity * table->row_size);
	if (!rows)
		return -1;
	table->rows = rows;
	table->capacity = capacity;
	return 0;
}

uint32_t row_map_number(struct row_map *table, const void *key)
{
	uint32_t hash = hash_key(key, table->key_size), i;

	for (size_t at = 0; row_index_next(&table->index, hash, &at, &i);)
		if (!memcmp(row_at(table, i), key, table->key_size))
			return i;
	if ((table->count == table->capacity && grow(table)) ||
		!row_index_add(&table->index, hash, (uint32_t)table->count))
		return ROW_NONE;
	memset(row_at(table, table->count), 0, table->row_size);
	memcpy(row_at(table, table->count), key, table->key_size);
	return (uint32_t)table->count++;
}

void *row_map_row(struct row_map *table, const void *key)
{
	uint32_t number = row_map_number(table, key);

	return number == ROW_NONE ? NULL : row_at(table, number);
}

void row_map_sort(struct row_map *table, int (*compare)(const void *a, const void *b))
{
	row_index_release(&table->index);
	if (table->count)
		qsort(table->rows, table->count, table->row_size, compare);
}

void row_map_release(struct row_map *table)
{
	free(table->rows);
	row_index_release(&table->index);
	table->rows = NULL;
	table->count = table->capacity = 0;
}
