#include "base/hash.h"
#include "base/map.h"
#include "base/strings.h"
#include "binary/cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "binary/cache_format.h"
#include "binary/debug_info.h"

#define SIZE_LIMIT ((off_t)1 << 30)

struct cache {
	char *data;
	size_t size;
	struct sym_cache_header header;
	const struct sym_cache_entry *entries;
	const struct sym_cache_frame *frames;
	const char *strings;
	const char **interned; /* by offset, as far as they were needed */
};

static int read_whole(int fd, struct cache *cache)
{
	struct stat st;
	size_t done = 0;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > SIZE_LIMIT)
		return HYB_EIO;
	cache->size = (size_t)st.st_size;
	cache->data = malloc(cache->size + 1);
	if (!cache->data)
		return HYB_ENOMEM;
	while (done < cache->size) {
		ssize_t n = pread(fd, cache->data + done, cache->size - done, (off_t)done);

		if (n <= 0)
			return HYB_EIO;
		done += (size_t)n;
	}
	return 0;
}

static uint64_t checksum_of(const struct cache *cache)
{
	struct sym_cache_header header = cache->header;
	uint64_t hash;

	header.checksum = 0;
	hash = hash_bytes(HASH_START, &header, sizeof(header));
	return hash_bytes(hash, cache->data + sizeof(header), cache->size - sizeof(header));
}

/* Whether the parts fill the file exactly. Their sizes are 32 bits, so the sum cannot overflow. */
static int check(struct cache *cache)
{
	struct sym_cache_header *header = &cache->header;
	uint64_t size = sizeof(*header);

	if (cache->size < sizeof(*header))
		return HYB_EFORMAT;
	memcpy(header, cache->data, sizeof(*header));
	if (memcmp(header->magic, SYM_CACHE_MAGIC, sizeof(header->magic)) ||
		header->version != SYM_CACHE_VERSION)
		return HYB_EVERSION;
	cache->entries = (const void *)(cache->data + size);
	size += (uint64_t)header->entries * sizeof(*cache->entries);
	cache->frames = (const void *)(cache->data + size);
	size += (uint64_t)header->frames * sizeof(*cache->frames);
	cache->strings = cache->data + size;
	size += header->strings;
	if (size != cache->size || !header->strings || cache->data[cache->size - 1] ||
		checksum_of(cache) != header->checksum)
		return HYB_EFORMAT;
	return 0;
}

/* NULL: not a string of this file, or out of memory. */
static const char *string_at(struct cache *cache, struct strings *store, uint32_t offset)
{
	if (offset >= cache->header.strings)
		return NULL;
	if (!cache->interned[offset])
		cache->interned[offset] =
			strings_add(store, cache->strings + offset, strlen(cache->strings + offset));
	return cache->interned[offset];
}

static int add_entry(
	struct cache *cache, const struct sym_cache_entry *entry, struct strings *store, struct map *memo)
{
	const struct sym_cache_header *header = &cache->header;
	const char *key = string_at(cache, store, entry->key);
	struct sym_chain *chain;

	if (!key || entry->call > 1 || !entry->count || entry->count > SYM_DEPTH_MAX ||
		entry->first > header->frames || entry->count > header->frames - entry->first)
		return HYB_EFORMAT;
	chain = arena_alloc(&store->arena, sizeof(*chain) + entry->count * sizeof(chain->frames[0]));
	if (!chain)
		return HYB_ENOMEM;
	chain->count = entry->count;
	for (uint32_t i = 0; i < entry->count; i++) {
		const struct sym_cache_frame *from = &cache->frames[entry->first + i];
		struct hyb_frame *to = &chain->frames[i];

		to->function = string_at(cache, store, from->function);
		to->file = string_at(cache, store, from->file);
		to->line = from->line;
		to->function_line = from->function_line;
		to->inlined = from->flags & SYM_CACHE_INLINED;
		to->guess = from->flags & SYM_CACHE_GUESS;
		if (!to->function || !to->file)
			return HYB_EFORMAT;
	}
	return map_put(memo, MAP_KEY(SYM_MEMO_KEY(key, entry->call), entry->address), chain) ? 0 : HYB_ENOMEM;
}

int sym_cache_read(const char *path, struct strings *store, struct map *memo)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct cache cache = {0};
	int r;

	if (fd < 0)
		return HYB_EIO;
	r = read_whole(fd, &cache);
	close(fd);
	if (!r)
		r = check(&cache);
	if (!r) {
		cache.interned = calloc(cache.header.strings, sizeof(*cache.interned));
		r = cache.interned ? 0 : HYB_ENOMEM;
	}
	for (uint32_t i = 0; !r && i < cache.header.entries; i++)
		r = add_entry(&cache, &cache.entries[i], store, memo);
	free(cache.interned);
	free(cache.data);
	return r;
}
