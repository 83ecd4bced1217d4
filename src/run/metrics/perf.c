#include "perf.h"

#include "launch/perf_event.h"
#include "format/format.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static struct perf_event_attr attr_of(const struct metric_part *part, enum perf_use use)
{
	struct perf_event_attr attr = perf_event_attr(part);

	attr.sample_period = use == PERF_SAMPLE ? 1u << 30 : 0;
	attr.read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

int perf_open_in_group(const struct metric_part *part, int leader, enum perf_use use)
{
	struct perf_event_attr attr = attr_of(part, use);

	return perf_event_open_allowed(&attr, leader);
}

bool perf_kernel_counts(void)
{
	struct perf_event_attr attr = attr_of(&perf_task_clock, PERF_SAMPLE);
	int fd = perf_event_open(&attr, -1);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int perf_try(const struct metric_part *part, enum perf_use use)
{
	int fd = perf_open_in_group(part, -1, use);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

bool perf_counts(int leader)
{
	uint64_t values[3 + HYB_METRICS_MAX * METRICS_PARTS]; /* number, time enabled, time running ... */
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec++; /* another process may hold the counters now */
	do {
		if (read(leader, values, sizeof(values)) < (ssize_t)(3 * sizeof(values[0])))
			return false;
		if (values[2])
			return true;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
	return false;
}

const char *perf_refusal(int error, enum perf_use use)
{
	switch (-error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return "this processor has no such counter, or its virtual machine hides it";
	case EACCES:
	case EPERM:
		return "the kernel forbids it; lower /proc/sys/kernel/perf_event_paranoid to 2, and allow "
		       "perf_event_open in the container";
	case ENOSYS:
		return "the kernel has no perf_event_open, or the container forbids it";
	case EMFILE:
		return "too many files are open; raise the limit (ulimit -n)";
	case EOPNOTSUPP:
	case EINVAL:
		return use == PERF_SAMPLE ? "its counter cannot interrupt"
					  : "it counts a whole machine, not a thread";
	default:
		return strerror(-error);
	}
}

int perf_paranoid(void)
{
	FILE *in = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = 4;

	if (in) {
		if (fscanf(in, "%d", &level) != 1)
			level = 4;
		fclose(in);
	}
	return level;
}
