/*
 * Writes .hyb files from what other tools have measured: one process after the other, and in a process one
 * thread after the other, in the order of time. Everything goes to the file at once, so that it is valid at
 * every moment, and memory does not grow with the trace. Space is reserved before it is used.
 *
 * After the first failure (a full disk, lack of memory) all calls are accepted and write nothing;
 * hyb_write_error() returns the errno of that failure. A writer is used by one thread.
 */
#ifndef HYB_HYB_WRITE_H
#define HYB_HYB_WRITE_H

#include <stdbool.h>

#include "format/format.h"
#include "format/mpi_record.h"

struct hyb_write;

/*
 * `fd`: an empty file open for reading and writing, the caller's. `several`: more than one process follows.
 * NULL with errno set.
 */
struct hyb_write *hyb_write_new(int fd, bool several);

/* The errno of the first failure, or 0. */
int hyb_write_error(const struct hyb_write *w);

/* Accepts NULL. */
void hyb_write_free(struct hyb_write *w);

/*
 * Begins a process; the next one ends it. Magic, version and counters are the writer's own. The header that
 * is returned is in the file, and good for changes until then.
 */
struct hyb_header *hyb_write_process(struct hyb_write *w, const struct hyb_header *header);

/*
 * Definitions, each with its head as in the format (def and lengths of strings are filled in) and up to three
 * strings. Names of regions and all strings are cut to HYB_NAME_MAX bytes. Returns the id.
 */
uint64_t hyb_write_region(
	struct hyb_write *w, enum hyb_region_kind kind, const char *name, const char *file, uint32_t line);
uint64_t hyb_write_counter(struct hyb_write *w, const char *name, const char *unit, bool real);
uint64_t hyb_write_text(struct hyb_write *w, const char *text);
void hyb_write_metadata(struct hyb_write *w, const char *key, const char *value);
void hyb_write_note(struct hyb_write *w, uint64_t tick, enum hyb_severity severity, const char *text);
void hyb_write_world(struct hyb_write *w, const struct hyb_def_world *world);
void hyb_write_handle(struct hyb_write *w, const struct hyb_def_handle *handle, const char *name);
/* In front of the first location; at most HYB_METRICS_MAX. */
void hyb_write_metric(struct hyb_write *w, const struct hyb_def_metric *metric, const char *name,
	const char *unit, const char *text);

/*
 * Begins a thread, which is number `id` (1, 2 ...) of the process, at tick `start`. What is returned is in
 * the file, and good for changes of its counters until hyb_write_location_end(), which has to follow.
 */
struct hyb_location *hyb_write_location(
	struct hyb_write *w, uint32_t id, uint32_t tid, uint64_t start, const char *name);
/* `values`: of the metrics; NULL: not known. All regions have been left. */
void hyb_write_location_end(struct hyb_write *w, uint64_t end, const int64_t *values);

/*
 * A node of the current thread, good for changes of its counters until the thread's end. In a process with
 * metrics their values follow it: hyb_write_values(). The root is there from the start.
 */
struct hyb_node *hyb_write_node(
	struct hyb_write *w, uint32_t parent, enum hyb_node_kind kind, uint64_t key, uint32_t *ret_id);
struct hyb_node *hyb_write_root(struct hyb_write *w, uint32_t *ret_id);
static inline int64_t *hyb_write_values(struct hyb_node *node)
{
	return (int64_t *)(node + 1);
}

/*
 * Trace records of the current thread; ticks never decrease. `values`: of all metrics, or NULL.
 * `since`: ticks since the region of the sample was entered, HYB_WRITE_AGAIN for a further sample of an
 * instance.
 */
#define HYB_WRITE_AGAIN UINT64_MAX
void hyb_write_enter(struct hyb_write *w, uint64_t tick, uint32_t node, const int64_t *values);
/* `outer`: node of the region that is innermost then. */
void hyb_write_leave(struct hyb_write *w, uint64_t tick, uint32_t outer, const int64_t *values);
void hyb_write_sample(
	struct hyb_write *w, uint64_t tick, uint32_t node, uint64_t since, const int64_t *values);
void hyb_write_count(struct hyb_write *w, uint64_t tick, uint64_t counter, int64_t value);
void hyb_write_count_real(struct hyb_write *w, uint64_t tick, uint64_t counter, double value);
void hyb_write_marker(struct hyb_write *w, uint64_t tick, uint64_t text);
void hyb_write_mpi(struct hyb_write *w, uint64_t tick, const struct mpi_record *record);

#endif
