/*
 * The hash map: pointers under keys of three numbers, of which those that are not needed are 0. Rows of an
 * array are found by base/row_index.h. The runtime's tables are its own: handlers read them without a lock.
 */
#ifndef HYB_MAP_H
#define HYB_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_key {
	uint64_t a, b, c;
};

struct map_slot {
	struct map_key key;
	void *item; /* NULL: free */
};

/* All zero is an empty one. */
struct map {
	struct map_slot *slots;
	size_t count, room; /* room: 0 or a power of two */
};

#define MAP_KEY(...) MAP_KEY_OF(__VA_ARGS__, 0, 0, 0)
#define MAP_KEY_OF(a_, b_, c_, ...) (&(struct map_key){a_, b_, c_})

static inline bool map_key_equal(const struct map_key *a, const struct map_key *b)
{
	return a->a == b->a && a->b == b->b && a->c == b->c;
}

/* The item, or NULL. */
void *map_get(const struct map *map, const struct map_key *key);

/* Adds the item, or puts it in the place of the one that is there. False: memory is out. */
bool map_put(struct map *map, const struct map_key *key, void *item);

/* The item, which is the caller's, or NULL. */
void *map_remove(struct map *map, const struct map_key *key);

/* Its items are the caller's. */
void map_release(struct map *map);

#endif
