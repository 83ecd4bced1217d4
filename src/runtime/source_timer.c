/*
 * POSIX timers that signal their own thread. On the thread's CPU clock they
 * ride on the kernel's tick: no interrupt more than without, but no rate above
 * the tick's. On CLOCK_MONOTONIC they come at any rate, and also while the
 * thread waits: such samples count for `wall` and are dropped for `timer`.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler.h"

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static void set_timer(struct thread *t, uint64_t first, uint64_t period)
{
	struct itimerspec its = {.it_interval = timespec_of(period), .it_value = timespec_of(first)};

	syscall(SYS_timer_settime, (int)t->timer, 0, &its, NULL);
}

static void set_period(struct thread *t, uint64_t period)
{
	set_timer(t, period, period);
}

/* `first`: ns to the first signal. A thread that lives shorter than a period must have its chance, too. */
static int start_on(struct thread *t, clockid_t clock, uint64_t first, uint64_t period)
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
	t->timer = (uint32_t)id;
	set_timer(t, first, period);
	return 0;
}

/* At the tick's rate any tick may be the first; below it, one tick in so many. */
static int start_cpu(struct thread *t, uint64_t period)
{
	struct timespec tick = {0, 4000000};
	uint64_t first = 1;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	if (period > (uint64_t)tick.tv_nsec * 3 / 2)
		first = 1 + t->random % (period - (uint64_t)tick.tv_nsec / 2);
	return start_on(t, CLOCK_THREAD_CPUTIME_ID, first, period);
}

static int start_monotonic(struct thread *t, uint64_t period)
{
	return start_on(t, CLOCK_MONOTONIC, 1 + t->random % period, period);
}

static void stop(struct thread *t)
{
	syscall(SYS_timer_delete, (int)t->timer);
}

const struct source source_cpu_timer = {
	.id = HYB_SOURCE_CPU_TIMER,
	.start = start_cpu,
	.stop = stop,
	.set_period = set_period,
};

const struct source source_timer = {
	.id = HYB_SOURCE_TIMER,
	.start = start_monotonic,
	.stop = stop,
	.set_period = set_period,
	.jitter = true,
};

const struct source source_wall = {
	.id = HYB_SOURCE_WALL,
	.start = start_monotonic,
	.stop = stop,
	.set_period = set_period,
	.jitter = true,
};
