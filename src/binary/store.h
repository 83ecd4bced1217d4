/*
 * The small containers of the symbols code: memory with interned strings, a
 * hash map with two-word keys, and a set of address ranges. None is safe for
 * use by two threads at once; all release functions accept a zeroed object.
 */
#ifndef HYB_READER_SYMBOLS_STORE_H
#define HYB_READER_SYMBOLS_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct sym_map_slot {
	uint64_t a, b;
	void *value; /* NULL: free */
};

/* Zeroed is empty. */
struct sym_map {
	struct sym_map_slot *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
};

/* NULL if there is none. */
void *sym_map_get(const struct sym_map *map, uint64_t a, uint64_t b);

/* Sets the value (not NULL) of a key. 0, or HYB_ENOMEM with the map as it was. */
int sym_map_put(struct sym_map *map, uint64_t a, uint64_t b, void *value);

void sym_map_release(struct sym_map *map);

/* Zeroed is empty. What is in it lives until it is released. */
struct sym_store {
	struct arena arena;
	struct sym_map strings;
};

/* The one copy of a string: equal strings have equal pointers. NULL if out of memory. */
const char *sym_store_string(struct sym_store *store, const char *s, size_t len);

void sym_store_release(struct sym_store *store);

struct sym_range {
	uint64_t lo, hi; /* [lo, hi) */
	uint32_t value;
	uint32_t parent; /* the nearest range in front that reaches further than `lo` */
};

/* Zeroed is empty. Ranges may nest and overlap. */
struct sym_ranges {
	struct sym_range *items;
	size_t count;
};

/* 0 or HYB_ENOMEM. */
int sym_ranges_add(struct sym_ranges *ranges, uint64_t lo, uint64_t hi, uint32_t value);

/* To be called once between the last add and the first find. Of equal ranges the highest value wins. */
void sym_ranges_sort(struct sym_ranges *ranges);

/* The range with the highest start that holds the address, or NULL. */
const struct sym_range *sym_ranges_find(const struct sym_ranges *ranges, uint64_t address);

/* The next one outwards that may hold an address of `range`, or NULL: `hi` decides. */
const struct sym_range *sym_ranges_outer(const struct sym_ranges *ranges, const struct sym_range *range);

/* The last range that begins at or in front of the address, or NULL. */
const struct sym_range *sym_ranges_before(const struct sym_ranges *ranges, uint64_t address);

void sym_ranges_release(struct sym_ranges *ranges);

#endif
