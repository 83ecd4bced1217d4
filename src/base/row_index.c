#include "base/row_index.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64u

static void enter(struct row_index *index, struct row_index_slot slot)
{
	size_t at = slot.hash & (index->room - 1);

	while (index->slots[at].row)
		at = (at + 1) & (index->room - 1);
	index->slots[at] = slot;
}

static bool grow(struct row_index *index)
{
	struct row_index larger = {.count = index->count, .room = index->room ? index->room * 2 : FIRST_ROOM};

	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < index->room; i++)
		if (index->slots[i].row)
			enter(&larger, index->slots[i]);
	free(index->slots);
	*index = larger;
	return true;
}

bool row_index_add(struct row_index *index, uint32_t hash, uint32_t row)
{
	if (index->count >= index->room / 3 * 2 && !grow(index))
		return false;
	enter(index, (struct row_index_slot){hash, row + 1});
	index->count++;
	return true;
}

void row_index_clear(struct row_index *index)
{
	if (index->count)
		memset(index->slots, 0, index->room * sizeof(*index->slots));
	index->count = 0;
}

void row_index_release(struct row_index *index)
{
	free(index->slots);
	*index = (struct row_index){0};
}
