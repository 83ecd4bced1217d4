/* Sums of numbers of a damaged file, which may be anything: they wrap around, as signed ones must not. */
#ifndef HYB_WRAP_H
#define HYB_WRAP_H

#include <stdint.h>

static inline void wrap_add(int64_t *to, int64_t value)
{
	*to = (int64_t)((uint64_t)*to + (uint64_t)value);
}

static inline int64_t wrap_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

#endif
