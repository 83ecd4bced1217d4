/*
 * Other ways to look at a finished profile, as data. Names point into the
 * profile, which must live as long as a view.
 */
#ifndef HYB_VIEWS_H
#define HYB_VIEWS_H

#include "profile/profile.h"

/* A row of a flat view. */
struct profile_row {
	uint8_t kind; /* enum profile_kind: PROBE, INCOMPLETE, or LEAF for code of any kind */
	bool guess;
	bool python; /* as in struct profile_node */
	const char *name, *file, *module;
	unsigned line;
	uint64_t calls, samples;
	uint64_t inclusive; /* ns; recursion is counted once */
	uint64_t exclusive, blocked; /* ns; over all rows they add up to the root's inclusive */
};

enum profile_by {
	PROFILE_BY_FUNCTION = 0,
	PROFILE_BY_LINE = 1, /* sampled lines; inclusive is meaningful for a profile of call sites */
	PROFILE_BY_MODULE = 2, /* probes without code are the row "[probes]" */
	PROFILE_BY_THREAD = 3, /* for a profile with split_locations; exclusive: what it ran */
};

struct profile_flat {
	struct profile_row *rows;
	size_t count;
};

/* 0 or HYB_ENOMEM with *ret_flat untouched. */
int profile_flat(const struct profile *profile, enum profile_by by, enum profile_sort sort,
	struct profile_flat *ret_flat);
void profile_flat_release(struct profile_flat *flat);

/*
 * The tree upside down: below the root the functions (call sites: lines) where
 * time was spent, below them who called them. Inclusive time and samples of a
 * node are those that came by this way; exclusive time is that of a way's end.
 * Ways of more than PROFILE_REVERSE_DEPTH callers are cut there.
 */
#define PROFILE_REVERSE_DEPTH 200
struct profile_tree {
	struct profile_node *nodes; /* as profile_nodes() */
	size_t count;
};

/* 0 or HYB_ENOMEM with *ret_tree untouched. */
int profile_reverse(const struct profile *profile, struct profile_tree *ret_tree);
void profile_tree_release(struct profile_tree *tree);

#endif
