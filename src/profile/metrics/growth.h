/*
 * Where in a location metrics grew that do not accrue with CPU time (struct hyb_metric: level, uneven): by
 * the values that its samples and probes read, one after the other. Samples alone do not tell: a line that
 * takes memory at once is sampled as often as any other that runs as long.
 *
 * What grew between two readings at the same place grew there. Between two places it is theirs as far as what
 * grew inside of each, per reading, says so; else that of the frame or probe that both are in. What no two
 * readings enclose stays with its probe.
 */
#ifndef HYB_GROWTH_H
#define HYB_GROWTH_H

#include "profile/views/row_map.h"
#include "profile/views/tree.h"

/* Of one location; zero bytes are an empty, valid one. */
struct growth {
	const struct hyb_location_info *location;
	const struct tree *tree;
	const uint32_t *own; /* by node of the location: that of the tree */
	struct row_map between; /* pairs of places: what grew between readings there */
	uint32_t from; /* place of the last reading, a node of the location; UINT32_MAX: none */
	uint64_t time; /* of the last reading, ns */
	int64_t values[16]; /* of the last reading */
};

void growth_init(struct growth *growth, const struct hyb_location_info *location, const struct tree *tree,
	const uint32_t *own);

/* The location's next event. 0 or HYB_ENOMEM. */
int growth_event(struct growth *growth, const struct hyb_event *event);

/* All of them. What cannot be read is as if it had not been recorded. 0 or HYB_ENOMEM. */
int growth_read(struct growth *growth, struct hyb_experiment *experiment);

/*
 * Tells where metric number `metric` grew: add() gets nodes of the tree, and amounts of which those in each
 * probe sum up to exclusive[probe] (by node of the location). 0 or what add() returned.
 */
int growth_place(const struct growth *growth, size_t metric, const int64_t *exclusive,
	int (*add)(void *data, uint32_t node, int64_t amount), void *data);

void growth_release(struct growth *growth);

#endif
