#include "binary/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "hybrid/reader.h"

#define NO_PARENT UINT32_MAX

int sym_ranges_add(struct sym_ranges *ranges, uint64_t lo, uint64_t hi, uint32_t value)
{
	/* Parents are 32 bits wide. */
	if (ranges->count >= NO_PARENT || !ARRAY_ROOM(ranges->items, ranges->count))
		return HYB_ENOMEM;
	ranges->items[ranges->count++] = (struct sym_range){.lo = lo, .hi = hi, .value = value};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct sym_range *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	if (x->hi != y->hi)
		return x->hi > y->hi ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

void sym_ranges_sort(struct sym_ranges *ranges)
{
	struct sym_range *items = ranges->items;

	if (ranges->count)
		qsort(items, ranges->count, sizeof(*items), compare);
	for (size_t i = 0; i < ranges->count; i++) {
		uint32_t parent = i ? (uint32_t)i - 1 : NO_PARENT;

		while (parent != NO_PARENT && items[parent].hi <= items[i].lo)
			parent = items[parent].parent;
		items[i].parent = parent;
	}
}

const struct sym_range *sym_ranges_before(const struct sym_ranges *ranges, uint64_t address)
{
	size_t low = SEARCH(i, ranges->count, ranges->items[i].lo <= address);

	return low ? &ranges->items[low - 1] : NULL;
}

const struct sym_range *sym_ranges_outer(const struct sym_ranges *ranges, const struct sym_range *range)
{
	return range->parent == NO_PARENT ? NULL : &ranges->items[range->parent];
}

const struct sym_range *sym_ranges_find(const struct sym_ranges *ranges, uint64_t address)
{
	const struct sym_range *range = sym_ranges_before(ranges, address);

	while (range && range->hi <= address)
		range = sym_ranges_outer(ranges, range);
	return range;
}

void sym_ranges_release(struct sym_ranges *ranges)
{
	free(ranges->items);
	memset(ranges, 0, sizeof(*ranges));
}
