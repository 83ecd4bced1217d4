/*
 * What a program of Go knows of its own functions and lines (.gopclntab, Go 1.18 and later, 64 bits): strip
 * leaves it, for the garbage collector needs it. Inlined functions are part of the function that they are
 * inlined into.
 */
#ifndef HYB_BINARY_GO_TABLE_H
#define HYB_BINARY_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hybrid/reader.h"

/* Zeroed: there is none. */
struct go_table {
	const uint8_t *bytes; /* not owned */
	size_t size;
	uint64_t text; /* address where the code begins */
	uint64_t count; /* functions */
	uint64_t names, units, files, values, functions; /* offsets of the parts */
	bool has_first_lines; /* since Go 1.20 */
};

/* Reads the table's head. False: it is none, or of another version. Nothing in it is trusted. */
bool go_table_init(struct go_table *table, const void *bytes, size_t size);

/*
 * The function that holds an address, with file and line of that; texts are the table's. False: it is not
 * Go's.
 */
bool go_table_find(const struct go_table *table, uint64_t address, struct hyb_frame *ret_frame,
	uint64_t *ret_start, uint64_t *ret_end);

#endif
