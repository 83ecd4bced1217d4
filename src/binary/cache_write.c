#include "base/hash.h"
#include "base/map.h"
#include "binary/cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binary/cache_format.h"

struct item {
	const char *key;
	uint64_t address;
	uint32_t call;
	const struct sym_chain *chain;
};

struct image {
	struct item *items;
	size_t count, frame_count;
	struct sym_cache_header header;
	struct sym_cache_entry *entries;
	struct sym_cache_frame *frames;
	FILE *strings; /* to `text` */
	char *text;
	size_t text_size;
	size_t text_used;
	struct map offsets; /* interned string -> its offset + 1 */
};

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int r = strcmp(x->key, y->key);

	if (r)
		return r;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (int)x->call - (int)y->call;
}

static int collect(struct image *image, const struct map *memo)
{
	image->items = calloc(memo->count + 1, sizeof(*image->items));
	if (!image->items)
		return HYB_ENOMEM;
	for (size_t i = 0; i < memo->room; i++) {
		const struct map_slot *slot = &memo->slots[i];
		const char *key = (const char *)(uintptr_t)(slot->key.a & ~(uint64_t)1);

		if (!slot->item || *key == '?')
			continue;
		image->items[image->count++] =
			(struct item){key, slot->key.b, (uint32_t)(slot->key.a & 1), slot->item};
		image->frame_count += ((const struct sym_chain *)slot->item)->count;
	}
	qsort(image->items, image->count, sizeof(*image->items), compare);
	image->entries = calloc(image->count + 1, sizeof(*image->entries));
	image->frames = calloc(image->frame_count + 1, sizeof(*image->frames));
	return image->entries && image->frames && image->frame_count < UINT32_MAX ? 0 : HYB_ENOMEM;
}

static int put_string(struct image *image, const char *s, uint32_t *ret_offset)
{
	uintptr_t offset = (uintptr_t)map_get(&image->offsets, MAP_KEY((uintptr_t)s));
	size_t size = strlen(s) + 1;

	if (!offset) {
		offset = image->text_used + 1;
		if (image->text_used + size > UINT32_MAX || fwrite(s, 1, size, image->strings) != size ||
			!map_put(&image->offsets, MAP_KEY((uintptr_t)s), (void *)offset))
			return HYB_ENOMEM;
		image->text_used += size;
	}
	*ret_offset = (uint32_t)(offset - 1);
	return 0;
}

static int put_frame(struct image *image, const struct hyb_frame *from)
{
	struct sym_cache_frame *to = &image->frames[image->header.frames++];
	int r = put_string(image, from->function, &to->function);

	to->line = from->line;
	to->function_line = from->function_line;
	to->flags = (from->inlined ? SYM_CACHE_INLINED : 0) | (from->guess ? SYM_CACHE_GUESS : 0);
	return r ? r : put_string(image, from->file, &to->file);
}

static int put_item(struct image *image, const struct item *item)
{
	struct sym_cache_entry *entry = &image->entries[image->header.entries++];
	int r = put_string(image, item->key, &entry->key);

	entry->address = item->address;
	entry->call = item->call;
	entry->first = image->header.frames;
	entry->count = item->chain->count;
	for (uint32_t i = 0; !r && i < item->chain->count; i++)
		r = put_frame(image, &item->chain->frames[i]);
	return r;
}

static int encode(struct image *image, const struct map *memo)
{
	int r = collect(image, memo);

	image->strings = r ? NULL : open_memstream(&image->text, &image->text_size);
	if (!image->strings)
		return HYB_ENOMEM;
	for (size_t i = 0; !r && i < image->count; i++)
		r = put_item(image, &image->items[i]);
	if (fclose(image->strings) != 0)
		r = HYB_ENOMEM;
	memcpy(image->header.magic, SYM_CACHE_MAGIC, sizeof(image->header.magic));
	image->header.version = SYM_CACHE_VERSION;
	image->header.strings = (uint32_t)image->text_used;
	return r;
}

static int write_to(struct image *image, int fd)
{
	struct sym_cache_header *header = &image->header;
	const struct {
		const void *data;
		size_t size;
	} parts[] = {
		{header, sizeof(*header)},
		{image->entries, image->count * sizeof(*image->entries)},
		{image->frames, image->frame_count * sizeof(*image->frames)},
		{image->text, image->text_used},
	};
	FILE *file = fdopen(fd, "w");
	uint64_t sum = HASH_START;
	bool ok = true;

	if (!file) {
		close(fd);
		return HYB_EIO;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		sum = hash_bytes(sum, parts[i].data, parts[i].size);
	header->checksum = sum;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ok = ok && fwrite(parts[i].data, 1, parts[i].size, file) == parts[i].size;
	return fclose(file) == 0 && ok ? 0 : HYB_EIO;
}

/* By a file beside it and a rename: a reader sees the old cache or the new one. */
static int replace(const char *path, struct image *image)
{
	char *temporary = NULL, host[65] = "";
	int fd, r;

	gethostname(host, sizeof(host) - 1);
	if (asprintf(&temporary, "%s.%s.%ld.tmp", path, host, (long)getpid()) < 0)
		return HYB_ENOMEM;
	/* One of that name is what a process of the same number left when it was killed. */
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	r = fd < 0 ? HYB_EIO : write_to(image, fd);
	if (!r && rename(temporary, path) < 0)
		r = HYB_EIO;
	if (r && fd >= 0)
		unlink(temporary);
	free(temporary);
	return r;
}

int sym_cache_write(const char *path, const struct map *memo)
{
	struct image image = {0};
	int r = encode(&image, memo);

	if (!r && image.count)
		r = replace(path, &image);
	map_release(&image.offsets);
	free(image.items);
	free(image.entries);
	free(image.frames);
	free(image.text);
	return r;
}
