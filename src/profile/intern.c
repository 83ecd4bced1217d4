#include "profile/intern.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return h ^ h >> 29;
}

static const char **find_slot(const char **slots, size_t slot_count, const char *text)
{
	size_t i = hash_text(text) & (slot_count - 1);

	while (slots[i] && strcmp(slots[i], text))
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
			*find_slot(slots, slot_count, strings->slots[i]) = strings->slots[i];
	free(strings->slots);
	strings->slots = slots;
	strings->slot_count = slot_count;
	return 0;
}

const char *strings_get(struct strings *strings, const char *text)
{
	const char **slot;

	if (strings->count * 2 >= strings->slot_count && grow(strings))
		return NULL;
	slot = find_slot(strings->slots, strings->slot_count, text);
	if (!*slot) {
		*slot = arena_string(&strings->arena, text, strlen(text));
		strings->count += *slot != NULL;
	}
	return *slot;
}

void strings_release(struct strings *strings)
{
	arena_release(&strings->arena);
	free(strings->slots);
	*strings = (struct strings){0};
}
