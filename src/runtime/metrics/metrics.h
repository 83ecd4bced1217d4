/*
 * Metrics: what is read wherever time is, besides time. Where there are any (rt.metrics), a region's enter
 * and leave read all of them, and so does each sample; values are signed integers, counted from the
 * thread's beginning (levels: as they are).
 *
 * They are read by kinds: counters of the kernel's and of the processor's through perf_event_open
 * (runtime/metrics/perf.c; hybrid-run has asked PAPI what their names mean, nothing of PAPI is in the
 * program); rusage, I/O and memory (runtime/metrics/kernel.c); the program's own counters as it last counted
 * them. Owner thread, thread busy, async-signal-safe unless noted otherwise.
 */
#ifndef HYB_METRICS_H
#define HYB_METRICS_H

#include <sys/resource.h>

#include "launch/metrics.h"
#include "runtime/runtime.h"

struct thread;

/* The kernel's texts that are read: each through a descriptor of its own. */
enum metrics_text { METRICS_IO = 0, METRICS_MEMORY, METRICS_TEXTS };

/* The kernel's values at one reading. */
struct metrics_kernel {
	struct rusage usage;
	bool used; /* `usage` was read */
	char text[METRICS_TEXTS][256]; /* "": was not */
	int64_t own[4]; /* of metrics_thread.own, as far as the texts have it */
};

/* A metric of the process. Strings live as long as that. */
struct metric {
	const char *name, *unit, *text;
	enum metric_kind kind;
	const struct metric_word *word; /* NULL: the kernel's or the program's */
	bool estimated, level;
	uint64_t period; /* 0: takes no samples */
	struct metric_part part[METRICS_PARTS]; /* of the kernel's: their sum; for samples: the first */
	unsigned parts;
};

#define PERF_COUNTERS 32u /* parts of all metrics */

/* A counter of a thread. */
struct perf_counter {
	int fd; /* + 1; 0: it could not be opened */
	uint8_t leader; /* index of the first of its group, which are read together */
	uint8_t metric;
	int8_t sign;
	struct perf_event_mmap_page *page; /* NULL: is read by a system call only */
};

/* A thread's part. */
struct metrics_thread {
	struct hyb_metrics *state; /* in the file */
	int64_t *entered[2]; /* in the file: levels of the region stack below HYB_STACK_FIRST, and the others
			      */
	int64_t zero[HYB_METRICS_MAX]; /* what they were when the thread began */
	int64_t user[HYB_METRICS_MAX]; /* of the program's counters */
	int64_t now[HYB_METRICS_MAX]; /* the last reading */
	int64_t traced[HYB_METRICS_MAX]; /* in the last record that has them */
	struct perf_counter counter[PERF_COUNTERS];
	unsigned counters;
	int text[METRICS_TEXTS]; /* descriptors + 1 */
	int64_t own[4]; /* our reading and writing, which the kernel counts as the program's: by `field` of
			   METRIC_OF_IO */
	/* of those with a period, in their order */
	int event[HYB_METRICS_MAX]; /* perf descriptors + 1 */
	uint64_t event_period[HYB_METRICS_MAX]; /* now: the budget may have made it longer */
	uint64_t event_count[HYB_METRICS_MAX]; /* at the last sample */
};

/* The metric that takes samples as number `event`. */
const struct metric *metrics_event(unsigned event);
uint32_t metrics_event_index(unsigned event);

/* What was asked for (METRICS_VARIABLE), defined in the file; sets rt.metrics and rt.events. start */
void metrics_init(void);

/* Begins and ends reading on the calling thread, after its location and its root were made. Not in a handler
 */
bool metrics_begin(struct thread *t);
void metrics_end(struct thread *t);

/* Closes what a fork's child inherited. start */
void metrics_forget(struct metrics_thread *parent);

/* Room for the deeper levels of the region stack. */
bool metrics_grow(struct thread *t);

/* Reads all into t->metrics.now. */
void metrics_read(struct thread *t);

/*
 * The kernel's values (runtime/metrics/kernel.c): read once for all metrics of these `kinds` (bits by enum
 * metric_kind); then each of them, `old` where it could not be read.
 */
void metrics_kernel_read(struct thread *t, unsigned kinds, struct metrics_kernel *ret);
int64_t metrics_kernel_field(
	const struct metrics_kernel *kernel, const struct metric_word *word, int64_t old);

/* The program's own may be any numbers: differences wrap around. */
static inline int64_t metrics_growth(int64_t now, int64_t before)
{
	return (int64_t)((uint64_t)now - (uint64_t)before);
}

/* We called read() or write(), with that result. */
static inline void metrics_own_call(struct metrics_thread *m, bool write, ssize_t result)
{
	if (result < 0) /* did not come so far that it was counted */
		return;
	m->own[write] += result;
	m->own[2 + write]++;
}

/*
 * The kernel's counters of a thread (runtime/metrics/perf.c). Opens one more, for metric number `metric`:
 * false if the kernel refuses. Starts all that were opened. Closes all. Adds what they are to values[], by
 * metric; false: they cannot be read.
 */
bool perf_counter_open(struct metrics_thread *m, unsigned metric, const struct metric_part *part);
void perf_counters_start(const struct metrics_thread *m);
void perf_counters_close(struct metrics_thread *m);
bool perf_counters_read(struct metrics_thread *m, int64_t *values);

/* The region at this level of the region stack was entered: reads. */
void metrics_enter(struct thread *t, uint32_t level);

/* It is left: reads, and adds to its node. */
void metrics_leave(struct thread *t, uint32_t level);

/* What they were where the innermost open region was entered. */
const int64_t *metrics_entered(const struct thread *t);

/* Writes the last reading to the file, for readers if the process is killed. */
void metrics_publish(struct thread *t);

/* The overflow of metric number `event` ended `weight` samples at the node. */
void metrics_overflow(uint32_t node, unsigned event, uint64_t weight);

/* The program counted, by a counter of that name. */
void metrics_count(struct thread *t, const char *name, int64_t value);

#endif
