/* Values of metrics in the tree of a location, and where its open regions were entered. */
#ifndef HYB_READER_METRICS_H
#define HYB_READER_METRICS_H

#include "reader/process.h"

/* The contents of a location's METRICS chunks. */
struct metrics {
	const struct process *process;
	bool sound; /* it is known which value is of which metric: there are metrics, and no sign of others */
	int64_t last[HYB_METRICS_MAX]; /* at the latest known moment */
	int64_t *entered; /* where each open region was entered: a row of metric_count for each level */
	size_t levels; /* that are known of, from 0 on */
	bool lost; /* of others there should be values */
	uint32_t *open; /* nodes of open regions: index */
	size_t open_count;
};

/*
 * Reads the chunks of one location whose region stack is given. `last`: tick of hyb_metrics.last. HYB_OK or
 * HYB_ENOMEM; to be released in either case.
 */
int metrics_load(struct metrics *m, const struct process *p, struct chunk **chunks, size_t count,
	const struct hyb_open *stack, size_t depth, uint64_t last);

void metrics_release(struct metrics *m);

/* Takes the values behind a node as it lies in the file, of the cells that are due. False: no memory. */
bool metrics_fill_node(const struct process *p, struct hyb_node_info *node, const uint8_t *raw);

/* The node is a probe that is open at that level: its values grow by what they did since, or become unknown.
 */
void metrics_add_open(struct metrics *m, struct hyb_node_info *nodes, uint32_t index, size_t level);

/*
 * Where regions were open, the last reading may be older than what probes below have counted since: open
 * regions have grown at least as much as these, as far as metrics only grow. HYB_OK or HYB_ENOMEM.
 */
int metrics_finish(
	const struct metrics *m, const struct hyb_location_info *info, struct hyb_node_info *nodes);

#endif
