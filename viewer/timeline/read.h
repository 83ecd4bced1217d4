/* Timelines and messages of a snapshot, for jobs: they read events. */
#ifndef HYB_TIMELINE_READ_H
#define HYB_TIMELINE_READ_H

#include "viewer/snapshot/session.h"
#include "viewer/timeline/timeline.h"

/* What does not change with the window. Shared by jobs and the pane. */
struct timeline_base {
	unsigned references; /* of the thread that draws */
	struct snapshot *snapshot; /* kept */
	/* When the run of each location began, ns, in the location's own clock: by index of the snapshot.
	 * Runs begin with the first of their processes; clocks of other hosts that were not measured are set
	 * by real time. */
	uint64_t *origins;
	uint64_t length; /* ns from the first begin to the last end; at least 1 */
	uint32_t *locations; /* those that take part, indices of the snapshot */
	size_t location_count;
	/* Made by the first job; to be looked at when a timeline has come from one. */
	struct weave_tree tree;
	struct timeline_groups groups[GROUP_BYS];
};

/* With one reference; NULL: memory is out. */
struct timeline_base *timeline_base_new(struct snapshot *snapshot);
struct timeline_base *timeline_base_keep(struct timeline_base *base);
void timeline_base_drop(struct timeline_base *base); /* accepts NULL */
/* In a job: the tree and its groups, unless they are there. 0 or HYB_ENOMEM. */
int timeline_base_make(struct timeline_base *base);

/*
 * `locations`: by row, indices of the snapshot, each with own[]. 0, or enum hyb_result and *err; *ret is NULL
 * if it was stopped. The job's permille grows to 1000.
 */
int timeline_read(const struct timeline_base *base, const struct timeline_options *options,
	const uint32_t *locations, struct job *job, struct timeline **ret, struct hyb_error *err);

/* A message, from the begin of the call that sent it to the end of the one that got it; since the origin. */
struct timeline_message {
	uint64_t from, to;
	uint32_t sender, receiver; /* locations of the snapshot */
};

#define MESSAGES_MOST (4u << 20)

struct timeline_messages {
	struct timeline_message *items; /* by `from` */
	size_t count;
	uint64_t left_out; /* more than MESSAGES_MOST */
};

/* All of the traces with MPI. 0 or HYB_ENOMEM; what cannot be read has none. Also stops. */
int timeline_messages_read(const struct timeline_base *base, struct job *job, struct timeline_messages *ret);
void timeline_messages_release(struct timeline_messages *messages);

#endif
