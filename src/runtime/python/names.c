#include "names.h"

#include <string.h>

#include "code.h"
#include "frames.h"
#include "python.h"
#include "runtime/memory.h"
#include "runtime/probe/regions.h"

#define FRAMES_MOST 100u /* of a thread that are followed: there is another look later */
#define ENTRIES_MOST 64u /* of an object's attributes */
#define FRAME_WORDS 16u
#define STRING_WORDS 48u
#define NAME_MOST 63u /* characters that are looked at */
#define MANAGED_DICT (1u << 4) /* tp_flags, since 3.11 */
#define INLINE_VALUES (1u << 2) /* since 3.13 */
#define WORD sizeof(uintptr_t)

/* Keys, and an array of pointers to their values; 0: these stand beside the keys. */
struct attributes {
	uintptr_t keys, values;
};

static bool read_word(uintptr_t at, uintptr_t *ret)
{
	return at % WORD == 0 && memory_copy(ret, at, sizeof(*ret));
}

/* 0: it is too far away, or the chain is being changed. */
static uintptr_t outermost_frame(const struct python_layout *l)
{
	uintptr_t frame[FRAME_WORDS], at = python_frame(), last = 0;

	for (uint32_t i = 0; at && i < FRAMES_MOST; i++) {
		if (at % WORD || !memory_copy(frame, at, l->frame.size))
			return 0;
		if (!l->frame.owner || ((const char *)frame)[l->frame.owner] != PYTHON_OWNED_BY_C_STACK)
			last = at;
		at = python_word((uintptr_t)frame, l->frame.previous);
	}
	return at ? 0 : last;
}

/* Whether this is the code that threads of the module threading begin with. */
static bool is_bootstrap(uintptr_t code)
{
	uint64_t region = python_code_region(code);
	const char *name, *file, *base;

	if (!region)
		return false;
	name = (const char *)(region_def(region) + 1);
	file = name + region_def(region)->name_len + 1;
	base = strrchr(file, '/');
	return (!strcmp(name, "Thread._bootstrap") || !strcmp(name, "_bootstrap")) && base &&
	       !strcmp(base, "/threading.py");
}

/* The object of the thread; 0: it is none of threading's. */
static uintptr_t thread_object(const struct python_layout *l)
{
	uintptr_t frame = outermost_frame(l), code, object;

	return frame && read_word(frame + l->frame.code, &code) && is_bootstrap(code) &&
			       read_word(frame + l->frame.locals, &object)
		       ? object
		       : 0;
}

static bool read_dict(const struct python_layout *l, uintptr_t dict, struct attributes *ret)
{
	if (!dict || !read_word(dict + l->attribute.keys, &ret->keys) ||
		!read_word(dict + l->attribute.values, &ret->values))
		return false;
	ret->values += ret->values ? l->attribute.value : 0;
	return true;
}

/* Of an object whose values may be in no dict. */
static bool read_managed(
	const struct python_layout *l, uintptr_t object, uintptr_t type, struct attributes *ret)
{
	uintptr_t dict, values = 0, size, flags;

	if (!read_word(object - 3 * WORD, &dict) || !read_word(type + l->attribute.cached_keys, &ret->keys))
		return false;
	if (l->attributes == PYTHON_VALUES_BEFORE) {
		if (!read_word(object - 4 * WORD, &values))
			return false;
	} else if (l->attributes == PYTHON_DICT_BEFORE) {
		values = dict & 1 ? dict + 1 : 0;
	} else if (!dict) {
		if (!read_word(type + l->object.type_size, &size) ||
			!read_word(type + l->attribute.flags, &flags) || !(flags & INLINE_VALUES))
			return false;
		values = object + size;
	}
	ret->values = values + l->attribute.value;
	return values || read_dict(l, dict, ret);
}

static bool read_attributes(const struct python_layout *l, uintptr_t object, struct attributes *ret)
{
	uintptr_t type, flags, offset, dict;

	if (!object || !read_word(object + l->object.type, &type) ||
		!read_word(type + l->attribute.flags, &flags))
		return false;
	if (l->attributes != PYTHON_DICT && flags & MANAGED_DICT)
		return read_managed(l, object, type, ret);
	return read_word(type + l->attribute.dict_offset, &offset) && (intptr_t)offset > 0 &&
	       read_word(object + offset, &dict) && read_dict(l, dict, ret);
}

/* A string object, wherever it is. */
static bool read_string(const struct python_layout *l, uintptr_t object, char *to, size_t size)
{
	uintptr_t copy[STRING_WORDS];
	uint64_t length, bytes;
	uint32_t state;

	if (object % WORD || !memory_copy(copy, object, l->object.string_ascii) ||
		copy[l->object.type / WORD] != python.string_type)
		return false;
	length = copy[l->object.string_length / WORD];
	memcpy(&state, (const char *)copy + l->object.string_state, sizeof(state));
	if (!(state >> 5 & 1)) /* compact: the characters are behind it */
		return false;
	length = length < NAME_MOST ? length : NAME_MOST;
	bytes = (state >> 6 & 1 ? l->object.string_ascii : l->object.string_other) +
		length * (state >> 2 & 7);
	return bytes <= sizeof(copy) && memory_copy(copy, object, bytes) &&
	       python_code_string((uintptr_t)copy, to, size);
}

/* Where the entries of keys begin; 0: they cannot be read. */
static uintptr_t entries_of(const struct python_layout *l, uintptr_t keys, bool *ret_hashed)
{
	uintptr_t size;
	uint8_t bytes = 0, kind = 0;

	if (!l->attribute.index_size) {
		*ret_hashed = true;
		if (!read_word(keys + l->attribute.size, &size) || size > UINT16_MAX + 1u)
			return 0;
		return keys + l->attribute.index +
		       size * (size <= UINT8_MAX           ? 1
				      : size <= UINT16_MAX ? 2
							   : 4);
	}
	if (!memory_copy(&bytes, keys + l->attribute.index_size, 1) || bytes > 20 ||
		!memory_copy(&kind, keys + l->attribute.kind, 1))
		return 0;
	*ret_hashed = !kind;
	return keys + l->attribute.index + ((uintptr_t)1 << bytes);
}

/* Where the pointer to the value of this attribute is; 0: there is none. */
static uintptr_t find_attribute(const struct python_layout *l, const struct attributes *a, const char *name)
{
	bool hashed = false;
	uintptr_t entries = entries_of(l, a->keys, &hashed), count, key;
	size_t step = hashed ? 3 * WORD : 2 * WORD;
	char text[32];

	if (!entries || !read_word(a->keys + l->attribute.count, &count))
		return 0;
	entries += hashed ? WORD : 0;
	for (size_t i = 0; i < count && i < ENTRIES_MOST; i++)
		if (read_word(entries + i * step, &key) && key && read_string(l, key, text, sizeof(text)) &&
			!strcmp(text, name))
			return a->values ? a->values + i * WORD : entries + i * step + WORD;
	return 0;
}

bool python_thread_name(uintptr_t *object, char *to, size_t size)
{
	const struct python_layout *l = python_layout();
	uintptr_t found = l && python.string_type ? thread_object(l) : 0, at, value, again;
	struct attributes attributes;
	char text[64];

	if (!found || (*object && *object != found) || !read_attributes(l, found, &attributes))
		return false;
	at = find_attribute(l, &attributes, "_name");
	/* Another thread may give it another name meanwhile. */
	if (!at || !read_word(at, &value) ||
		!read_string(l, value, text, size < sizeof(text) ? size : sizeof(text)) ||
		!read_word(at, &again) || again != value)
		return false;
	*object = found;
	strcpy(to, text);
	return true;
}
