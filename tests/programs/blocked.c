/*
 * Three regions: one waits, one computes, one does half of each. Prints for
 * each its name and the wall and CPU nanoseconds by the program's own clocks.
 */
#include "work.h"

#include <hybrid/hybrid.h>
#include <unistd.h>

static struct hybrid_region sleeps = HYBRID_REGION_INIT("sleeps", HYBRID_USER);
static struct hybrid_region computes = HYBRID_REGION_INIT("computes", HYBRID_USER);
static struct hybrid_region mixed = HYBRID_REGION_INIT("mixed", HYBRID_USER);

static NOINLINE void phase(struct hybrid_region *region, unsigned compute_ms, unsigned sleep_ms)
{
	uint64_t wall, cpu;

	hybrid_enter(region);
	wall = clock_ns(CLOCK_MONOTONIC);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (compute_ms)
		burn_ms(compute_ms);
	if (sleep_ms)
		usleep(sleep_ms * 1000);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = clock_ns(CLOCK_MONOTONIC) - wall;
	hybrid_leave(region);
	printf("%s %llu %llu\n", region->name, (unsigned long long)wall, (unsigned long long)cpu);
}

int main(int argc, char **argv)
{
	unsigned ms = argc > 1 ? (unsigned)atoi(argv[1]) : 400;

	phase(&sleeps, 0, ms);
	phase(&computes, ms, 0);
	phase(&mixed, ms / 2, ms / 2);
	return 0;
}
