/* Pointers under keys of three numbers. */
#ifndef HYB_KEYS_H
#define HYB_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key {
	uint64_t a, b, c;
};

struct slot {
	struct key key;
	void *item; /* NULL: free */
};

/* All zero is an empty one. */
struct keys {
	struct slot *slots;
	size_t count, room; /* room: 0 or a power of two */
};

static inline bool key_equal(const struct key *a, const struct key *b)
{
	return a->a == b->a && a->b == b->b && a->c == b->c;
}

/* The item, or NULL. */
void *keys_get(const struct keys *keys, const struct key *key);

/* Adds the item, or puts it in the place of the one that is there. False: memory is out. */
bool keys_put(struct keys *keys, const struct key *key, void *item);

void keys_remove(struct keys *keys, const struct key *key);

/* Its items are the caller's. */
void keys_release(struct keys *keys);

#endif
