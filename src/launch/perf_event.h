/* Counters of the kernel's and of the processor's, as perf_event_open() has them. Async-signal-safe. */
#ifndef BASE_PERF_EVENT_H
#define BASE_PERF_EVENT_H

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "metrics.h"

static const struct metric_part perf_task_clock = {
	.sign = 1, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK};

/* The counter alone: neither how it is read nor when it interrupts. */
static inline struct perf_event_attr perf_event_attr(const struct metric_part *part)
{
	return (struct perf_event_attr){
		.type = part->type,
		.size = sizeof(struct perf_event_attr),
		.config = part->config,
		.config1 = part->config1,
		.config2 = part->config2,
		.exclude_hv = 1,
	};
}

/*
 * A counter of the calling thread, in the group of the descriptor `leader` or, if that is -1, as the first of
 * its own. Returns a descriptor or a negative errno.
 */
static inline int perf_event_open(const struct perf_event_attr *attr, int leader)
{
	long fd = syscall(SYS_perf_event_open, attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* The same; where it is forbidden to see what the kernel does for the thread, without that. */
static inline int perf_event_open_allowed(struct perf_event_attr *attr, int leader)
{
	int fd = perf_event_open(attr, leader);

	if ((fd != -EACCES && fd != -EPERM) || attr->exclude_kernel)
		return fd;
	attr->exclude_kernel = 1;
	return perf_event_open(attr, leader);
}

#endif
