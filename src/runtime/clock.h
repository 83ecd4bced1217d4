/* The tick clock: the processor's counter where its rate is constant, else CLOCK_MONOTONIC. */
#ifndef HYB_CLOCK_H
#define HYB_CLOCK_H

#include <time.h>

#include "arch/arch.h"
#include "runtime.h"

/* async-signal-safe */
static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts = {0, 0};

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_tick(void)
{
	return likely(rt.counter) ? arch_counter() >> ARCH_COUNTER_SHIFT : clock_ns(CLOCK_MONOTONIC);
}

/*
 * Both clocks at the same moment, as near as so many tries get: processes of a host are
 * put in order by these readings. async-signal-safe
 */
static inline struct hyb_anchor clock_both(unsigned tries)
{
	struct hyb_anchor best = {0, 0};
	uint64_t least = UINT64_MAX;

	while (tries--) {
		uint64_t before = clock_tick(), mono = clock_ns(CLOCK_MONOTONIC),
			 passed = clock_tick() - before;

		if (passed < least) {
			least = passed;
			best = (struct hyb_anchor){before + passed / 2, mono};
		}
	}
	return best;
}

#endif
