#include "regions.h"

#include <sys/mman.h>

#include "runtime/store.h"

#define TABLE_SIZE 131072u /* a power of two */
#define MAX_REGIONS 65535u /* half of it: probing stays short */
#define CUT_MARK 12u /* bytes at the end of a cut name: "...~" and 8 digits */

/* Open addressing; a slot is a region's file offset / 8, written once. */
static struct {
	_Atomic(uint32_t) slot[TABLE_SIZE];
	_Atomic(uint32_t) count;
	_Atomic(uint64_t) overflow; /* key of "(other names)" */
} regions __attribute__((aligned(4096)));

static uint64_t mix(uint64_t h, const char *bytes, size_t len)
{
	for (; len >= 8; bytes += 8, len -= 8) {
		uint64_t word;

		memcpy(&word, bytes, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	for (; len; bytes++, len--)
		h = (h ^ (uint8_t)*bytes) * 0x100000001b3u;
	return h ^ h >> 32;
}

struct region_name {
	const char *text;
	size_t len;
	char cut[HYB_NAME_MAX + 1];
};

/* Names past the limit keep their start and end with a hash of the whole. */
static void name_init(struct region_name *n, const char *name, size_t len)
{
	n->text = name;
	n->len = len;
	if (len <= HYB_NAME_MAX)
		return;

	uint32_t h = (uint32_t)mix(len, name, len);
	char *p = n->cut + HYB_NAME_MAX - CUT_MARK;

	memcpy(n->cut, name, HYB_NAME_MAX - CUT_MARK);
	memcpy(p, "...~", 4);
	for (int i = 0; i < 8; i++)
		p[4 + i] = "0123456789abcdef"[h >> (28 - 4 * i) & 15];
	n->text = n->cut;
	n->len = HYB_NAME_MAX;
}

const struct hyb_def_region *region_def(uint64_t key)
{
	return key >> 48 == rt.epoch ? store_at(HYB_REGION_ID(key)) : NULL;
}

static const char *def_name(const struct hyb_def_region *def)
{
	return (const char *)(def + 1);
}

static bool same(const struct hyb_def_region *def, const struct hyb_def_region *want, const char *name,
	const char *file)
{
	return def->hash == want->hash && def->kind == want->kind && def->line == want->line &&
	       def->name_len == want->name_len && def->file_len == want->file_len &&
	       !memcmp(def_name(def), name, want->name_len) &&
	       !memcmp(def_name(def) + want->name_len + 1, file, want->file_len);
}

static uint64_t define(const struct hyb_def_region *want, const char *name, const char *file)
{
	uint64_t at = store_define(HYB_DEF_REGION, want, DEF_WITH(name, file));

	return at ? at | (uint64_t)rt.epoch << 48 : 0;
}

/* All names after the table was full. */
static uint64_t overflow(void)
{
	static const char name[] = "(other names)";
	struct hyb_def_region want = {.kind = HYB_REGION_OVERFLOW, .name_len = sizeof(name) - 1};
	uint64_t key = atomic_load(&regions.overflow), none = 0;

	__atomic_add_fetch(&store.header->regions_lost, 1, __ATOMIC_RELAXED);
	if (key)
		return key;
	key = define(&want, name, "");
	return atomic_compare_exchange_strong(&regions.overflow, &none, key) ? key : none;
}

uint64_t region_key(const char *name, size_t name_len, const char *file, uint32_t line, uint32_t kind)
{
	struct region_name n;
	size_t file_len = strnlen(file, HYB_NAME_MAX);

	name_init(&n, name, name_len);

	struct hyb_def_region want = {
		.kind = (uint16_t)kind,
		.name_len = (uint16_t)n.len,
		.file_len = (uint16_t)file_len,
		.line = line,
		.hash = (uint32_t)mix(mix(kind ^ (uint64_t)line << 8, n.text, n.len), file, file_len),
	};
	uint64_t key = 0;

	for (uint32_t i = want.hash;; i++) {
		_Atomic(uint32_t) *slot = &regions.slot[i & (TABLE_SIZE - 1)];
		uint32_t at = atomic_load_explicit(slot, memory_order_acquire);

		if (!at) {
			if (!key) {
				if (atomic_load(&regions.count) >= MAX_REGIONS)
					return overflow();
				key = define(&want, n.text, file);
				if (!key)
					return 0;
			}
			if (atomic_compare_exchange_strong(slot, &at, (uint32_t)(HYB_REGION_ID(key) / 8))) {
				atomic_fetch_add(&regions.count, 1);
				if (name_len > HYB_NAME_MAX)
					__atomic_add_fetch(&store.header->names_cut, 1, __ATOMIC_RELAXED);
				return key;
			}
		}
		/* Another thread may have been first with the same region; ours is then unused. */
		if (same(store_at((uint64_t)at * 8), &want, n.text, file))
			return (uint64_t)at * 8 | (uint64_t)rt.epoch << 48;
	}
}

bool region_is(uint64_t key, const char *name, size_t name_len)
{
	const struct hyb_def_region *def = region_def(key);

	if (!def || def->kind == HYB_REGION_OVERFLOW)
		return def;
	if (name_len <= HYB_NAME_MAX)
		return def->name_len == name_len && !memcmp(def_name(def), name, name_len);

	struct region_name n;

	name_init(&n, name, name_len);
	return def->name_len == n.len && !memcmp(def_name(def), n.text, n.len);
}

bool region_is_python(uint64_t key)
{
	const struct hyb_def_region *def = region_def(key);

	return def && def->kind == HYB_REGION_PYTHON;
}

void regions_reset(void)
{
	madvise(regions.slot, sizeof(regions.slot), MADV_DONTNEED);
	atomic_store(&regions.count, 0);
	atomic_store(&regions.overflow, 0);
}
