/* Open addressing, linear probing; removal moves followers back, so that no tombstones remain. */
#include "analysis/model/keys.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_FIRST 64u

static size_t home(const struct keys *keys, const struct key *key)
{
	uint64_t h = key->a * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32 ^ key->b) * 0xd6e8feb86659fd93u;
	h = (h ^ h >> 32 ^ key->c) * 0x9e3779b97f4a7c15u;
	return (size_t)(h ^ h >> 32) & (keys->room - 1);
}

/* The slot of the key, or the free one where it belongs. The keys is not empty and never full. */
static size_t find(const struct keys *keys, const struct key *key)
{
	size_t at = home(keys, key);

	while (keys->slots[at].item && !key_equal(&keys->slots[at].key, key))
		at = (at + 1) & (keys->room - 1);
	return at;
}

void *keys_get(const struct keys *keys, const struct key *key)
{
	return keys->room ? keys->slots[find(keys, key)].item : NULL;
}

static bool grow(struct keys *keys)
{
	struct keys larger = {.count = keys->count, .room = keys->room ? keys->room * 2 : KEYS_FIRST};

	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < keys->room; i++)
		if (keys->slots[i].item)
			larger.slots[find(&larger, &keys->slots[i].key)] = keys->slots[i];
	free(keys->slots);
	*keys = larger;
	return true;
}

bool keys_put(struct keys *keys, const struct key *key, void *item)
{
	struct slot *slot;

	if (keys->count >= keys->room / 4 * 3 && !grow(keys))
		return false;
	slot = &keys->slots[find(keys, key)];
	keys->count += !slot->item;
	*slot = (struct slot){*key, item};
	return true;
}

void keys_remove(struct keys *keys, const struct key *key)
{
	size_t mask = keys->room - 1, hole, at;

	if (!keys->room)
		return;
	hole = find(keys, key);
	if (!keys->slots[hole].item)
		return;
	keys->count--;
	for (at = (hole + 1) & mask; keys->slots[at].item; at = (at + 1) & mask) {
		size_t wanted = home(keys, &keys->slots[at].key);

		/* It may stand in the hole if its home is not behind it. */
		if (((at - wanted) & mask) >= ((at - hole) & mask)) {
			keys->slots[hole] = keys->slots[at];
			hole = at;
		}
	}
	keys->slots[hole].item = NULL;
}

void keys_release(struct keys *keys)
{
	free(keys->slots);
	*keys = (struct keys){0};
}
