/*
 * A buffer of numbers and texts that one process writes and another of the same version reads. Reading
 * damaged bytes yields zeros and empty texts, and sets `at` to NULL.
 */
#ifndef HYB_BLOB_H
#define HYB_BLOB_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"

/* Zero bytes are an empty, valid one; blob_release() frees it. */
struct blob {
	uint8_t *data;
	size_t size, room;
	bool failed; /* memory was out: what was put since is missing */
};

/* Room for `size` more bytes, or NULL. */
static inline uint8_t *blob_room(struct blob *blob, size_t size)
{
	if (!blob->failed && blob->room - blob->size < size) {
		size_t room = blob->room + blob->room / 2 + size + 256;
		uint8_t *grown = (uint8_t *)realloc(blob->data, room);

		blob->failed = !grown;
		if (grown) {
			blob->data = grown;
			blob->room = room;
		}
	}
	return blob->failed ? NULL : blob->data + blob->size;
}

static inline void blob_put(struct blob *blob, uint64_t number)
{
	uint8_t *p = blob_room(blob, VARINT_MAX);

	if (p)
		blob->size = (size_t)(varint_put(p, number) - blob->data);
}

static inline void blob_put_bytes(struct blob *blob, const void *bytes, size_t size)
{
	uint8_t *p = size ? blob_room(blob, size) : NULL;

	if (p) {
		memcpy(p, bytes, size);
		blob->size += size;
	}
}

static inline void blob_put_text(struct blob *blob, const char *text)
{
	size_t size = strlen(text) + 1;

	blob_put(blob, size);
	blob_put_bytes(blob, text, size);
}

static inline void blob_release(struct blob *blob)
{
	free(blob->data);
	*blob = (struct blob){0};
}

/* Where a reader stands; `at` is NULL from the first damage on. */
struct blob_reader {
	const uint8_t *at, *end;
};

static inline uint64_t blob_get(struct blob_reader *reader)
{
	uint64_t number = 0;

	reader->at = varint_get(reader->at, reader->end, &number);
	return number;
}

/* Reads a count of items. Each takes at least one of the bytes that follow: a larger count is damage. */
static inline size_t blob_get_count(struct blob_reader *reader)
{
	uint64_t count = blob_get(reader);

	if (reader->at && count > (size_t)(reader->end - reader->at))
		reader->at = NULL;
	return reader->at ? (size_t)count : 0;
}

/* Points into the row. */
static inline const char *blob_get_text(struct blob_reader *reader)
{
	size_t size = blob_get_count(reader);
	const char *text = (const char *)reader->at;

	if (!text || !size || text[size - 1]) {
		reader->at = NULL;
		return "";
	}
	reader->at += size;
	return text;
}

#endif
