/*
 * Finds where in a location metrics grew that do not accrue with CPU time (struct hyb_metric: level, uneven),
 * from the values that its samples and probes read one after the other. The number of samples does not show
 * it: a line that allocates memory at once is sampled as often as any other that runs as long.
 *
 * Growth between two readings at the same place belongs to that place. Growth between two places is divided
 * by how much each of them usually grows per reading; the rest belongs to the frame or probe that both are
 * in. Growth that no two readings enclose stays with its probe.
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
 * Calls add() with the nodes of the tree where metric number `metric` grew, and the amounts. Those in each
 * probe sum up to exclusive[probe] (by node of the location). 0 or what add() returned.
 */
int growth_place(const struct growth *growth, size_t metric, const int64_t *exclusive,
	int (*add)(void *data, uint32_t node, int64_t amount), void *data);

void growth_release(struct growth *growth);

#endif
