/*
 * LEB128 numbers, unsigned and zigzag. Encoders write at most VARINT_MAX
 * bytes and are async-signal-safe. Decoders never read at or behind `end`.
 */
#ifndef HYB_VARINT_H
#define HYB_VARINT_H

#include <stdint.h>

#define VARINT_MAX 10

/* Returns the byte behind the number. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/*
 * Returns the byte behind the number, or NULL if it does not end before `end`
 * or is longer than 64 bits; *ret_v is untouched then. `p` may be NULL (the
 * failure of an earlier call passes through, so that a record is checked once).
 */
static inline const uint8_t *varint_get(const uint8_t *p, const uint8_t *end, uint64_t *ret_v)
{
	uint64_t v = 0;

	if (!p)
		return 0;
	for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
		uint8_t b = *p++;

		if (shift == 63 && b > 1)
			return 0;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*ret_v = v;
			return p;
		}
	}
	return 0;
}

#endif
