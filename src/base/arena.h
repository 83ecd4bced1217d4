/* Memory that is freed all at once: strings and small arrays that live as long as their owner. */
#ifndef HYB_ARENA_H
#define HYB_ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BLOCK 65536u

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(16) char data[];
};

/* All zero is an empty arena. */
struct arena {
	struct arena_block *blocks;
};

/* `size` zero bytes, aligned to 16; NULL when memory is out. */
static inline void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->blocks;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	if (!block || block->size - block->used < size) {
		size_t room = size > ARENA_BLOCK ? size : ARENA_BLOCK;

		block = calloc(1, sizeof(*block) + room);
		if (!block)
			return NULL;
		block->size = room;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	block->used += size;
	return block->data + block->used - size;
}

/* A NUL-terminated copy of `length` bytes. NULL when memory is out. */
static inline char *arena_string(struct arena *arena, const char *text, size_t length)
{
	char *copy = (char *)arena_alloc(arena, length + 1);

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

static inline void arena_release(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
}

#endif
