/*
 * The index: finds rows of an array by the hash of what they are known by. Who has the rows compares them:
 *
 *   for (size_t at = 0; row_index_next(&index, hash, &at, &row);)
 *           if (same(&rows[row], key))
 *                   return row;
 *
 * Open addressing with linear probing. The runtime's tables are its own: handlers read them without a lock.
 */
#ifndef HYB_ROW_INDEX_H
#define HYB_ROW_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_index_slot {
	uint32_t hash, row; /* row + 1; 0: free */
};

/* All zero is an empty one. */
struct row_index {
	struct row_index_slot *slots;
	size_t count, room; /* room: 0 or a power of two */
};

/* The next row with that hash, all bits of which should count; *at is 0 at first. False: there is none. */
static inline bool row_index_next(const struct row_index *index, uint32_t hash, size_t *at, uint32_t *ret_row)
{
	while (index->room) {
		const struct row_index_slot *slot = &index->slots[(hash + (*at)++) & (index->room - 1)];

		if (!slot->row)
			return false;
		if (slot->hash == hash) {
			*ret_row = slot->row - 1;
			return true;
		}
	}
	return false;
}

/* False: memory is out. */
bool row_index_add(struct row_index *index, uint32_t hash, uint32_t row);

/* Leaves its room for other rows. */
void row_index_clear(struct row_index *index);
void row_index_release(struct row_index *index);

#endif
