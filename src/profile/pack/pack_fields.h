/* Numbers of structures as bytes, by a list of their fields: for what is summed up field by field. */
#ifndef HYB_PACK_FIELDS_H
#define HYB_PACK_FIELDS_H

#include "base/blob.h"

enum field_rule {
	FIELD_SUM = 0,
	FIELD_MOST = 1,
	FIELD_LEAST = 2, /* of those that are not 0 */
	FIELD_BITS = 3, /* of either */
	FIELD_KEY = 4, /* the same in both */
};

struct field {
	uint16_t offset;
	uint8_t size; /* 4 or 8 bytes */
	uint8_t rule; /* enum field_rule */
	uint8_t count; /* of an array */
};

#define FIELD(type_, member_, rule_) \
	{ \
		offsetof(type_, member_), sizeof(((type_ *)0)->member_), rule_, 1 \
	}
#define FIELD_ARRAY(type_, member_, rule_) \
	{ \
		offsetof(type_, member_), sizeof(*((type_ *)0)->member_), rule_, \
			sizeof(((type_ *)0)->member_) / sizeof(*((type_ *)0)->member_) \
	}
#define FIELD_COUNT(fields_) (sizeof(fields_) / sizeof(*(fields_)))

static inline uint64_t field_load(const void *at, size_t size)
{
	return size == 4 ? *(const uint32_t *)at : *(const uint64_t *)at;
}

static inline uint64_t field_join(unsigned rule, uint64_t a, uint64_t b)
{
	switch (rule) {
	case FIELD_MOST:
		return a > b ? a : b;
	case FIELD_LEAST:
		return !a || (b && b < a) ? b : a;
	case FIELD_BITS:
		return a | b;
	case FIELD_KEY:
		return b;
	}
	return a + b;
}

static inline void fields_put(struct blob *to, const void *what, const struct field *fields, size_t count)
{
	for (size_t f = 0; f < count; f++)
		for (size_t i = 0; i < fields[f].count; i++)
			blob_put(to, field_load((const char *)what + fields[f].offset + i * fields[f].size,
					     fields[f].size));
}

/* Into a structure of zeros: exactly what was put. */
static inline void fields_get(struct blob_reader *from, void *what, const struct field *fields, size_t count)
{
	for (size_t f = 0; f < count; f++) {
		for (size_t i = 0; i < fields[f].count; i++) {
			char *at = (char *)what + fields[f].offset + i * fields[f].size;
			uint64_t joined =
				field_join(fields[f].rule, field_load(at, fields[f].size), blob_get(from));

			if (fields[f].size == 4)
				*(uint32_t *)at = (uint32_t)joined;
			else
				*(uint64_t *)at = joined;
		}
	}
}

#endif
