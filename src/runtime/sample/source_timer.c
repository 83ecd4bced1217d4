/*
 * POSIX timers that signal their own thread. On the thread's CPU clock they
 * ride on the kernel's tick: no interrupt more than without, but no rate above
 * the tick's, and who sleeps in step with the tick is sampled too often or too
 * seldom. On CLOCK_MONOTONIC they come at any rate, and also while the thread
 * waits: such samples count for `wall`.
 *
 * `timer` is for where perf_event_open() is forbidden: one interrupt after
 * another, at intervals without memory, so that what finds the thread running
 * is as likely at any moment that it runs (Poisson arrivals see time
 * averages: Wolff, Operations Research 30, 1982).
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler.h"

#define LATE_NS 100000u /* from an interrupt to the handler in a thread that runs, at the most */
#define IDLE_NS 50000u /* CPU time that interrupts alone may take: who has had no more slept all along, */
#define IDLE_SHIFT_MAX 6u /* and is asked up to 2^6 times less often */

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

void timer_set(uint32_t timer, uint64_t first, uint64_t period)
{
	struct itimerspec its = {.it_interval = timespec_of(period), .it_value = timespec_of(first)};

	syscall(SYS_timer_settime, (int)timer, 0, &its, NULL);
}

int timer_open(const struct thread *t, clockid_t clock, uint32_t *ret_timer)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = rt.set.signal,
		.sigev_value = {.sival_ptr = &rt},
	};
	int id = 0;

	event._sigev_un._tid = (int)t->loc->tid;
	/* glibc's timer_create would do the same, and allocate for other kinds. */
	if (syscall(SYS_timer_create, clock, &event, &id))
		return -errno;
	*ret_timer = (uint32_t)id;
	return 0;
}

void timer_close(uint32_t timer)
{
	syscall(SYS_timer_delete, (int)timer);
}

/* At the tick's rate any tick may be the first, below it one tick in so many. */
static uint64_t first_tick(struct thread *t, uint64_t period)
{
	struct timespec tick = {0, 4000000};

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	if (period <= (uint64_t)tick.tv_nsec * 3 / 2)
		return 1;
	return 1 + sampler_random(t) % (period - (uint64_t)tick.tv_nsec / 2);
}

static void set_period(struct thread *t, uint64_t period)
{
	timer_set(t->timer, period, period);
}

static void stop(struct thread *t)
{
	timer_close(t->timer);
}

static int start_cpu(struct thread *t, uint64_t period)
{
	int error = timer_open(t, CLOCK_THREAD_CPUTIME_ID, &t->timer);

	if (!error)
		timer_set(t->timer, first_tick(t, period), period);
	return error;
}

static uint64_t weigh_cpu(struct thread *t, const struct interrupt *i)
{
	(void)i;
	return t->period / rt.cpu_period;
}

static int start_wall(struct thread *t, uint64_t period)
{
	int error = timer_open(t, CLOCK_MONOTONIC, &t->timer);

	if (!error)
		timer_set(t->timer, 1 + sampler_random(t) % period, period);
	return error;
}

static uint64_t weigh_wall(struct thread *t, const struct interrupt *i)
{
	return t->period / rt.cpu_period * (1 + (uint64_t)i->info->si_overrun);
}

/* The next interrupt of `timer`. */
static void arm(struct thread *t, uint64_t cpu)
{
	t->clock.last = cpu;
	t->clock.edge = clock_ns(CLOCK_MONOTONIC);
	t->clock.interval = sampler_interval(t, t->period << t->clock.shift);
	timer_set(t->timer, t->clock.interval, 0);
}

static int start_timer(struct thread *t, uint64_t period)
{
	int error = timer_open(t, CLOCK_MONOTONIC, &t->timer);

	t->period = period;
	if (!error)
		arm(t, t->last_cpu);
	return error;
}

/*
 * Whether the thread ran when the timer expired. Who does is interrupted at once; who waited, or had no
 * processor, is late. In a long system call one can be late and have run, as the CPU clock shows.
 */
static bool was_running(const struct thread *t, const struct interrupt *i)
{
	uint64_t passed = clock_ns(CLOCK_MONOTONIC) - t->clock.edge;

	if (passed < t->clock.interval + LATE_NS && !sampler_was_waiting(t, i->context))
		return true;
	return i->cpu - t->clock.last >= passed - passed / 8;
}

static uint64_t weigh_timer(struct thread *t, const struct interrupt *i)
{
	uint64_t weight = t->period / rt.cpu_period << t->clock.shift;
	bool ran = was_running(t, i);

	if (ran)
		t->clock.shift = 0;
	else if (i->cpu - t->clock.last < IDLE_NS && t->clock.shift < IDLE_SHIFT_MAX)
		t->clock.shift++;
	arm(t, i->cpu);
	if (!ran)
		t->loc->dropped[HYB_DROP_IDLE]++;
	return ran ? weight : 0;
}

static void missed_timer(struct thread *t)
{
	arm(t, t->clock.last);
}

static void set_period_timer(struct thread *t, uint64_t period)
{
	(void)t;
	(void)period; /* from the next interrupt on */
}

const struct source source_cpu_timer = {
	.id = HYB_SOURCE_CPU_TIMER,
	.start = start_cpu,
	.stop = stop,
	.set_period = set_period,
	.weigh = weigh_cpu,
};

const struct source source_timer = {
	.id = HYB_SOURCE_TIMER,
	.start = start_timer,
	.stop = stop,
	.set_period = set_period_timer,
	.weigh = weigh_timer,
	.missed = missed_timer,
};

const struct source source_wall = {
	.id = HYB_SOURCE_WALL,
	.start = start_wall,
	.stop = stop,
	.set_period = set_period,
	.weigh = weigh_wall,
	.jitter = true,
};
