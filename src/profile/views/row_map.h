/*
 * A hash map whose items are rows of one size; the bytes at the front of a row are its key. Rows
 * stand in the order in which they were made; a caller whose result must not
 * depend on that sorts them in the end.
 */
#ifndef HYB_ROW_MAP_H
#define HYB_ROW_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/row_index.h"

/* `rows`, `count` and the sizes may be read. */
struct row_map {
	void *rows;
	size_t count, capacity;
	size_t row_size;
	size_t key_size; /* bytes at the front of a row, without padding */
	struct row_index index;
};

/* The row whose front is `key`, made with zeros behind it if it is not there; good until the next call.
 * NULL when memory is out. */
void *row_map_row(struct row_map *map, const void *key);

/* The same row's number, from 0 on. */
#define ROW_NONE UINT32_MAX /* memory is out */
uint32_t row_map_number(struct row_map *map, const void *key);

/* Sorts, after which rows are not looked up any more. */
void row_map_sort(struct row_map *map, int (*compare)(const void *a, const void *b));

void row_map_release(struct row_map *map);

#endif
