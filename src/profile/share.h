/*
 * Shares the time that probes ran out among their samples, by the rules in
 * profile.h: over all locations that were merged, not for each alone, because a
 * short thread has no sample of its own as often as not.
 */
#ifndef HYB_SHARE_H
#define HYB_SHARE_H

#include "profile/tree.h"

#define SHARE_SOURCES 8u

struct share_value {
	uint64_t amount; /* probes: ns to be shared out */
	uint64_t weight; /* ns that samples at this very node stand for */
};

/* By source (enum hyb_source) and node of the tree. Zero bytes are an empty, valid one. */
struct share {
	struct share_value *values[SHARE_SOURCES]; /* NULL: nothing of that source */
	size_t count[SHARE_SOURCES];
};

/* Adds what a probe ran, and samples that were wanted every `period` ns. 0 or HYB_ENOMEM. */
int share_add_time(
	struct share *share, const struct tree *tree, unsigned source, uint32_t probe, uint64_t ns);
int share_add_samples(struct share *share, const struct tree *tree, unsigned source, uint32_t node,
	uint64_t samples, uint64_t period);

/*
 * Adds all to the tree's exclusive times: of each probe and source exactly what
 * was added, in proportion to the weights; without any, to the probe itself.
 * Puts the tree in an order that does not depend on what was added first, so
 * that rounding does not either. 0 or HYB_ENOMEM.
 */
int share_out(struct share *share, struct tree *tree);

void share_release(struct share *share);

#endif
