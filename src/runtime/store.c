#include "store.h"

#include <errno.h>

#include "clock.h"
#include "store_file.h"

#define DEFS_CHUNK 16384u

struct store store;

uint64_t store_claim(enum hyb_chunk_kind kind, uint32_t size, uint32_t location, uint64_t serial)
{
	uint64_t offset;
	struct hyb_chunk *chunk;
	int error, saved = errno;

	if (!atomic_load_explicit(&rt.on, memory_order_relaxed))
		return 0;
	error = store_room(size, &offset);
	errno = saved;
	if (error) {
		/* Out of descriptors is a passing state of the program; the rest is for good. */
		if (error != -EMFILE && error != -ENFILE)
			runtime_stop(error == -ENOSPC || error == -EDQUOT ? "no space left for the experiment"
				     : error == -ENOMEM ? "no memory left to map the experiment"
				     : error == -EFBIG  ? "the experiment's file may not grow further"
							: "the experiment's file cannot be opened any more");
		return 0;
	}
	chunk = store_at(offset);
	chunk->kind = (uint16_t)kind;
	chunk->process = store.process;
	chunk->size = size;
	chunk->location = location;
	chunk->serial = serial;
	chunk->used = sizeof(*chunk);
	__atomic_store_n(&chunk->magic, HYB_CHUNK_MAGIC, __ATOMIC_RELEASE);
	return offset;
}

/* Room for `size` bytes in the DEFS chunk in use, or in a new one. Returns the file offset or 0. */
static uint64_t take_def(uint32_t size)
{
	if (size > DEFS_CHUNK - sizeof(struct hyb_chunk)) { /* one of its own */
		uint32_t whole = (size + (uint32_t)sizeof(struct hyb_chunk) + HYB_PAGE - 1) & ~(HYB_PAGE - 1);
		uint64_t at = whole <= HYB_SEGMENT ? store_claim(HYB_CHUNK_DEFS, whole, 0, 0) : 0;

		if (at)
			((struct hyb_chunk *)store_at(at))->used += size;
		return at ? at + sizeof(struct hyb_chunk) : 0;
	}
	for (;;) {
		uint64_t at = atomic_load(&store.defs), next;
		struct hyb_chunk *chunk = at ? store_at(at) : NULL;

		if (chunk) {
			uint64_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);

			while (used + size <= chunk->size)
				if (__atomic_compare_exchange_n(&chunk->used, &used, used + size, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
					return at + used;
		}
		next = store_claim(HYB_CHUNK_DEFS, DEFS_CHUNK, 0, 0);
		if (!next)
			return 0;
		atomic_compare_exchange_strong(&store.defs, &at, next); /* the loser's stays empty */
	}
}

uint64_t store_define(enum hyb_def_type type, const void *head, const char *const *texts)
{
	uint32_t size = def_size(type, head);
	uint64_t at = take_def(size);
	struct hyb_def *def;

	if (!at)
		return 0;
	def = store_at(at);
	/* One store: a reader that finds the magic finds the size. */
	__atomic_store_n((uint64_t *)def, HYB_DEF_MAGIC | (uint64_t)size << 32, __ATOMIC_RELEASE);
	def_put(def, type, head, texts);
	__atomic_store_n(&def->type, (uint16_t)type, __ATOMIC_RELEASE);
	return at;
}

void store_metadata(const char *key, const char *value, size_t length)
{
	struct hyb_def_metadata def = {
		.key_len = (uint16_t)strnlen(key, HYB_NAME_MAX), .value_len = (uint16_t)length};

	store_define(HYB_DEF_METADATA, &def, DEF_WITH(key, value));
}

void store_note(enum hyb_severity severity, const char *text)
{
	struct hyb_def_note note = {
		.tick = clock_tick(), .severity = (uint16_t)severity, .text_len = (uint16_t)strlen(text)};

	store_define(HYB_DEF_NOTE, &note, DEF_WITH(text));
}
