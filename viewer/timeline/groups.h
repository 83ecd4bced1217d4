/*
 * Groups of nodes for the colours of a timeline: by function, file or module. The largest ones have a band
 * (colour and letter) of their own, the others share the last one. Made of a whole profile, so that a zoom
 * does not change colours.
 */
#ifndef HYB_TIMELINE_GROUPS_H
#define HYB_TIMELINE_GROUPS_H

#include "base/strings.h"
#include "profile/profile.h"

enum group_by { GROUP_BY_FUNCTION = 0, GROUP_BY_FILE, GROUP_BY_MODULE, GROUP_BYS };

#define GROUPS 12u /* bands; the last one is of all others, if there are more */

struct timeline_groups {
	struct strings strings; /* names */
	const char *names[GROUPS];
	size_t count; /* bands that are used */
	bool others; /* the last one is of several groups */
	uint8_t *band; /* by node */
	size_t node_count;
};

/* 0 or HYB_ENOMEM. */
int groups_make(
	struct timeline_groups *groups, const struct profile_node *nodes, size_t count, enum group_by by);
void groups_release(struct timeline_groups *groups);

/* Adds up by band the time that was spent in the nodes themselves. */
void groups_sum(
	const struct timeline_groups *groups, const struct profile_node *nodes, uint64_t sums[GROUPS]);

/* "file", "module", "function". */
const char *group_by_name(enum group_by by);

#endif
