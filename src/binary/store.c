#include "binary/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "hybrid/reader.h"

#define NO_PARENT UINT32_MAX

struct string {
	struct string *next; /* of the same hash and length */
	char text[];
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;

	h ^= h >> 32;
	h *= 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 29;
}

/* The slot of the key, or the free slot where it belongs. */
static struct sym_map_slot *find_slot(struct sym_map_slot *slots, size_t capacity, uint64_t a, uint64_t b)
{
	size_t i = mix(a, b) & (capacity - 1);

	while (slots[i].value && (slots[i].a != a || slots[i].b != b))
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

void *sym_map_get(const struct sym_map *map, uint64_t a, uint64_t b)
{
	return map->capacity ? find_slot(map->slots, map->capacity, a, b)->value : NULL;
}

static int grow(struct sym_map *map)
{
	size_t capacity = map->capacity ? map->capacity * 2 : 64;
	struct sym_map_slot *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return HYB_ENOMEM;
	for (size_t i = 0; i < map->capacity; i++) {
		struct sym_map_slot *old = &map->slots[i];

		if (old->value)
			*find_slot(slots, capacity, old->a, old->b) = *old;
	}
	free(map->slots);
	map->slots = slots;
	map->capacity = capacity;
	return 0;
}

int sym_map_put(struct sym_map *map, uint64_t a, uint64_t b, void *value)
{
	struct sym_map_slot *slot;

	if (map->count * 4 >= map->capacity * 3 && grow(map) < 0)
		return HYB_ENOMEM;
	slot = find_slot(map->slots, map->capacity, a, b);
	if (!slot->value)
		map->count++;
	*slot = (struct sym_map_slot){.a = a, .b = b, .value = value};
	return 0;
}

void sym_map_release(struct sym_map *map)
{
	free(map->slots);
	memset(map, 0, sizeof(*map));
}

static uint64_t hash_string(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
	return h;
}

const char *sym_store_string(struct sym_store *store, const char *s, size_t len)
{
	uint64_t hash = hash_string(s, len);
	struct string *first = sym_map_get(&store->strings, hash, len);
	struct string *string;

	for (string = first; string; string = string->next)
		if (!memcmp(string->text, s, len))
			return string->text;
	string = arena_alloc(&store->arena, sizeof(*string) + len + 1);
	if (!string)
		return NULL;
	memcpy(string->text, s, len);
	string->next = first;
	return sym_map_put(&store->strings, hash, len, string) < 0 ? NULL : string->text;
}

void sym_store_release(struct sym_store *store)
{
	arena_release(&store->arena);
	sym_map_release(&store->strings);
}

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
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].lo <= address)
			low = middle + 1;
		else
			high = middle;
	}
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
