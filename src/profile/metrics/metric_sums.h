/*
 * The sums of metrics by node of the tree: kept while locations are added, then shared out and summed up. The
 * rules are in profile.h.
 */
#ifndef HYB_METRIC_SUMS_H
#define HYB_METRIC_SUMS_H

#include "base/strings.h"
#include "profile/share.h"
#include "profile/views/spread.h"

struct metric {
	struct profile_metric what;
	uint32_t place; /* the smallest index that a process has it at */
	struct share growth; /* to be shared out, signed */
	struct share samples; /* by its overflow: amounts */
};

/* Zero bytes are an empty, valid one. */
struct metric_sums {
	struct metric *rows; /* in the order in which they came; sorted by metric_sums_finish() */
	size_t count;
	struct profile_metric *finished; /* the result of profile_metrics() */
	struct profile_value
		*values; /* by node, then metric; NULL before metric_sums_finish(), and without metrics */
};

/* Where the metrics of a location go. */
struct metric_sums_target {
	const struct tree *tree;
	struct strings *strings;
	const char *program; /* that the location ran, interned */
	const uint32_t *own; /* by node of the location: the node of the tree that has its values */
	bool speaks; /* this location has the values of its process's metrics (process_wide) */
	struct spreads *spreads; /* receives the rank's values of one metric; NULL: not wanted */
	const char *spread_name; /* the name of that metric; NULL: none */
	struct hyb_experiment *experiment; /* where its events are; NULL: there are none */
};

/* The row of that name with the facts of `like` joined in; strings are interned. NULL when memory is out. */
struct metric *metric_sums_row(
	struct metric_sums *metrics, const struct profile_metric *like, uint32_t place);

/* All add; 0 or HYB_ENOMEM. */
int metric_sums_add_location(struct metric_sums *metrics, const struct hyb_location_info *location,
	const struct metric_sums_target *target);
int metric_sums_add_process(
	struct metric_sums *metrics, struct strings *strings, const struct hyb_process *process);

/* Puts rows of `metrics` values in another order; map: new index by old one. Nothing if there are none. 0 or
 * HYB_ENOMEM. */
int values_move(struct profile_value **values, size_t metrics, const uint32_t *map, size_t count);

/* The tree was put in another order; map: new index by old one. 0 or HYB_ENOMEM. */
int metric_sums_move(struct metric_sums *metrics, const uint32_t *map, size_t count);

/* Shares out and sums up; `probe`: the nearest probe at or above each node. 0 or HYB_ENOMEM. */
int metric_sums_finish(struct metric_sums *metrics, const struct tree *tree, const uint32_t *probe);

/* inclusive = exclusive + sum of the children's inclusive, for `metrics` values a node; parents in front. */
void metric_sums_sum(
	struct profile_value *values, size_t metrics, const struct profile_node *nodes, size_t count);

void metric_sums_release(struct metric_sums *metrics);

#endif
