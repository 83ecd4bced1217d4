/*
 * Rows of one size that are found by the bytes at their front: sums by key. Rows
 * stand in the order in which they were made; a caller whose result must not
 * depend on that sorts them in the end.
 */
#ifndef HYB_TABLE_H
#define HYB_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/row_index.h"

/* `rows`, `count` and the sizes may be read. */
struct table {
	void *rows;
	size_t count, capacity;
	size_t row_size;
	size_t key_size; /* bytes at the front of a row, without padding */
	struct row_index index;
};

/* The row whose front is `key`, made with zeros behind it if it is not there; good until the next call.
 * NULL when memory is out. */
void *table_row(struct table *table, const void *key);

/* Sorts, after which rows are not looked up any more. */
void table_sort(struct table *table, int (*compare)(const void *a, const void *b));

void table_release(struct table *table);

#endif
