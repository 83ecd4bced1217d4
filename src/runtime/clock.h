/* The tick clock: the time stamp counter where it is invariant, else CLOCK_MONOTONIC. */
#ifndef HYB_CLOCK_H
#define HYB_CLOCK_H

#include <time.h>

#include "runtime.h"

/* Halved cycles: a millisecond still fits into a trace record's three bytes. */
#define CLOCK_SHIFT 1

/* async-signal-safe */
static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts = {0, 0};

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

static inline uint64_t clock_tick(void)
{
	return likely(rt.tsc) ? __rdtsc() >> CLOCK_SHIFT : clock_ns(CLOCK_MONOTONIC);
}

/* Whether the counter runs at a constant rate through frequency changes and sleep. */
static inline bool clock_has_tsc(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
}
#else
static inline uint64_t clock_tick(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline bool clock_has_tsc(void)
{
	return false;
}
#endif

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
