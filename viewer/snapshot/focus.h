/* The thing that the cursor of the main pane is on. It outlives the pane's data and the snapshot that it was
 * made from. */
#ifndef HYB_FOCUS_H
#define HYB_FOCUS_H

#include "viewer/snapshot/session.h"

#define NO_NODE UINT32_MAX

/* Zero bytes: nothing. */
struct focus {
	uint8_t kind; /* enum profile_kind; 0: nothing */
	bool python;
	/* A copy has its own; else they are the caller's. NULL only of nothing. */
	const char *name, *file, *module;
	unsigned line; /* 0: not known */
	/* Of the profile of the snapshot of that serial, to be asked for by focus_node(). NO_NODE: a function
	 * (line 0), or a line, wherever it is called from. */
	uint32_t node;
	uint64_t serial;
};

/* 0, or HYB_ENOMEM: the copy is nothing then. */
int focus_copy(struct focus *copy, const struct focus *focus);
void focus_release(struct focus *copy); /* it is nothing then */
bool focus_is(const struct focus *a, const struct focus *b);

/* On a node of the snapshot's profile, which lends its strings. */
struct focus focus_of_node(const struct snapshot *snapshot, uint32_t node);

/* Its node in the profile of that snapshot, or NO_NODE, as for any but its own. */
uint32_t focus_node(const struct focus *focus, const struct snapshot *snapshot);

/* Finds what a copy is of `from` in the snapshot that takes its place; it is nothing if that is not there, or
 * memory is out. */
void focus_carry(struct focus *copy, const struct snapshot *from, const struct snapshot *to);

#endif
