/* Ranges of addresses. Not for two threads at once. */
#ifndef HYB_BINARY_RANGES_H
#define HYB_BINARY_RANGES_H

#include <stddef.h>
#include <stdint.h>

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
