#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

const char *strings_add(struct strings *strings, const char *text, size_t length)
{
	uint32_t hash = (uint32_t)hash_bytes(HASH_START, text, length), row;
	const char *copy;

	for (size_t at = 0; row_index_next(&strings->index, hash, &at, &row);)
		if (!strncmp(strings->texts[row], text, length) && !strings->texts[row][length])
			return strings->texts[row];
	if (strings->count == UINT32_MAX || !ARRAY_ROOM(strings->texts, strings->count))
		return NULL;
	copy = arena_string(&strings->arena, text, length);
	if (!copy || !row_index_add(&strings->index, hash, (uint32_t)strings->count))
		return NULL;
	return strings->texts[strings->count++] = copy;
}

const char *strings_get(struct strings *strings, const char *text)
{
	return strings_add(strings, text, strlen(text));
}

void strings_release(struct strings *strings)
{
	arena_release(&strings->arena);
	row_index_release(&strings->index);
	free(strings->texts);
	*strings = (struct strings){0};
}
