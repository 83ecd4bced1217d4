/*
 * Converts ticks of a process to nanoseconds of CLOCK_MONOTONIC, by the line through two anchors, and these
 * to the clock of another host, by the offsets measured at two moments.
 */
#ifndef HYB_CLOCK_H
#define HYB_CLOCK_H

#include <stdbool.h>

#include "format/format.h"

/*
 * What is added to moments of one clock to get those of another: `first` up to the moment `from`, `last` from
 * `until` on, linear between. All zero: they are the same clock.
 */
struct clock_shift {
	uint64_t from, until; /* ns of the own clock */
	int64_t first, last; /* ns */
	uint64_t slope; /* |last - first| / (until - from), times 2^64 */
};

struct clock {
	struct hyb_anchor first;
	uint64_t whole, fraction; /* ns of a tick: whole + fraction / 2^64 */
	struct clock_shift shift;
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

	*clock = (struct clock){.first = *first, .whole = 1};
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

/* The shift at a moment of the own clock. */
static inline int64_t clock_shift_at(const struct clock_shift *shift, uint64_t time)
{
	uint64_t moved;

	if (time <= shift->from)
		return shift->first;
	if (time >= shift->until)
		return shift->last;
	moved = (uint64_t)((unsigned __int128)(time - shift->from) * shift->slope >> 64);
	return shift->last < shift->first ? shift->first - (int64_t)moved : shift->first + (int64_t)moved;
}

/* A moment of the own clock on the other one. Never decreases with it; moments out of range are cut. */
static inline uint64_t clock_shifted(const struct clock_shift *shift, uint64_t time)
{
	__int128 ns = (__int128)time + clock_shift_at(shift, time);

	return ns < 0 ? 0 : ns < UINT64_MAX ? (uint64_t)ns : UINT64_MAX - 1;
}

/* A moment of the own clock. */
static inline uint64_t clock_own_time(const struct clock *clock, uint64_t tick)
{
	uint64_t ns;

	if (tick < clock->first.tick) {
		ns = clock_span(clock, clock->first.tick - tick);
		return ns < clock->first.mono ? clock->first.mono - ns : 0;
	}
	ns = clock_span(clock, tick - clock->first.tick);
	return ns < UINT64_MAX - 1 - clock->first.mono ? clock->first.mono + ns : UINT64_MAX - 1;
}

/* A moment. Never decreases with the tick; moments out of range are cut. */
static inline uint64_t clock_time(const struct clock *clock, uint64_t tick)
{
	uint64_t ns = clock_own_time(clock, tick);

	return clock->shift.first || clock->shift.last ? clock_shifted(&clock->shift, ns) : ns;
}

#endif
