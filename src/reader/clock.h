/* Ticks of one process to nanoseconds of CLOCK_MONOTONIC, by the line through two anchors. */
#ifndef HYB_CLOCK_H
#define HYB_CLOCK_H

#include <stdbool.h>

#include "format/format.h"

struct clock {
	struct hyb_anchor first;
	uint64_t whole, fraction; /* ns of a tick: whole + fraction / 2^64 */
};

/*
 * Without two different anchors a tick is taken for a nanosecond. Returns
 * false if they contradict each other.
 */
static inline bool clock_init(
	struct clock *clock, const struct hyb_anchor *first, const struct hyb_anchor *last)
{
	uint64_t ticks = last->tick - first->tick, ns = last->mono - first->mono;
	bool sane = last->tick >= first->tick && last->mono >= first->mono;

	*clock = (struct clock){*first, 1, 0};
	if (!sane || !ticks || !ns)
		return sane;
	clock->whole = ns / ticks;
	/* Rounded up, so that whole results (the second anchor) are hit and not missed by one. */
	clock->fraction = (uint64_t)((((unsigned __int128)(ns % ticks) << 64) + ticks - 1) / ticks);
	return true;
}

/* A stretch of ticks in ns, rounded down; too large ones are cut. */
static inline uint64_t clock_span(const struct clock *clock, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)ticks * clock->whole +
			       (uint64_t)((unsigned __int128)ticks * clock->fraction >> 64);

	return ns < UINT64_MAX ? (uint64_t)ns : UINT64_MAX - 1;
}

/* A moment. Never decreases with the tick; moments out of range are cut. */
static inline uint64_t clock_time(const struct clock *clock, uint64_t tick)
{
	uint64_t ns;

	if (tick < clock->first.tick) {
		ns = clock_span(clock, clock->first.tick - tick);
		return ns < clock->first.mono ? clock->first.mono - ns : 0;
	}
	ns = clock_span(clock, tick - clock->first.tick);
	return ns < UINT64_MAX - 1 - clock->first.mono ? clock->first.mono + ns : UINT64_MAX - 1;
}

#endif
