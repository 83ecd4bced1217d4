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
	PROFILE_BY_FILE = 4, /* code and probes alike; what has no file, by its module */
};

/* By file: all code of a module of which no file is known. */
#define PROFILE_NO_FILE "[code without a file]"

struct profile_flat {
	struct profile_row *rows;
	struct profile_value
		*values; /* of the metrics, as profile_values(); recursion is counted once; NULL: none */
	size_t count;
	size_t metrics;
};

/* 0 or HYB_ENOMEM with *ret_flat untouched. */
int profile_flat(const struct profile *profile, enum profile_by by, enum profile_sort sort,
	struct profile_flat *ret_flat);
int profile_view_flat(const struct profile_view *view, enum profile_by by, enum profile_sort sort,
	struct profile_flat *ret_flat);
/* Rows with more weight come first, NAN last. 0 or HYB_ENOMEM. */
int profile_flat_order(struct profile_flat *flat, const double *weight);
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
	struct profile_value *values; /* as profile_values(); NULL: none */
	size_t count;
	size_t metrics;
};

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
