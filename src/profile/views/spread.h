/*
 * How the time of each node of the tree is spread over the ranks. One rank is
 * held at a time; what stays are running sums, in whole numbers, which do not
 * depend on the order of the ranks or of the nodes.
 *
 * A rank's time in a probe is what was measured. Its time in a frame below is that of the probes below the
 * frame, plus its share of what the probe above ran, by this rank's own samples.
 */
#ifndef HYB_SPREAD_H
#define HYB_SPREAD_H

#include "profile/views/tree.h"

/* What the rank that is being added has at a node of the tree itself. */
struct spread_now {
	uint64_t fixed; /* ns that are no sample's: blocked, or not sampled */
	uint64_t amount; /* probes: ns to be shared out */
	uint64_t weight; /* ns that samples at this very node stand for */
	uint64_t whole; /* probes: of all their samples; the rest is for the fold */
	uint32_t probe; /* the nearest one at or above */
	bool touched;
};

/* By node of the tree. Zero bytes are an empty, valid one. */
struct spreads {
	struct profile_spread *rows;
	struct spread_now *now;
	size_t count; /* nodes for which there is room */
	uint32_t *touched; /* nodes of the current rank, and all above them */
	size_t touched_count, touched_room;
};

/* Makes a row for each node that the tree has. 0 or HYB_ENOMEM. */
int spreads_cover(struct spreads *spreads, const struct tree *tree);

/* Adds to a node of the current rank. 0 or HYB_ENOMEM. */
int spreads_add(
	struct spreads *spreads, const struct tree *tree, uint32_t node, const struct spread_now *what);

/* The current rank is complete: adds it to the rows, and begins a new one. */
void spreads_fold(struct spreads *spreads, const struct tree *tree, uint32_t rank);

/* It was no rank: begins a new one without it. */
void spreads_forget(struct spreads *spreads);

void spreads_release(struct spreads *spreads);

/* Adds one rank's time, or another sum. */
void spread_add(struct profile_spread *spread, uint64_t ns, uint32_t rank);
void spread_merge(struct profile_spread *spread, const struct profile_spread *other);

#endif
