/* Sorting of numbers, and binary search. */
#ifndef HYB_SEARCH_H
#define HYB_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* For qsort(): the least first. */
#define COMPARE(a_, b_) (((a_) > (b_)) - ((a_) < (b_)))

static inline int compare_u32(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return COMPARE(a, b);
}

static inline int compare_u64(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return COMPARE(a, b);
}

/* How many of `count_` sorted items are in front of what is searched: those for whose index `i_` the
 * condition holds, which are the first. */
#define SEARCH(i_, count_, is_before_) \
	({ \
		size_t low_ = 0, high_ = (count_); \
\
		while (low_ < high_) { \
			size_t i_ = low_ + (high_ - low_) / 2; \
\
			if (is_before_) \
				low_ = i_ + 1; \
			else \
				high_ = i_; \
		} \
		low_; \
	})

#endif
