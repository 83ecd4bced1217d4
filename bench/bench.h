/* What programs that are measured share. */
#ifndef HYB_BENCH_H
#define HYB_BENCH_H

#include <stdint.h>
#include <time.h>

/* Stands as a frame on the stack: not inlined, cloned or made a jump. Nothing may be learnt across the call.
 */
#if defined(__clang__)
#define FRAME __attribute__((noinline, optnone))
#else
#define FRAME __attribute__((noipa))
#endif

/* ns */
static inline uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* The clock that the runtime reads. */
static inline uint64_t read_tick(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return now();
#endif
}

/* For qsort(). */
static inline int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#endif
