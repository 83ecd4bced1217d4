/* The clock that never goes back. */
#ifndef HYB_NOW_H
#define HYB_NOW_H

#include <stdint.h>
#include <time.h>

/* ns. */
static inline uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
