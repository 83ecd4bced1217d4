#include <stdlib.h>
#include <string.h>

#include "otf2_refs.h"

#include "base/array.h"

/* References count up from 0 as a rule: neighbours in the table, too. */
static uint32_t hash_of(uint64_t ref)
{
	return (uint32_t)(ref ^ ref >> 32);
}

uint32_t refs_find(const struct refs *t, uint64_t ref)
{
	uint32_t i;

	for (size_t at = 0; row_index_next(&t->index, hash_of(ref), &at, &i);)
		if (t->refs[i] == ref)
			return i;
	return REF_NONE;
}

void *refs_at(const struct refs *t, uint32_t index)
{
	return index < t->count ? t->items + (size_t)index * t->item : NULL;
}

void *refs_add(struct refs *t, uint64_t ref, size_t item)
{
	void *there = refs_get(t, ref);

	if (there)
		return there;
	if (t->count >= UINT32_MAX / 4 || !array_room(&t->items, t->count, item) ||
		!ARRAY_ROOM(t->refs, t->count) || !row_index_add(&t->index, hash_of(ref), (uint32_t)t->count))
		return NULL;
	t->item = item;
	t->refs[t->count] = ref;
	return memset(t->items + t->count++ * item, 0, item);
}

void refs_release(struct refs *t)
{
	free(t->items);
	free(t->refs);
	row_index_release(&t->index);
	*t = (struct refs){0};
}
