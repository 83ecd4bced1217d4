/*
 * The walk that all formats of events share. It takes one location after the other: enters and leaves in the
 * tree of call paths (see profile/weave.h), counters and markers; then the messages of MPI. In a window, what
 * is open at its start is entered there, and what is open at its end is left there. Memory is that of the
 * tree and of one location.
 */
#ifndef HYB_CONVERT_EVENTS_H
#define HYB_CONVERT_EVENTS_H

#include "converters/converter.h"
#include "base/strings.h"
#include "profile/views/row_map.h"
#include "profile/views/weave.h"

/* A process or thread that takes part. */
struct events_location {
	const struct hyb_location_info *info;
	const uint32_t *own; /* by node of the location: that of the tree; the profile's */
	uint32_t process; /* which one that takes part: 0, 1, 2 ... */
	bool first; /* of its process that takes part: counters of the process are its */
	uint32_t pid, tid; /* the kernel's, or numbers of our own where two would be the same */
	uint64_t origin; /* ns: when the experiment began, by its clock */
};

/* What goes along the time of a location. */
struct events_counter {
	const char *name, *unit; /* equal texts of a walk are equal pointers */
	uint32_t number; /* 0, 1, 2 ... in the location */
	bool process_wide;
	bool real; /* `real` of a value, else `integer` */
};

union events_value {
	int64_t integer;
	double real;
};

struct events_message {
	const struct events_location *from, *to;
	uint64_t sent, received; /* ns since the start: its call began to send; it was there */
	uint64_t bytes;
	int32_t tag;
};

/*
 * The callbacks of a format. All may be NULL. Times are ns since the experiment began, within the window, and
 * do not go back in a location. 0 or enum hyb_result; 1 from begin(): this location is left out.
 */
struct events_sink {
	int (*begin)(void *data, const struct events_location *location, uint64_t time);
	int (*enter)(void *data, uint64_t time, uint32_t node);
	int (*leave)(void *data, uint64_t time, uint32_t node);
	int (*sample)(void *data, uint64_t time, uint32_t node, const struct hyb_event *event);
	int (*counter)(
		void *data, uint64_t time, const struct events_counter *counter, union events_value value);
	int (*marker)(void *data, uint64_t time, const char *text);
	int (*end)(void *data, uint64_t time);
	int (*message)(void *data, const struct events_message *message);
	void *data;
};

struct events_walk {
	const struct convert_job *job;
	struct hyb_symbols *symbols;
	struct profile *profile;
	const struct profile_node *nodes; /* the tree; names and files that are equal are equal pointers */
	size_t node_count;
	uint8_t *kinds; /* by node: enum hyb_region_kind of a probe, else 0 */
	struct weave_tree tree;
	struct events_location *locations;
	size_t location_count;
	struct strings strings; /* names of counters */
	uint64_t done, total; /* records */
	bool cut; /* a location is not whole in the window */
	uint64_t outside; /* of them, not in the window */
	uint64_t gaps; /* records are missing */
	uint64_t no_numbers; /* values of counters: infinite, or not a number */
	uint64_t beyond; /* values of counters that the format has no number for: for sinks to count */
	uint64_t left_out; /* messages that are not of the window, or whose other end takes no part */
	uint64_t reported; /* `done` at the last report of progress */
};

/* 0, or enum hyb_result and *err; to be released in both cases. */
int events_walk_make(const struct convert_job *job, enum profile_mode mode, struct events_walk *walk,
	struct hyb_error *err);
void events_walk_release(struct events_walk *walk);

/* Makes all callbacks; then notes what was left out by job->note(). */
int events_walk_run(struct events_walk *walk, const struct events_sink *sink, struct hyb_error *err);

/* What a node is, for colours and filters; and its word. */
enum events_category {
	EVENTS_SAMPLED = 0,
	EVENTS_PROBE,
	EVENTS_MPI,
	EVENTS_WAIT,
	EVENTS_PYTHON,
	EVENTS_CATEGORIES
};
extern const char *const events_category_names[EVENTS_CATEGORIES];
enum events_category events_category_of(const struct events_walk *walk, uint32_t node);

/* Its name, also where it has none. */
const char *events_node_name(const struct events_walk *walk, uint32_t node);

/* "rank 3 program": what a process is called. */
void events_process_name(const struct hyb_process *process, char *text, size_t size);
/* The thread's own name, or "thread 17". */
void events_thread_name(const struct hyb_location_info *location, char *text, size_t size);

/* ---- The formats of events, each as struct converter.convert. */
int perfetto_write(const struct convert_job *job, struct hyb_error *err);
int chrome_write(const struct convert_job *job, struct hyb_error *err);
int firefox_write(const struct convert_job *job, struct hyb_error *err);

/* ---- convert_messages.c: the messages, for events_walk_run(). */
bool events_walk_has_messages(const struct events_walk *walk);
int events_walk_messages(struct events_walk *walk, const struct events_sink *sink, struct hyb_error *err);

/* ---- of convert_events.c, for that: */
/* Whether the time is in the window. */
bool events_in_window(const struct convert_bounds *bounds, uint64_t time);
/* Counts a record; looks from time to time whether to stop. 0, or enum hyb_result and *err. */
int events_walk_progress(struct events_walk *walk, struct hyb_error *err);

#endif
