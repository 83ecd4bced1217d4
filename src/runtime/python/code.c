#include "code.h"

#include <string.h>
#include <sys/mman.h>

#include "lines.h"
#include "python.h"
#include "runtime/memory.h"
#include "runtime/probe/regions.h"
#include "runtime/store.h"

#define CODES 4096u /* powers of two */
#define PLACES 16384u
#define ENDS 32u /* bytes of a table of lines */
#define LOCKED 1u /* as an address: the entry is being written */

/*
 * What was found, direct-mapped. When a code object dies its address may get another
 * one, made of objects at the same addresses, too: `print` is made of what stands in
 * the object, `content` of what is behind it. The address is written last.
 */
struct entry {
	_Atomic(uintptr_t) code;
	_Atomic(uint64_t) print; /* in `places` mixed with the instruction */
	_Atomic(uint64_t) content;
	_Atomic(uint64_t) key;
};
static struct entry codes[CODES] __attribute__((aligned(HYB_PAGE))); /* keys of regions */
static struct entry places[PLACES] __attribute__((aligned(HYB_PAGE))); /* keys of nodes */

static inline uint64_t mix(uint64_t h, uint64_t word)
{
	return (h ^ word) * 0x9e3779b97f4a7c15u;
}

static uintptr_t name_of(const struct python_layout *l, uintptr_t code)
{
	return python_word(code, l->code.qualname ? l->code.qualname : l->code.name);
}

static uint64_t fingerprint(const struct python_layout *l, uintptr_t code)
{
	uint64_t h = mix(python_word(code, l->code.filename), name_of(l, code));

	return mix(h, python_word(code, l->code.lines)) ^ *(const uint32_t *)(code + l->code.first_line);
}

/* Length and hash of a string; names have theirs computed. */
static uint64_t mix_string(const struct python_layout *l, uint64_t h, uintptr_t string)
{
	return mix(mix(h, python_word(string, l->object.string_length)),
		python_word(string, l->object.string_length + sizeof(uint64_t)));
}

/* Of ENDS bytes, by multiplications that do not wait for one another. */
static inline uint64_t mix_words(uintptr_t at)
{
	return python_word(at, 0) * 0x9e3779b97f4a7c15u + python_word(at, 8) * 0xff51afd7ed558ccdu +
	       python_word(at, 16) * 0xc4ceb9fe1a85ec53u + python_word(at, 24) * 0xbf58476d1ce4e5b9u;
}

/* Of a table of lines, which may be long, the length and both ends count. */
static uint64_t content_of(const struct python_layout *l, uintptr_t code)
{
	uintptr_t table = python_word(code, l->code.lines), data = table + l->object.bytes_data;
	uint64_t len = python_word(table, l->object.bytes_length), begin = 1, end = 2;
	uint64_t name = mix_string(l, len, name_of(l, code)),
		 file = mix_string(l, 3, python_word(code, l->code.filename));

	if (likely(len >= ENDS)) {
		begin = mix_words(data);
		end = mix_words(data + len - ENDS);
	} else if (len >= 8) {
		for (uint64_t i = 0; i + 8 <= len; i += 8)
			begin = mix(begin, python_word(data + i, 0));
		end = python_word(data + len - 8, 0);
	} else {
		memcpy(&begin, (const void *)data, len);
	}
	return mix(mix(name, file), mix(begin, end));
}

/* Whether the code object is alive: the allocators write over the first word of what was freed. */
static bool is_alive(uintptr_t code)
{
	uint64_t references = python_word(code, 0);

	return references && references <= UINT32_MAX;
}

/*
 * The key that an entry has for this code object; 0: another one's. Where it was found
 * before there is memory; what a living one refers to is there, too.
 */
static uint64_t known(const struct entry *e, const struct python_layout *l, uintptr_t code, uint32_t salt)
{
	uint64_t print, content, key;

	if (atomic_load_explicit(&e->code, memory_order_acquire) != code || code <= LOCKED)
		return 0;
	print = atomic_load_explicit(&e->print, memory_order_acquire);
	content = atomic_load_explicit(&e->content, memory_order_acquire);
	key = atomic_load_explicit(&e->key, memory_order_acquire);
	if (atomic_load_explicit(&e->code, memory_order_relaxed) != code ||
		fingerprint(l, code) + salt != print || !is_alive(code) || content_of(l, code) != content)
		return 0;
	return key;
}

static void remember(
	struct entry *e, const struct python_layout *l, uintptr_t code, uint32_t salt, uint64_t key)
{
	uintptr_t old = atomic_load(&e->code);

	if (old == LOCKED || !atomic_compare_exchange_strong(&e->code, &old, LOCKED))
		return;
	atomic_store(&e->print, fingerprint(l, code) + salt);
	atomic_store(&e->content, content_of(l, code));
	atomic_store(&e->key, key);
	atomic_store(&e->code, code);
}

static struct entry *code_entry(uintptr_t code)
{
	return &codes[(code * 0x9e3779b97f4a7c15u) >> 32 & (CODES - 1)];
}

static struct entry *place_entry(uintptr_t code, uint32_t instruction)
{
	return &places[((code + instruction) * 0x9e3779b97f4a7c15u) >> 32 & (PLACES - 1)];
}

/* ------------------------------------------------------------- strings */

/* A character as UTF-8. */
static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Where the characters of a string object (PEP 393) are: behind it, or, of a subclass, elsewhere. */
static const uint8_t *characters(const struct python_layout *l, uintptr_t object, uint32_t state)
{
	if (!(state >> 5 & 1)) /* compact */
		return (const uint8_t *)python_word(object, l->object.string_other);
	return (const uint8_t *)object + (state >> 6 & 1 ? l->object.string_ascii : l->object.string_other);
}

bool python_code_string(uintptr_t object, char *to, size_t size)
{
	const struct python_layout *l = python_layout();
	uint64_t length = python_word(object, l->object.string_length);
	uint32_t state = *(const uint32_t *)(object + l->object.string_state);
	unsigned width = state >> 2 & 7; /* after `interned`, two bits; then compact and ascii */
	const uint8_t *from = characters(l, object, state);
	size_t used = 0;

	if ((width != 1 && width != 2 && width != 4) || !from)
		return false;
	for (; length && used + 4 < size; length--, from += width) {
		uint32_t c = 0;

		memcpy(&c, from, width);
		used += put_utf8(to + used, c ? c : 0xfffd);
	}
	to[used] = '\0';
	return true;
}

/* -------------------------------------------------------------- objects */

/* Whether a living code object is at this address. */
static bool is_code(const struct python_layout *l, uintptr_t code)
{
	uint64_t head[4];

	return code % 8 == 0 && memory_copy(head, code, sizeof(head)) &&
	       head[l->object.type / 8] == python.code_type && is_alive(code);
}

bool python_code_exists(uintptr_t code)
{
	return is_code(python_layout(), code);
}

static uint64_t define(const struct python_layout *l, uintptr_t code)
{
	char name[HYB_NAME_MAX + 1], file[HYB_NAME_MAX + 1];
	uint64_t key;

	if (!is_code(l, code) || !python_code_string(name_of(l, code), name, sizeof(name)) ||
		!python_code_string(python_word(code, l->code.filename), file, sizeof(file)))
		return 0;
	key = region_key(
		name, strlen(name), file, *(const uint32_t *)(code + l->code.first_line), HYB_REGION_PYTHON);
	if (key)
		remember(code_entry(code), l, code, 0, key);
	return key;
}

uint64_t python_code_region(uintptr_t code)
{
	const struct python_layout *l = python_layout();
	uint64_t key = known(code_entry(code), l, code, 0);

	return likely(key) ? key : define(l, code);
}

/* Instructions that the compiler made of nothing in the source are on the function's first line. */
static unsigned line_of(const struct python_layout *l, uintptr_t code, uint32_t instruction)
{
	uintptr_t table = python_word(code, l->code.lines);
	unsigned first = *(const uint32_t *)(code + l->code.first_line);
	unsigned line = python_line(l->lines, (const uint8_t *)table + l->object.bytes_data,
		python_word(table, l->object.bytes_length), first, instruction);

	return line ? line : first;
}

uint64_t python_code_line(uintptr_t code, uint32_t instruction)
{
	const struct python_layout *l = python_layout();
	struct entry *e = place_entry(code, instruction);
	uint64_t key = known(e, l, code, instruction), region;
	unsigned line;

	if (likely(key))
		return key;
	region = python_code_region(code);
	if (!region)
		return 0;
	line = line_of(l, code, instruction);
	key = HYB_PYTHON(HYB_REGION_ID(region), line < 0xffffff ? line : 0);
	remember(e, l, code, instruction, key);
	return key;
}

bool python_code_internal(uintptr_t code)
{
	const struct python_layout *l = python_layout();

	return !*(const uint32_t *)(code + l->code.first_line) &&
	       python_word(code, l->code.filename) == python_word(code, l->code.name);
}

void python_code_reset(void)
{
	madvise(codes, sizeof(codes), MADV_DONTNEED);
	madvise(places, sizeof(places), MADV_DONTNEED);
}
