/* The kernel's software task clock through perf_event_open: CPU time at any rate. */
#include <sys/ioctl.h>

#include "base/perf_event.h"
#include "sampler.h"
#include "sys.h"

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

static int start(struct thread *t, uint64_t period)
{
	/* Time in system calls is the caller's. */
	int fd = perf_open_signal(&perf_task_clock, period, true);

	if (fd < 0)
		return fd;
	t->perf_fd = fd;
	return 0;
}

static void stop(struct thread *t)
{
	perf_close(t->perf_fd);
	t->perf_fd = -1;
}

static void set_period(struct thread *t, uint64_t period)
{
	perf_set_period(t->perf_fd, period);
}

const struct source source_task_clock = {
	.id = HYB_SOURCE_TASK_CLOCK,
	.start = start,
	.stop = stop,
	.set_period = set_period,
	.jitter = true,
};
