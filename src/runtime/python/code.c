#include "code.h"

#include <string.h>
#include <sys/mman.h>

#include "runtime/memory.h"
#include "python.h"
#include "runtime/regions.h"
#include "runtime/store.h"

#define ENTRIES 8192u
#define TABLE 65536u /* a power of two */
#define MAX_CODES (TABLE / 2)
#define LINES_MAX (HYB_SEGMENT / 2) /* bytes of a table that is kept */
#define OBJECT_MAX 256u /* bytes of a code object that are looked at */
#define LOCKED 1u /* as an address: the entry is being written */

/*
 * By address, direct-mapped. An address may get another code object when the
 * first one dies: `print` is made of what two of them hardly share.
 */
static struct entry {
	_Atomic(uintptr_t) address; /* written last */
	_Atomic(uint64_t) print, id, region;
} cache[ENTRIES] __attribute__((aligned(HYB_PAGE)));

/* By content, open addressing: a slot is the definition's file offset / 8. */
static struct {
	_Atomic(uint32_t) slot[TABLE];
	_Atomic(uint32_t) count;
} table __attribute__((aligned(HYB_PAGE)));

static uint64_t fingerprint(const struct python_layout *l, uintptr_t code)
{
	uint64_t h = python_word(code, l->code.name) * 0x9e3779b97f4a7c15u;

	h = (h ^ python_word(code, l->code.filename)) * 0x9e3779b97f4a7c15u;
	h = (h ^ python_word(code, l->code.lines)) * 0x9e3779b97f4a7c15u;
	return h ^ *(const uint32_t *)(code + l->code.first_line);
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

/* A compact string object (PEP 393) as UTF-8 with its NUL, cut to the room there is. False: none there. */
static bool read_string(const struct python_layout *l, uintptr_t object, char *to, size_t size)
{
	uint8_t head[80], raw[256];
	uint64_t length;
	uint32_t state;
	unsigned width;
	uintptr_t data;
	size_t used = 0;

	if (!memory_copy(head, object, l->object.string_other))
		return false;
	memcpy(&length, head + l->object.string_length, sizeof(length));
	memcpy(&state, head + l->object.string_state, sizeof(state));
	width = state >> 2 & 7; /* after `interned`, two bits; then compact and ascii */
	if ((width != 1 && width != 2 && width != 4) || !(state >> 5 & 1) || length > UINT32_MAX)
		return false;
	data = object + (state >> 6 & 1 ? l->object.string_ascii : l->object.string_other);
	for (uint64_t at = 0; at < length;) {
		size_t n = sizeof(raw) / width;

		n = n < length - at ? n : (size_t)(length - at);
		if (!memory_copy(raw, data + at * width, n * width))
			return false;
		for (size_t i = 0; i < n; i++) {
			uint32_t c = 0;

			memcpy(&c, raw + i * width, width);
			if (used + 4 >= size) {
				to[used] = '\0';
				return true;
			}
			used += put_utf8(to + used, c ? c : 0xfffd);
		}
		at += n;
	}
	to[used] = '\0';
	return true;
}

/* ---------------------------------------------------------- definitions */

struct lines {
	const uint8_t *bytes;
	uint32_t len;
};

/* The table of lines, where it stands; empty if it cannot be read or is too long. */
static struct lines find_lines(const struct python_layout *l, uintptr_t object)
{
	struct lines lines = {(const uint8_t *)object + l->object.bytes_data, 0};
	uint64_t len = 0;

	if (!memory_copy(&len, object + l->object.bytes_length, sizeof(len)) || len > LINES_MAX)
		return lines;
	for (uint64_t at = 0; at < len; at += HYB_PAGE)
		if (!memory_readable((uintptr_t)lines.bytes + at))
			return lines;
	if (len && !memory_readable((uintptr_t)lines.bytes + len - 1))
		return lines;
	lines.len = (uint32_t)len;
	return lines;
}

static uint64_t define(uint64_t region, const struct python_layout *l, const struct lines *lines)
{
	struct hyb_def_code def = {
		.region = HYB_REGION_ID(region),
		.format = lines->len ? l->lines : HYB_LINES_NONE,
		.len = lines->len,
	};

	return store_define(HYB_DEF_CODE, &def, sizeof(def), (const char *)lines->bytes, lines->len, NULL, 0);
}

/* The definition with this content, made if there is none. 0: no room. */
static uint64_t intern(uint64_t region, const struct python_layout *l, const struct lines *lines)
{
	uint32_t h = (uint32_t)(region / 8 * 0x9e3779b1u);
	uint64_t id = 0;

	for (uint32_t i = 0; i < lines->len; i++)
		h = (h ^ lines->bytes[i]) * 0x01000193u;
	for (;; h++) {
		_Atomic(uint32_t) *slot = &table.slot[h & (TABLE - 1)];
		uint32_t at = atomic_load_explicit(slot, memory_order_acquire);
		const struct hyb_def_code *def;

		if (!at) {
			if (!id && atomic_load(&table.count) < MAX_CODES)
				id = define(region, l, lines);
			if (!id)
				return 0;
			if (atomic_compare_exchange_strong(slot, &at, (uint32_t)(id / 8))) {
				atomic_fetch_add(&table.count, 1);
				return id;
			}
		}
		def = store_at((uint64_t)at * 8);
		if (def->region == HYB_REGION_ID(region) && def->len == lines->len &&
			!memcmp(def + 1, lines->bytes, lines->len))
			return (uint64_t)at * 8;
	}
}

static void remember(struct entry *e, uintptr_t address, uint64_t print, const struct python_code *code)
{
	uintptr_t old = atomic_load(&e->address);

	if (old == LOCKED || !atomic_compare_exchange_strong(&e->address, &old, LOCKED))
		return;
	atomic_store(&e->print, print);
	atomic_store(&e->id, code->id);
	atomic_store(&e->region, code->region);
	atomic_store(&e->address, address);
}

static bool make(
	const struct python_layout *l, uintptr_t address, struct entry *e, struct python_code *ret_code)
{
	char name[HYB_NAME_MAX + 1], file[HYB_NAME_MAX + 1];
	uint8_t copy[OBJECT_MAX];
	uintptr_t object = (uintptr_t)copy;
	struct python_code code;
	struct lines lines;

	if (address % 8 ||
		!memory_copy(copy, address, l->code.size < OBJECT_MAX ? l->code.size : OBJECT_MAX) ||
		python_word(object, l->object.type) != python.code_type)
		return false;
	if (!read_string(l, python_word(object, l->code.qualname ? l->code.qualname : l->code.name), name,
		    sizeof(name)) ||
		!read_string(l, python_word(object, l->code.filename), file, sizeof(file)))
		return false;
	lines = find_lines(l, python_word(object, l->code.lines));
	code.region = region_key(name, strlen(name), file, *(const uint32_t *)(copy + l->code.first_line),
		HYB_REGION_FUNCTION);
	code.id = code.region ? intern(code.region, l, &lines) : 0;
	if (!code.id)
		return false;
	remember(e, address, fingerprint(l, object), &code);
	*ret_code = code;
	return true;
}

bool python_code(uintptr_t address, struct python_code *ret_code)
{
	const struct python_layout *l = python_layout();
	struct entry *e = &cache[(address * 0x9e3779b97f4a7c15u) >> 51];

	if (likely(atomic_load_explicit(&e->address, memory_order_acquire) == address) && address > LOCKED) {
		uint64_t print = atomic_load_explicit(&e->print, memory_order_acquire);

		ret_code->id = atomic_load_explicit(&e->id, memory_order_acquire);
		ret_code->region = atomic_load_explicit(&e->region, memory_order_acquire);
		if (likely(atomic_load_explicit(&e->address, memory_order_relaxed) == address &&
			    fingerprint(l, address) == print))
			return true;
	}
	return make(l, address, e, ret_code);
}

void python_code_reset(void)
{
	madvise(cache, sizeof(cache), MADV_DONTNEED);
	madvise(table.slot, sizeof(table), MADV_DONTNEED);
}
