/*
 * What a timeline shows: for a window of time, divided into columns, where each of some threads was in each
 * of them, how much time the nodes of the tree got, a counter, markers. Made of the events of the threads,
 * one after the other, by a job; then only read. Times are ns since the run began.
 */
#ifndef HYB_TIMELINE_H
#define HYB_TIMELINE_H

#include "hybrid/reader.h"
#include "profile/profile.h"
#include "profile/views/bins.h"
#include "viewer/timeline/groups.h"

#define TIMELINE_MARKERS 1000u
#define TIMELINE_COUNTERS 64u

struct timeline_marker {
	uint64_t time;
	size_t row;
	char *text;
};

struct timeline_options {
	uint64_t from, to; /* ns; from < to */
	size_t columns, rows;
	/* Name of a metric, or of a counter of the program; NULL: none. */
	const char *counter;
};

struct timeline {
	uint64_t from, to;
	size_t columns, rows;
	uint64_t *edges; /* columns + 1: where they begin */
	/* [row * columns + column]: the node of the bin; 0: the thread, and no more is known; BIN_NOWHERE.
	 * Bands are its ancestors. */
	uint32_t *where;
	/* As profile_nodes(), with what was in the window: times (blocked time is in exclusive), samples,
	 * calls, messages. May be taken away, when `shares` are made. */
	struct profile_node *nodes;
	uint64_t shares[GROUP_BYS][GROUPS]; /* of that the time by group; of timeline_read() */
	size_t node_count;
	/* Of the counter, by column: growth a second of all rows together, or for what goes up and down its
	 * mean over time and rows. NAN: not known. NULL: none was asked for. */
	double *values;
	double least, most; /* of them */
	bool level;
	char *counter, *unit; /* unit: "" for plain numbers */
	char **counters; /* of the program, that were seen on the way */
	size_t counter_count;
	struct timeline_marker *markers;
	size_t marker_count, markers_left_out;
	uint64_t records, gaps; /* read up to the window's end */
};

/* `nodes`: as profile_nodes(); strings stay those of the profile. NULL: memory is out. */
struct timeline *timeline_new(
	const struct timeline_options *options, const struct profile_node *nodes, size_t count);
void timeline_free(struct timeline *timeline); /* accepts NULL */

/* The ancestor of a node at that depth (the root has 0), or the node itself if it is not as deep. */
uint32_t timeline_at_depth(const struct weave_tree *tree, uint32_t node, uint32_t depth);

/* ---- One thread on its way into a row. */
struct lane;

/* What lanes need, one after the other; 0 or HYB_ENOMEM. Zero bytes are an empty one. */
struct lanes {
	struct timeline *timeline;
	struct bins bins;
	double *sums, *covered; /* by column: of the counter, and ns of which it is known */
};
int lanes_init(struct lanes *lanes, struct timeline *timeline, const struct weave_tree *tree);
void lanes_release(struct lanes *lanes);

/* `metric`: the index of the counter among those of the process, or SIZE_MAX. NULL: memory is out. */
struct lane *lane_new(struct lanes *lanes, size_t row, const struct hyb_location_info *location,
	const uint32_t *own, uint64_t origin, size_t metric);
/* 1: the window is over, no more events are needed; 0; or HYB_ENOMEM. */
int lane_event(struct lane *lane, const struct hyb_event *event);
/* Up to the thread's end, and frees. */
void lane_end(struct lane *lane);

/* When all lanes have ended: sums. */
void timeline_finish(struct lanes *lanes);

#endif
