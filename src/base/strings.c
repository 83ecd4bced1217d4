#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static const char **find_slot(const char **slots, size_t slot_count, const char *text, size_t length)
{
	size_t i = hash_bytes(HASH_START, text, length) & (slot_count - 1);

	while (slots[i] && (strncmp(slots[i], text, length) || slots[i][length]))
		i = (i + 1) & (slot_count - 1);
	return &slots[i];
}

static int grow(struct strings *strings)
{
	size_t slot_count = strings->slot_count ? strings->slot_count * 2 : 256;
	const char **slots = calloc(slot_count, sizeof(*slots));

	if (!slots)
		return -1;
	for (size_t i = 0; i < strings->slot_count; i++)
		if (strings->slots[i])
			*find_slot(slots, slot_count, strings->slots[i], strlen(strings->slots[i])) =
				strings->slots[i];
	free(strings->slots);
	strings->slots = slots;
	strings->slot_count = slot_count;
	return 0;
}

const char *strings_add(struct strings *strings, const char *text, size_t length)
{
	const char **slot;

	if (strings->count * 2 >= strings->slot_count && grow(strings))
		return NULL;
	slot = find_slot(strings->slots, strings->slot_count, text, length);
	if (!*slot) {
		*slot = arena_string(&strings->arena, text, length);
		strings->count += *slot != NULL;
	}
	return *slot;
}

const char *strings_get(struct strings *strings, const char *text)
{
	return strings_add(strings, text, strlen(text));
}

void strings_release(struct strings *strings)
{
	arena_release(&strings->arena);
	free(strings->slots);
	*strings = (struct strings){0};
}
