/*
 * The difference of two profiles: one tree in which nodes are matched by kind, name, file and line below the
 * matched parent; what has no file, by its module, if that is on both sides. Files and modules are paired by
 * same_files.h: a build in another directory is the same program. What is only in one has zeros for the
 * other. Sums hold on both sides as in a profile.
 */
#ifndef HYB_PROFILE_DIFF_H
#define HYB_PROFILE_DIFF_H

#include "profile/profile.h"

/* Amounts of a node or row. */
struct profile_values {
	bool present;
	uint64_t calls, skipped, samples;
	uint64_t inclusive, exclusive, blocked, ready, idle, idle_alone; /* ns, as in struct profile_node */
};

/* Of a node on both sides. */
struct profile_diff_pair {
	struct profile_values before, after;
	double change; /* ns: the largest by which an inclusive time at or below it changed; see
			  profile_diff_order() */
};

struct profile_diff;

/* Both profiles are finished; neither is needed afterwards. NULL when memory is out. */
struct profile_diff *profile_diff_new(const struct profile *before, const struct profile *after);
void profile_diff_free(struct profile_diff *diff); /* accepts NULL */

/* ns that are 100 %, of what is before, or else after: all but what was waited outside of all probes. */
uint64_t profile_diff_whole(const struct profile_diff *diff);

size_t profile_diff_count(const struct profile_diff *diff);
/*
 * Node 0 is the root; siblings with the largest `change` come first. Of a node only what says where and what
 * it is (file: after, if it is there; module: "" if the file is known), and what is after: calls, samples,
 * times.
 */
const struct profile_node *profile_diff_nodes(const struct profile_diff *diff);
const struct profile_diff_pair *profile_diff_pairs(const struct profile_diff *diff); /* by node */

/* The metrics that both have, in the order and with the facts of `after`; of all nodes their values, [node *
 * count + metric], NULL if there are none. */
const struct profile_metric *profile_diff_metrics(const struct profile_diff *diff, size_t *ret_count);
const struct profile_value *profile_diff_before(const struct profile_diff *diff);
const struct profile_value *profile_diff_after(const struct profile_diff *diff);

/* Other changes, by node, in the place of those of time: siblings are linked in their order (nodes keep their
 * indices). NAN counts as 0. 0 or HYB_ENOMEM. */
int profile_diff_order(struct profile_diff *diff, const double *change);

#endif
