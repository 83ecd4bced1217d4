/* The kernel's software task clock through perf_event_open: CPU time at any rate. */
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "sampler.h"
#include "sys.h"

/* A descriptor out of the program's way. */
static int move_high(int fd)
{
	struct rlimit limit = {1024, 1024};
	int high;

	getrlimit(RLIMIT_NOFILE, &limit);
	high = fcntl(fd, F_DUPFD_CLOEXEC, (int)(limit.rlim_cur < 65536 ? limit.rlim_cur : 65536) / 2);
	sys_close(fd);
	return high;
}

static int start(struct thread *t, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = period,
		.exclude_hv = 1, /* kernel mode is not excluded: time in system calls is the caller's */
		.wakeup_events = 1,
	};
	struct f_owner_ex owner = {F_OWNER_TID, (int)syscall(SYS_gettid)};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	fd = move_high(fd);
	if (fd < 0)
		return -errno;
	t->perf_fd = fd;
	if (fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETSIG, rt.set.signal) ||
		fcntl(fd, F_SETFL, O_ASYNC)) {
		error = -errno;
		sys_close(fd);
		return error;
	}
	return 0;
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

static void stop(struct thread *t)
{
	if (is_ours(t->perf_fd)) {
		ioctl(t->perf_fd, PERF_EVENT_IOC_DISABLE, 0); /* a forked child may keep it open */
		sys_close(t->perf_fd);
	}
	t->perf_fd = -1;
}

static void set_period(struct thread *t, uint64_t period)
{
	if (is_ours(t->perf_fd))
		ioctl(t->perf_fd, PERF_EVENT_IOC_PERIOD, &period);
}

const struct source source_task_clock = {
	.id = HYB_SOURCE_TASK_CLOCK,
	.start = start,
	.stop = stop,
	.set_period = set_period,
	.jitter = true,
};
