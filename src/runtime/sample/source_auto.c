/*
 * What samples a thread that nobody chose a source for: unbiased always, and as cheap as that can be. Each
 * sample stands for the same CPU time, in whatever mode it was taken:
 *
 *   FIRST   one interrupt of a wall-clock timer, after an interval without memory. If it finds the thread
 *           running it is a sample. Short threads have no other, and pay for no more.
 *   CLOCK   then the kernel's task clock, whose time is the thread's CPU time.
 *   CLOSED, OPEN  a thread that switches often has the task clock in random windows only: the kernel stops
 *           and starts its timer at each switch of a thread that has one. Windows lie in wall time and know
 *           nothing of the program, so that all moments are as likely to be in one; a window that began while
 *           the thread slept is entered as it wakes, or was missed as it should be.
 */
#include "sampler.h"

enum mode { FIRST = 0, CLOCK, CLOSED, OPEN };

/* What switches may take more of a second of CPU, by what one was measured to take: all of them, or those in
 * windows. */
#define SWITCHING_NS 2000000u
#define WINDOW_SWITCHING_NS 1000000u
#define SHIFT_MIN 2u /* half of the time would save little, and windows would hold several samples */
#define SHIFT_MAX 6u /* windows are at least 1/64 of the time */
#define CYCLE 6u /* periods of CPU time from one window to the next, on average: about a sample each */
#define CYCLE_MAX 384u /* of wall time, where a thread sleeps most of it */
#define RETRY_NS 20000u /* a window whose edge fell into a probe */
#define IDLE_NS 50000u /* CPU time from one window to the next that interrupts alone may take */
#define LATE_NS 1000000000u /* windows that are so long ago are not counted one by one */

/* In windows the period is shorter, so that not too few samples are left: each stands for up to CYCLE. */
static uint64_t weight_of(const struct thread *t)
{
	return t->clock.shift > 2 ? CYCLE : UINT64_C(1) << t->clock.shift;
}

static uint64_t period_of(const struct thread *t)
{
	return t->period * weight_of(t) >> t->clock.shift;
}

static uint64_t random_below(struct thread *t, uint64_t n)
{
	return ((uint64_t)sampler_random(t) << 16 ^ sampler_random(t)) % n;
}

/* What the last look has found holds from the end of a window on: all moments of one weigh the same. */
static void adopt(struct thread *t)
{
	t->clock.cycle = t->clock.next_cycle;
	if (t->clock.shift == t->clock.next_shift)
		return;
	t->clock.shift = t->clock.next_shift;
	task_clock_set(t, period_of(t));
}

/* Opens or closes the window of this moment; the timer expires at its edge. */
static void move_window(struct thread *t)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), end = t->clock.edge, length, gap;
	bool open;

	if (t->clock.mode == OPEN)
		adopt(t);
	length = t->clock.cycle >> t->clock.shift;
	gap = t->clock.cycle - length;
	if (t->clock.mode == CLOSED)
		end += length;
	if (now > end + LATE_NS)
		end = now + random_below(t, t->clock.cycle); /* any moment of a cycle */
	while (end <= now)
		end += gap / 2 + random_below(t, gap) + length;
	open = now >= end - length;
	if (open != (t->clock.mode == OPEN))
		perf_enable(t->perf_fd, open);
	t->clock.last = 0;
	t->clock.mode = open ? OPEN : CLOSED;
	t->clock.edge = open ? end : end - length;
	timer_set(t->timer, t->clock.edge - now, 0);
}

static void begin_windows(struct thread *t)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	t->clock.mode = OPEN; /* as the clock runs */
	t->clock.edge = now - LATE_NS - 1;
	move_window(t);
}

static void begin_clock(struct thread *t)
{
	if (t->clock.mode == CLOSED)
		perf_enable(t->perf_fd, true);
	timer_set(t->timer, 0, 0);
	t->clock.mode = CLOCK;
	t->clock.shift = 0;
	task_clock_set(t, period_of(t));
}

/* Of how many moments, as a power of 2, a thread that switches so often is sampled in one. */
static unsigned shift_for(const struct thread *t, uint64_t switches)
{
	uint64_t took = switches * rt.set.switch_ns, most = WINDOW_SWITCHING_NS;
	unsigned shift = SHIFT_MIN;

	/* Not to and fro where it lies at a border. */
	if (took <= (t->clock.shift ? SWITCHING_NS * 3 / 4 : SWITCHING_NS))
		return 0;
	if (t->clock.shift && took > (most << (t->clock.shift - 1)) * 3 / 4 && took <= most << t->clock.shift)
		return t->clock.shift;
	while (shift < SHIFT_MAX && took > most << shift)
		shift++;
	return shift;
}

static void choose_mode(struct thread *t, uint64_t switches)
{
	t->clock.next_shift = (uint8_t)shift_for(t, switches);
	if (t->clock.next_shift && t->clock.mode == CLOCK)
		begin_windows(t);
}

/* Looks now and then how often the thread is switched, and what part of the time it runs. */
static void look(struct thread *t, uint64_t cpu)
{
	uint64_t ran = cpu - t->clock.look_cpu, now, cycle;

	if (ran < LOOK_NS)
		return;
	now = clock_ns(CLOCK_MONOTONIC);
	cycle = CYCLE * (now - t->clock.look_mono) / ran;
	cycle = cycle < CYCLE ? CYCLE : cycle < CYCLE_MAX ? cycle : CYCLE_MAX;
	t->clock.next_cycle = cycle * t->period;
	choose_mode(t, task_clock_switches(t) * 1000000000u / ran);
	t->clock.look_cpu = cpu;
	t->clock.look_mono = now;
}

/* The thread's first interrupt. */
static uint64_t first(struct thread *t, const struct interrupt *i)
{
	bool waited = sampler_was_waiting(t, i->context);
	int error = task_clock_start(t, t->period);

	t->clock.mode = CLOCK;
	t->clock.look_cpu = i->cpu;
	t->clock.look_mono = clock_ns(CLOCK_MONOTONIC);
	if (error) {
		timer_close(t->timer);
		sampler_fall_back(t, error);
	}
	return waited ? 0 : 1;
}

/*
 * A window opens or closes. A thread that has slept for a cycle, or does not switch often any more, has the
 * clock all the time until it switches often again.
 */
static void expire(struct thread *t, const struct interrupt *i)
{
	bool idle = i->cpu - t->clock.open_cpu < IDLE_NS;

	if (t->clock.mode == CLOSED)
		t->clock.open_cpu = i->cpu;
	if (t->clock.mode == CLOSED ? idle : !t->clock.next_shift)
		begin_clock(t);
	else
		move_window(t);
}

static uint64_t weigh(struct thread *t, const struct interrupt *i)
{
	uint64_t unit = t->period / rt.cpu_period, count;
	bool timer = i->info->si_code == SI_TIMER;

	if (timer && t->clock.mode == FIRST)
		return first(t, i) * unit;
	if (timer && (t->clock.mode == OPEN || t->clock.mode == CLOSED)) {
		expire(t, i);
		return 0;
	}
	if (timer)
		return 0; /* a late one, of a timer that is not used any more */
	count = task_clock_count(t, period_of(t), i->cpu) * weight_of(t) * unit;
	look(t, i->cpu);
	return count;
}

static void missed(struct thread *t)
{
	timer_set(t->timer, t->clock.mode == FIRST ? sampler_interval(t, t->period) : RETRY_NS, 0);
}

static int start(struct thread *t, uint64_t period)
{
	int error = timer_open(t, CLOCK_MONOTONIC, &t->timer);

	t->clock.mode = FIRST;
	if (!error)
		timer_set(t->timer, sampler_interval(t, period), 0);
	return error;
}

static void stop(struct thread *t)
{
	timer_close(t->timer);
	if (t->clock.mode != FIRST)
		task_clock_stop(t);
}

static void set_period(struct thread *t, uint64_t period)
{
	(void)period; /* is t->period */
	if (t->clock.mode != FIRST)
		task_clock_set(t, period_of(t));
}

const struct source source_auto = {
	.id = HYB_SOURCE_TASK_CLOCK,
	.start = start,
	.stop = stop,
	.set_period = set_period,
	.weigh = weigh,
	.missed = missed,
};
