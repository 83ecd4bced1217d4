/* Whole numbers divided in proportion so that the parts add up exactly. */
#ifndef HYB_SLICE_H
#define HYB_SLICE_H

#include <stdint.h>

/* a * b / c, rounded to nearest; c > 0, and the result fits if a <= c. */
static inline uint64_t slice_scale(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)(((unsigned __int128)a * b + c / 2) / c);
}

/* What `part`, behind `before` of `whole`, gets of `amount`; over all parts the amount exactly. */
static inline uint64_t slice(uint64_t before, uint64_t part, uint64_t whole, uint64_t amount)
{
	return slice_scale(before + part, amount, whole) - slice_scale(before, amount, whole);
}

#endif
