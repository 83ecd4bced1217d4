/* Numbers as DWARF stores them. async-signal-safe */
#ifndef HYB_CFI_READ_H
#define HYB_CFI_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes that are still to be read; `failed` is set by a read past the end. */
struct reader {
	const uint8_t *p, *end;
	bool failed;
	uintptr_t moved; /* where they were before they were copied, minus where they are */
};

static inline uint64_t take(struct reader *r, unsigned size)
{
	uint64_t v = 0;

	if ((size_t)(r->end - r->p) < size) {
		r->failed = true;
		r->p = r->end;
		return 0;
	}
	memcpy(&v, r->p, size);
	r->p += size;
	return v;
}

static inline uint64_t uleb(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t b = (uint8_t)take(r, 1);

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
}

static inline int64_t sleb(struct reader *r)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		b = (uint8_t)take(r, 1);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (shift < 64 && b & 0x40)
		v |= ~0ull << shift;
	return (int64_t)v;
}

#endif
