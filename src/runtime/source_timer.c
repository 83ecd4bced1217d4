/*
 * POSIX timers that signal their own thread. On the thread's CPU clock they
 * ride on the kernel's tick: no interrupt more than without, but no rate above
 * the tick's. On CLOCK_MONOTONIC they come at any rate, and also while the
 * thread waits: such samples count for `wall` and are dropped for `timer`.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler.h"

static void set_period(struct thread *t, uint64_t period)
{
	struct timespec ts = {(time_t)(period / 1000000000u), (long)(period % 1000000000u)};
	struct itimerspec its = {.it_interval = ts, .it_value = ts};

	syscall(SYS_timer_settime, (int)t->timer, 0, &its, NULL);
}

static int start_on(struct thread *t, clockid_t clock, uint64_t period)
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
	set_period(t, period);
	return 0;
}

static int start_cpu(struct thread *t, uint64_t period)
{
	return start_on(t, CLOCK_THREAD_CPUTIME_ID, period);
}

static int start_monotonic(struct thread *t, uint64_t period)
{
	return start_on(t, CLOCK_MONOTONIC, period);
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
