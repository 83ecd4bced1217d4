/*
 * Turns the events of a thread, samples and probes, into enters and leaves of nodes of a profile's tree,
 * which are monotonic in time and balanced (paper 003, section III.B). A sample moves the thread by the
 * difference of two paths; an exact enter by one step from what called it. Behind its leave the frames that
 * called it stay entered until something shows that they are gone: a sample, the path of another probe, or as
 * long a time without probes as the last sample was seen in, which goes to that one's frames. Behind a gap in
 * the trace what is open on both sides stays. For conversions and timelines. A weave is for one thread at a
 * time; the tree is shared.
 */
#ifndef HYB_WEAVE_H
#define HYB_WEAVE_H

#include "profile/profile.h"

/* The tree by node: of profile_nodes(), see profile_parts(). */
struct weave_tree {
	uint32_t *parent, *depth;
	size_t count;
	uint32_t deepest;
};

/* 0 or HYB_ENOMEM. */
int weave_tree_make(struct weave_tree *tree, const struct profile_node *nodes, size_t count);
void weave_tree_release(struct weave_tree *tree);

struct weave_options {
	bool frames; /* sampled frames are entered and left; else only probes are */
	/* May be NULL; at weave.time. `probe`: the node of the location that is entered or left, with its
	 * exact record, or NULL where that is missing; 0 and NULL for what only samples saw. */
	void (*enter)(void *data, uint32_t node, uint32_t probe, const struct hyb_event *event);
	void (*leave)(void *data, uint32_t node, uint32_t probe, const struct hyb_event *event);
	/* May be NULL. A sample at `node`, in front of the enters and leaves that it brings. */
	void (*sample)(void *data, uint32_t node, const struct hyb_event *event);
	/* May be NULL. An exact enter or leave of a probe, in front of the frames that end or begin with it.
	 */
	void (*record)(void *data, const struct hyb_event *event);
	void *data;
};

struct weave {
	const struct weave_tree *tree;
	struct weave_options options;
	const struct hyb_location_info *location;
	const struct hyb_node_info *nodes; /* the location's */
	const uint32_t *own; /* by node of the location: that of the tree */
	bool exact; /* the trace has enters and leaves */
	uint64_t time; /* of the last event */
	uint32_t current; /* where in the tree the thread is; 0: nowhere */
	uint32_t open; /* its innermost open probe, a node of the location; 0: none */
	uint32_t *path; /* as long as the tree is deep */

	/* A stretch is the time from one enter or leave of a probe to the next. */
	uint64_t since; /* it began */
	bool sampled; /* in it */
	bool away; /* the last sample's frames were left for a probe, and not entered again in this stretch */
	struct weave_place {
		uint32_t node; /* where the thread was last seen, in the innermost open probe */
		uint64_t seen; /* ns of the stretch in which a sample saw it; 0: none did */
	} last, *back; /* `back`, by open probe: what it was outside of that */
};

/* 0 or HYB_ENOMEM; to be released in both cases. Pointers have to live as long. */
int weave_init(struct weave *weave, const struct weave_tree *tree, const struct hyb_location_info *location,
	const uint32_t *own, const struct weave_options *options);
void weave_release(struct weave *weave);

/* Moves the time forward to that of the next event; call it before handling that event outside of the weave.
 * The enters and leaves that this causes have the time weave.time, that of the last event. */
void weave_until(struct weave *weave, uint64_t time);

/* Takes SAMPLE, ENTER, LEAVE and COMPLETE; of all other kinds only the time, and that of MPI's the open
 * probe. */
void weave_event(struct weave *weave, const struct hyb_event *event);

/* Leaves everything, at the end of the location or where its last event was. */
void weave_finish(struct weave *weave);

#endif
