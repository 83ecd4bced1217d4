/*
 * Protocol buffers, as much as it takes to write them: fields of a message, one behind the other, in a row of
 * bytes. A message inside another one is made in a row of its own. What cannot be put for want of memory
 * shows in blob.failed.
 */
#ifndef HYB_PROTOBUF_H
#define HYB_PROTOBUF_H

#include "base/blob.h"
#include "base/json.h"

enum { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2 };

static inline void protobuf_key(struct blob *to, unsigned field, unsigned type)
{
	blob_put(to, (uint64_t)field << 3 | type);
}

/* uint32, uint64, bool, enum */
static inline void protobuf_number(struct blob *to, unsigned field, uint64_t number)
{
	protobuf_key(to, field, PROTOBUF_VARINT);
	blob_put(to, number);
}

/* int32, int64 */
static inline void protobuf_signed(struct blob *to, unsigned field, int64_t number)
{
	protobuf_number(to, field, (uint64_t)number);
}

static inline void protobuf_fixed64(struct blob *to, unsigned field, uint64_t number)
{
	protobuf_key(to, field, PROTOBUF_FIXED64);
	for (int i = 0; i < 8; i++)
		blob_put_bytes(to, &(uint8_t){(uint8_t)(number >> 8 * i)}, 1);
}

static inline void protobuf_double(struct blob *to, unsigned field, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	protobuf_fixed64(to, field, bits);
}

/* bytes, and a message, of which `bytes` may be a blob's data */
static inline void protobuf_bytes(struct blob *to, unsigned field, const void *bytes, size_t size)
{
	protobuf_key(to, field, PROTOBUF_BYTES);
	blob_put(to, size);
	blob_put_bytes(to, bytes, size);
}

/* A message; the row that it was made in is empty then, to be used again. */
static inline void protobuf_message(struct blob *to, unsigned field, struct blob *message)
{
	protobuf_bytes(to, field, message->data, message->size);
	to->failed |= message->failed;
	message->size = 0;
}

/* string: must be UTF-8 for readers; bytes that are not become U+FFFD. */
static inline void protobuf_text(struct blob *to, unsigned field, const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t size = 0, n;

	for (const char *p = text; *p; p += n ? n : 1) {
		n = utf8_length(p);
		size += n ? n : 3;
	}
	protobuf_key(to, field, PROTOBUF_BYTES);
	blob_put(to, size);
	for (; *text; text += n ? n : 1) {
		n = utf8_length(text);
		blob_put_bytes(to, n ? text : replacement, n ? n : 3);
	}
}

#endif
