/* The kernel's software task clock through perf_event_open: CPU time at any rate. */
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "launch/perf_event.h"
#include "budget.h"
#include "sampler.h"
#include "runtime/sys.h"

int perf_open_signal(const struct metric_part *part, uint64_t period, bool kernel)
{
	struct f_owner_ex owner = {F_OWNER_TID, (int)syscall(SYS_gettid)};
	struct perf_event_attr attr = perf_event_attr(part);
	int fd, error;

	attr.sample_period = period;
	attr.wakeup_events = 1;
	fd = kernel ? perf_event_open(&attr, -1) : perf_event_open_allowed(&attr, -1);
	if (fd < 0)
		return fd;
	fd = sys_move_high(fd);
	if (fd < 0)
		return -errno;
	if (!fcntl(fd, F_SETOWN_EX, &owner) && !fcntl(fd, F_SETSIG, rt.set.signal) &&
		!fcntl(fd, F_SETFL, O_ASYNC))
		return fd;
	error = -errno;
	sys_close(fd);
	return error;
}

/* Whether the descriptor is still ours: the program may have closed all, and used the number again. */
static bool is_ours(int fd)
{
	return fd >= 0 && fcntl(fd, F_GETSIG) == rt.set.signal;
}

void perf_forget(int fd)
{
	if (is_ours(fd))
		sys_close(fd);
}

void perf_close(int fd)
{
	if (!is_ours(fd))
		return;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0); /* a forked child may keep it open */
	sys_close(fd);
}

void perf_set_period(int fd, uint64_t period)
{
	if (is_ours(fd))
		ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
}

void perf_enable(int fd, bool on)
{
	if (is_ours(fd))
		ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

#define UNCOUNTED_NS 50000u /* CPU time that the task clock may not see: it is off at switches */
#define REPEATS 4u /* intervals of the same length: a new one stops and starts the kernel's timer */

static void draw_interval(struct thread *t, uint64_t period)
{
	t->clock.interval = period / 2 + sampler_random(t) % period;
	t->clock.repeats = REPEATS;
}

static void next_interval(struct thread *t, uint64_t period)
{
	if (!t->clock.repeats)
		draw_interval(t, period);
	t->clock.repeats--;
}

/*
 * What is left of an interval that lasts already at a random moment, so that the clock is as likely to strike
 * at any moment from the start: of a long one more often than of a short one, and any of its repeats.
 */
static uint64_t first_interval(struct thread *t, uint64_t period)
{
	do
		draw_interval(t, period);
	while (sampler_random(t) % (period + period / 2) >= t->clock.interval);
	t->clock.repeats = (uint8_t)(sampler_random(t) % REPEATS);
	return 1 + sampler_random(t) % t->clock.interval;
}

static void strike_in(struct thread *t, uint64_t ns)
{
	if (ns == t->clock.set)
		return;
	t->clock.set = ns;
	perf_set_period(t->perf_fd, ns);
}

static uint64_t count_switches(void)
{
	struct rusage usage;

	if (syscall(SYS_getrusage, RUSAGE_THREAD, &usage))
		return 0;
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

uint64_t task_clock_switches(struct thread *t)
{
	uint64_t now = count_switches(), count = now - t->clock.switches;

	t->clock.switches = now;
	cost_outside(t, HYB_COST_SWITCH, (count >> t->clock.shift) * rt.set.switch_ns);
	return count;
}

int task_clock_start(struct thread *t, uint64_t period)
{
	/* Time in system calls is the caller's. */
	uint64_t first = first_interval(t, period);
	int fd = perf_open_signal(&perf_task_clock, first, true);

	if (fd < 0)
		return fd;
	t->perf_fd = fd;
	t->clock.set = first;
	t->clock.last = 0;
	t->clock.switches = count_switches();
	return 0;
}

void task_clock_stop(struct thread *t)
{
	task_clock_switches(t);
	perf_close(t->perf_fd);
	t->perf_fd = -1;
}

void task_clock_set(struct thread *t, uint64_t period)
{
	t->clock.last = 0;
	strike_in(t, first_interval(t, period));
}

uint64_t task_clock_count(struct thread *t, uint64_t period, uint64_t cpu)
{
	uint64_t count = 1, due = t->clock.last + t->clock.interval;

	if (!t->clock.last || cpu <= due + UNCOUNTED_NS)
		due = cpu;
	next_interval(t, period);
	for (; due + t->clock.interval <= cpu; count++) {
		due += t->clock.interval;
		next_interval(t, period);
	}
	t->clock.last = due;
	strike_in(t, due + t->clock.interval - cpu);
	return count;
}

static uint64_t weigh(struct thread *t, const struct interrupt *i)
{
	if (i->cpu - t->clock.look_cpu >= LOOK_NS) {
		t->clock.look_cpu = i->cpu;
		task_clock_switches(t);
	}
	return task_clock_count(t, t->period, i->cpu) * (t->period / rt.cpu_period);
}

const struct source source_task_clock = {
	.id = HYB_SOURCE_TASK_CLOCK,
	.start = task_clock_start,
	.stop = task_clock_stop,
	.set_period = task_clock_set,
	.weigh = weigh,
};
