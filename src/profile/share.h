/*
 * Shares the time that probes ran, or the growth of a metric in them, out among their samples, by the rules
 * in profile.h. This is done over all merged locations of a program, because a short thread often has no
 * sample of its own. A location whose probe ran long has shared its time out itself, in place
 * (merge_values.c).
 */
#ifndef HYB_SHARE_H
#define HYB_SHARE_H

#include "profile/views/row_map.h"
#include "profile/views/tree.h"

#define SHARE_SOURCES 10u
#define SHARE_BY_OVERFLOW 8u /* source: samples of a metric's own overflow, whatever the clock was */
#define SHARE_IN_PLACE 9u /* source: nothing is shared out, amounts stay at their nodes */

/* What a program has at a node. */
struct share_row {
	const char *program; /* interned; NULL: in place */
	uint32_t source; /* enum hyb_source, or one of the above */
	uint32_t node; /* of the tree */
	/* to here it is the key */
	uint64_t amount; /* probes (in place: any): ns (of a metric: its unit) to be shared out */
	uint64_t weight; /* ns (units) that samples at this very node stand for */
};

/* Zero bytes are an empty, valid one. */
struct share {
	struct row_map rows; /* struct share_row */
};

/* Adds what a probe ran, and samples that were wanted every `period` ns. 0 or HYB_ENOMEM. */
int share_add_time(struct share *share, const char *program, unsigned source, uint32_t probe, uint64_t ns);
int share_add_samples(struct share *share, const char *program, unsigned source, uint32_t node,
	uint64_t samples, uint64_t period);

/* The tree was put in another order; map: new index by old one. 0 or HYB_ENOMEM. */
int share_move(struct share *share, const uint32_t *map);

/*
 * Adds all to ret_values[], by one of `count` nodes: of each probe, program and source exactly what was
 * added, in proportion to the weights; without any, to the probe itself. Amounts may be signed. `probe`: the
 * nearest probe at or above each node. Rounding depends on the order of the nodes. Nothing may be added any
 * more. 0 or HYB_ENOMEM.
 */
int share_out(struct share *share, const uint32_t *probe, size_t count, bool is_signed, uint64_t *ret_values);

void share_release(struct share *share);

#endif
