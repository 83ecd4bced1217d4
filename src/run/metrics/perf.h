/* What the kernel lets this process count, by trying. */
#ifndef RUN_PERF_H
#define RUN_PERF_H

#include "launch/papi/papi_call.h"

#include <stdbool.h>

enum perf_use { PERF_COUNT, PERF_SAMPLE };

/*
 * Opens a counter of this thread, in the group of the descriptor `leader` or, if that is -1, as the first of
 * its own; without the kernel's part where that is forbidden. Returns a descriptor, or a negative errno.
 */
int perf_open_in_group(const struct metric_part *part, int leader, enum perf_use use);

/* Whether it can be done, alone. 0 or a negative errno. */
int perf_try(const struct metric_part *part, enum perf_use use);

/* Whether the group whose first is `leader` gets its turn at all. */
bool perf_counts(int leader);

/* Whether also what the kernel does for a thread may be counted and sampled. */
bool perf_kernel_counts(void);

/* What stands behind an error of the above, and what to do; a phrase without a dot. */
const char *perf_refusal(int error, enum perf_use use);

/* The number in /proc/sys/kernel/perf_event_paranoid; 4 if there is none. */
int perf_paranoid(void);

#endif
