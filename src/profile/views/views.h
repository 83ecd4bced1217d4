/*
 * Other ways to look at a finished profile, as data. Names point into the
 * profile, which must live as long as a view.
 */
#ifndef HYB_VIEWS_H
#define HYB_VIEWS_H

#include "profile/profile.h"

/* What the views are made of: the tree of a profile, or another one in its form. */
struct profile_view {
	const struct profile_node *nodes; /* in depth-first order */
	const struct profile_value *values; /* of the metrics, or NULL */
	size_t count, metrics;
	bool callsites; /* each line is a row of its own */
	enum profile_sort sort;
};

/* That of all of a finished profile, good as long as it lives. */
struct profile_view profile_view(const struct profile *profile);

enum profile_by {
	PROFILE_BY_FUNCTION = 0,
	PROFILE_BY_LINE = 1, /* sampled lines; inclusive is meaningful for a profile of call sites */
	PROFILE_BY_MODULE = 2, /* probes without code are the row "[probes]" */
	PROFILE_BY_THREAD = 3, /* for a profile with split_locations; exclusive: what it ran */
	PROFILE_BY_FILE = 4, /* code and probes alike; what has no file, by its module */
};

/* By file: all code of a module of which no file is known. */
#define PROFILE_NO_FILE "[code without a file]"

/* What views are made into. */
struct profile_tree {
	struct profile_node *nodes; /* as profile_nodes() */
	struct profile_value *values; /* as profile_values(); NULL: none */
	size_t count;
	size_t metrics;
};

/*
 * A table: rows without a root. Kinds are PROBE, INCOMPLETE, or LEAF for code of any kind; inclusive times
 * and values count recursion once; over all rows exclusive and blocked times add up to the root's inclusive.
 * 0 or HYB_ENOMEM with *ret_rows untouched.
 */
int profile_flat(const struct profile *profile, enum profile_by by, enum profile_sort sort,
	struct profile_tree *ret_rows);
int profile_view_flat(const struct profile_view *view, enum profile_by by, enum profile_sort sort,
	struct profile_tree *ret_rows);
/* Rows with more weight come first, NAN last. 0 or HYB_ENOMEM. */
int profile_flat_order(struct profile_tree *rows, const double *weight);

/*
 * The tree upside down: below the root the functions (call sites: lines) where
 * time was spent, below them who called them. Inclusive time and samples of a
 * node are those that came by this way; exclusive time is that of a way's end.
 * Ways of more than PROFILE_REVERSE_DEPTH callers are cut there.
 */
#define PROFILE_REVERSE_DEPTH 200

/* 0 or HYB_ENOMEM with *ret_tree untouched. Samples of metrics gather on the way as those of the clock do. */
int profile_reverse(const struct profile *profile, struct profile_tree *ret_tree);
int profile_view_reverse(const struct profile_view *view, struct profile_tree *ret_tree);

/*
 * The calls of MPI and the ways that lead to them, all below them left out: `inclusive` is time in MPI,
 * and calls, messages and bytes are sums over all below, too. Without metrics. 0 or HYB_ENOMEM.
 */
int profile_mpi_tree(const struct profile *profile, struct profile_tree *ret_tree);
/* Siblings with more weight come first, NAN last. 0 or HYB_ENOMEM. */
int profile_tree_order(struct profile_tree *tree, const double *weight);
void profile_tree_release(struct profile_tree *tree);

#endif
