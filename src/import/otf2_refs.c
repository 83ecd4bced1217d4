#include <stdlib.h>
#include <string.h>

#include "otf2_refs.h"

#include "base/array.h"

/* References count up from 0 as a rule: neighbours in the table, too. */
static size_t slot_of(const struct refs *t, uint64_t ref)
{
	return (size_t)(ref ^ ref >> 32) & t->mask;
}

uint32_t refs_find(const struct refs *t, uint64_t ref)
{
	if (!t->count)
		return REF_NONE;
	for (size_t i = slot_of(t, ref);; i = (i + 1) & t->mask) {
		uint32_t slot = t->slots[i];

		if (!slot)
			return REF_NONE;
		if (t->refs[slot - 1] == ref)
			return slot - 1;
	}
}

void *refs_at(const struct refs *t, uint32_t index)
{
	return index < t->count ? t->items + (size_t)index * t->item : NULL;
}

static void enter(struct refs *t, uint64_t ref, uint32_t index)
{
	size_t i = slot_of(t, ref);

	while (t->slots[i])
		i = (i + 1) & t->mask;
	t->slots[i] = index + 1;
}

/* Twice as many slots as items, at least. */
static bool grow(struct refs *t)
{
	size_t size = t->mask ? (t->mask + 1) * 2 : 64;
	uint32_t *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->mask = size - 1;
	for (size_t i = 0; i < t->count; i++)
		enter(t, t->refs[i], (uint32_t)i);
	return true;
}

void *refs_add(struct refs *t, uint64_t ref, size_t item)
{
	void *there = refs_get(t, ref);

	if (there)
		return there;
	if (t->count >= UINT32_MAX / 4 || ((t->count + 1) * 2 > t->mask && !grow(t)) ||
		!array_room(&t->items, t->count, item) || !ARRAY_ROOM(t->refs, t->count))
		return NULL;
	t->item = item;
	t->refs[t->count] = ref;
	enter(t, ref, (uint32_t)t->count);
	return memset(t->items + t->count++ * item, 0, item);
}

void refs_release(struct refs *t)
{
	free(t->items);
	free(t->refs);
	free(t->slots);
	*t = (struct refs){0};
}

/* ----------------------------------------------------------------- numbers */

#define PLACES_FIRST 64u

static size_t place_of(const struct numbers *n, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & n->mask;
}

static bool numbers_grow(struct numbers *n)
{
	struct numbers grown = {.mask = n->places ? n->mask * 2 + 1 : PLACES_FIRST - 1};

	grown.places = calloc(grown.mask + 1, sizeof(*grown.places));
	if (!grown.places)
		return false;
	for (size_t i = 0; n->places && i <= n->mask; i++)
		if (n->places[i].value)
			numbers_put(&grown, n->places[i].key, n->places[i].value);
	free(n->places);
	*n = grown;
	return true;
}

uint64_t numbers_get(const struct numbers *n, uint64_t key)
{
	if (!n->count)
		return 0;
	for (size_t i = place_of(n, key); n->places[i].value; i = (i + 1) & n->mask)
		if (n->places[i].key == key)
			return n->places[i].value;
	return 0;
}

bool numbers_put(struct numbers *n, uint64_t key, uint64_t value)
{
	size_t i;

	if ((n->count + 1) * 2 > n->mask && !numbers_grow(n))
		return false;
	for (i = place_of(n, key); n->places[i].value && n->places[i].key != key;)
		i = (i + 1) & n->mask;
	n->count += !n->places[i].value;
	n->places[i].key = key;
	n->places[i].value = value;
	return true;
}

uint64_t numbers_take(struct numbers *n, uint64_t key)
{
	uint64_t value = numbers_get(n, key);
	size_t hole, i;

	if (!value)
		return 0;
	for (hole = place_of(n, key); n->places[hole].key != key || !n->places[hole].value;)
		hole = (hole + 1) & n->mask;
	/* What stands behind it moves up, if its own place is not behind the hole. */
	for (i = (hole + 1) & n->mask; n->places[i].value; i = (i + 1) & n->mask) {
		size_t own = place_of(n, n->places[i].key);

		if (((i - own) & n->mask) < ((i - hole) & n->mask))
			continue;
		n->places[hole] = n->places[i];
		hole = i;
	}
	n->places[hole].value = 0;
	n->count--;
	return value;
}

void numbers_release(struct numbers *n)
{
	free(n->places);
	*n = (struct numbers){0};
}
