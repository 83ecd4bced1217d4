/*
 * How a node of the profile is spread over threads, or processes: made of a profile with one tree a location,
 * so that each number is that of hybrid-report --by-thread. No drawing.
 */
#ifndef HYB_LOCATIONS_H
#define HYB_LOCATIONS_H

#include "viewer/app/app.h"

/* A thread's own tree of all that a snapshot has. */
struct locations {
	struct profile *profile; /* split by location */
	uint32_t *top; /* by index of snapshot.locations: its node there; 0: it does not take part */
	size_t count;
};

/* For jobs. 0 or enum hyb_result with *err; to be released in both cases. Zero bytes are an empty one. */
int locations_make(
	struct locations *l, const struct snapshot *snapshot, const struct job *job, struct hyb_error *err);
void locations_release(struct locations *l);

/* What a location has of the node, or of the function or line wherever it was called (recursion counts once).
 */
struct location_value {
	uint64_t inclusive, exclusive; /* ns; exclusive with what it was blocked */
	uint64_t samples, calls;
};

/* Of all locations: ret_values[count]; ret_metrics[count * metrics of the profile], or NULL. */
void locations_find(const struct locations *l, const struct snapshot *snapshot, const struct focus *focus,
	struct location_value *ret_values, struct profile_value *ret_metrics);

#endif
