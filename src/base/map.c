/* Open addressing, linear probing; removal moves followers back, so that no tombstones remain. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64u

static size_t home(const struct map *map, const struct map_key *key)
{
	uint64_t h = key->a * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32 ^ key->b) * 0xd6e8feb86659fd93u;
	h = (h ^ h >> 32 ^ key->c) * 0x9e3779b97f4a7c15u;
	return (size_t)(h ^ h >> 32) & (map->room - 1);
}

/* The slot of the key, or the free one where it belongs. The map is not empty and never full. */
static size_t find(const struct map *map, const struct map_key *key)
{
	size_t at = home(map, key);

	while (map->slots[at].item && !map_key_equal(&map->slots[at].key, key))
		at = (at + 1) & (map->room - 1);
	return at;
}

void *map_get(const struct map *map, const struct map_key *key)
{
	return map->room ? map->slots[find(map, key)].item : NULL;
}

static bool grow(struct map *map)
{
	struct map larger = {.count = map->count, .room = map->room ? map->room * 2 : FIRST_ROOM};

	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < map->room; i++)
		if (map->slots[i].item)
			larger.slots[find(&larger, &map->slots[i].key)] = map->slots[i];
	free(map->slots);
	*map = larger;
	return true;
}

bool map_put(struct map *map, const struct map_key *key, void *item)
{
	struct map_slot *slot;

	if (map->count >= map->room / 4 * 3 && !grow(map))
		return false;
	slot = &map->slots[find(map, key)];
	map->count += !slot->item;
	*slot = (struct map_slot){*key, item};
	return true;
}

void *map_remove(struct map *map, const struct map_key *key)
{
	size_t mask = map->room - 1, hole, at;
	void *item;

	if (!map->room)
		return NULL;
	hole = find(map, key);
	item = map->slots[hole].item;
	if (!item)
		return NULL;
	map->count--;
	for (at = (hole + 1) & mask; map->slots[at].item; at = (at + 1) & mask) {
		size_t wanted = home(map, &map->slots[at].key);

		/* It may stand in the hole if its home is not behind it. */
		if (((at - wanted) & mask) >= ((at - hole) & mask)) {
			map->slots[hole] = map->slots[at];
			hole = at;
		}
	}
	map->slots[hole].item = NULL;
	return item;
}

void map_release(struct map *map)
{
	free(map->slots);
	*map = (struct map){0};
}
