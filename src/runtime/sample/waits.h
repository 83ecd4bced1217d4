/*
 * Off-CPU time: how long a thread was ready and had no processor, and where it waited. Samples of the CPU
 * clock show neither, and a signal must not wake who waits. So the wrappers of calls that may wait time them;
 * where one was long its call path is walked as it returns, of short ones where some are.
 */
#ifndef HYB_WAITS_H
#define HYB_WAITS_H

#include "runtime/thread.h"

/* A call that may wait, in its wrapper's frame. */
struct wait {
	struct thread *t; /* NULL: it is not timed */
	uint64_t begin; /* tick; of a brief call: ns of the coarse clock */
	/* Of a brief call that is measured: it stands for so many, 0: it is not; and ns at its begin. */
	uint32_t every;
	uint64_t mono, cpu;
};

/* Around a call that takes microseconds, or waits, anyway. errno is kept. Owner thread */
static inline struct wait wait_begin(void);
static inline void wait_end(const struct wait *wait);

/*
 * Around one that may be over in a tenth of that, as a small read: reading the counter costs too much. Longer
 * waits are noticed by the kernel's tick that has passed, others in one of so many calls.
 */
static inline struct wait wait_begin_brief(void);
static inline void wait_end_brief(const struct wait *wait);

/* Begins and ends it for the calling thread. */
void waits_start(struct thread *t);
void waits_stop(struct thread *t);

/*
 * Brings what is known of a thread's off-CPU time up to date: returns ns for which it was ready since the
 * last time. Async-signal-safe; owner thread, or who has made it busy
 */
uint64_t waits_ready(struct thread *t);

/* A sample was taken at a node, at these readings of the CPU clock and the monotonic one, ns: the thread was
 * ready there, if anywhere, since the last look, and waited there if it is in a call. In the handler */
void waits_sampled(struct thread *t, uint32_t node, uint64_t cpu, uint64_t mono);

/* What was off the CPU until now has no place: the measurement was paused. errno is kept. Busy owner thread
 */
void waits_resume(struct thread *t);

/* Closes the descriptor that a fork's child inherited. */
void waits_forget(int fd);

/* Whether a call of so many ticks, less than for certain, is recorded: by chance, and stands for others. */
bool waits_strike(struct thread *t, uint64_t took);
void waits_record(const struct wait *wait, uint64_t took);
void waits_measure(struct wait *wait);
void waits_look(const struct wait *wait, uint64_t passed);

static inline struct wait wait_begin(void)
{
	struct thread *t = self;
	struct wait wait = {.t = t && t->waits.every ? t : NULL};

	if (wait.t) {
		t->waits.in_call = true;
		wait.begin = clock_tick();
	}
	return wait;
}

static inline void wait_end(const struct wait *wait)
{
	struct thread *t = wait->t;
	uint64_t took;

	if (!t)
		return;
	t->waits.in_call = false;
	took = clock_tick() - wait->begin;
	if (took >= t->waits.certain || waits_strike(t, took))
		waits_record(wait, took);
}

static inline struct wait wait_begin_brief(void)
{
	struct thread *t = self;
	struct wait wait = {.t = t && t->waits.every ? t : NULL};

	if (!wait.t)
		return wait;
	if (unlikely(!--t->waits.left))
		waits_measure(&wait);
	t->waits.in_call = true;
	wait.begin = clock_ns(CLOCK_MONOTONIC_COARSE);
	return wait;
}

static inline void wait_end_brief(const struct wait *wait)
{
	uint64_t now;

	if (!wait->t)
		return;
	wait->t->waits.in_call = false;
	now = clock_ns(CLOCK_MONOTONIC_COARSE);
	if (unlikely(wait->every || now != wait->begin))
		waits_look(wait, now - wait->begin);
}

#endif
