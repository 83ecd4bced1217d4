#include "format/def.h"

#include <string.h>

#include "format/file.h"

#define KIND(type_, ...) [HYB_DEF_##type_] = {.size = __VA_ARGS__}
#define TEXT(def_, name_, length_) \
	{ \
		name_, offsetof(struct hyb_def_##def_, length_) \
	}

/* clang-format off */
static const struct def_kind kinds[] = {
	KIND(REGION, sizeof(struct hyb_def_region), .texts = {TEXT(region, "name", name_len), TEXT(region, "file", file_len)}),
	KIND(MODULE, sizeof(struct hyb_def_module), .texts = {TEXT(module, "path", path_len)}),
	KIND(MAP, sizeof(struct hyb_def_map)),
	KIND(METADATA, sizeof(struct hyb_def_metadata), .texts = {TEXT(metadata, "key", key_len), TEXT(metadata, "value", value_len)}),
	KIND(NOTE, sizeof(struct hyb_def_note), .texts = {TEXT(note, "text", text_len)}),
	KIND(COUNTER, sizeof(struct hyb_def_counter), .texts = {TEXT(counter, "name", name_len), TEXT(counter, "unit", unit_len)}),
	KIND(TEXT, sizeof(struct hyb_def_text), .texts = {TEXT(text, "text", len)}),
	KIND(CHILD, sizeof(struct hyb_def_child), .texts = {TEXT(child, "path", path_len)}),
	KIND(PAD, sizeof(struct hyb_def)),
	KIND(WORLD, sizeof(struct hyb_def_world)),
	KIND(HANDLE, sizeof(struct hyb_def_handle), .texts = {TEXT(handle, "name", name_len)}),
	KIND(HANDLE_NAME, sizeof(struct hyb_def_handle_name), .texts = {TEXT(handle_name, "name", name_len)}),
	KIND(CLOCK, sizeof(struct hyb_def_clock)),
	KIND(METRIC, sizeof(struct hyb_def_metric),
		.texts = {TEXT(metric, "name", name_len), TEXT(metric, "unit", unit_len), TEXT(metric, "text", text_len)}),
	KIND(ENDED, sizeof(struct hyb_def_ended)),
	KIND(PROGRAM, sizeof(struct hyb_def_program), .texts = {TEXT(program, "path", path_len)}),
};
/* clang-format on */

const struct def_kind *def_kind(unsigned type)
{
	return type < sizeof(kinds) / sizeof(*kinds) && kinds[type].size ? &kinds[type] : NULL;
}

static uint16_t length_at(const void *head, size_t offset)
{
	uint16_t length;

	memcpy(&length, (const char *)head + offset, sizeof(length));
	return length;
}

uint32_t def_size(enum hyb_def_type type, const void *head)
{
	const struct def_kind *kind = &kinds[type];
	uint32_t size = kind->size;

	for (unsigned i = 0; i < DEF_TEXTS && kind->texts[i].name; i++)
		size += length_at(head, kind->texts[i].length) + 1u;
	return (size + 7) & ~7u;
}

void def_put(struct hyb_def *to, enum hyb_def_type type, const void *head, const char *const *texts)
{
	const struct def_kind *kind = &kinds[type];
	char *at = (char *)to + kind->size;

	memcpy(to + 1, (const struct hyb_def *)head + 1, kind->size - sizeof(*to));
	for (unsigned i = 0; i < DEF_TEXTS && kind->texts[i].name; i++) {
		uint16_t length = length_at(head, kind->texts[i].length);

		if (length)
			memcpy(at, texts[i], length);
		at += length + 1u;
	}
}

bool def_texts(const struct hyb_def *def, const char *ret_texts[DEF_TEXTS])
{
	const struct def_kind *kind = &kinds[def->type];
	size_t at = kind->size;

	if (def->size < at)
		return false;
	for (unsigned i = 0; i < DEF_TEXTS && kind->texts[i].name; i++) {
		size_t end = at + length_at(def, kind->texts[i].length);

		if (end >= def->size || ((const char *)def)[end])
			return false;
		ret_texts[i] = (const char *)def + at;
		at = end + 1;
	}
	return true;
}

void def_cursor_init(struct def_cursor *defs, const void *data, size_t length)
{
	*defs = (struct def_cursor){.data = data, .length = length, .pos = sizeof(struct hyb_chunk)};
}

const struct hyb_def *def_cursor_next(struct def_cursor *defs)
{
	while (defs->pos + sizeof(struct hyb_def) <= defs->length) {
		const struct hyb_def *def = (const struct hyb_def *)(defs->data + defs->pos);

		if (def->magic != HYB_DEF_MAGIC || def->size < sizeof(*def) || def->size % 8 ||
			def->size > defs->length - defs->pos) {
			/* A size may have been written without its magic. */
			if (def->magic || def->type)
				defs->garbage += 8;
			defs->pos += 8;
			continue;
		}
		defs->pos += def->size;
		if (def->type)
			return def;
	}
	return NULL;
}
