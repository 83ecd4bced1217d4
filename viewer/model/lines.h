/*
 * What each line of source cost, wherever it was called from: of all of a profile, made in one pass. Pure
 * data, with strings of its own: the profile may go.
 */
#ifndef HYB_LINES_H
#define HYB_LINES_H

#include <stdatomic.h>

#include "base/strings.h"
#include "profile/profile.h"

/* A line of a file; sums over its functions. */
struct line_cost {
	const char *file;
	unsigned line;
	bool python;
	uint8_t kind; /* enum profile_kind of the part that `name` is of: LEAF, PROBE or INTERMEDIATE */
	const char *name, *module; /* of the function with the most time in it */
	bool several; /* functions */
	uint64_t calls, samples;
	uint64_t exclusive, waited; /* ns */
	/* ns; recursion is counted once. Of lines that call it is known in the mode of call sites only. */
	uint64_t inclusive, idle; /* `idle` of it is no part of what 100 % is */
};

/* Zero bytes are an empty, valid one. */
struct lines {
	struct line_cost *items; /* by file (strcmp) and line */
	size_t count;
	uint64_t total; /* ns that are 100 % */
	struct strings strings;
};

/* 0, HYB_ENOMEM, or 1 if `stop` (may be NULL) was set meanwhile: *ret is then untouched. */
int lines_make(const struct profile *profile, atomic_bool *stop, struct lines *ret);
void lines_release(struct lines *lines);

/* Those of a file, by line; NULL and 0 if there are none. */
const struct line_cost *lines_of(const struct lines *lines, const char *file, size_t *ret_count);

/* The one of that line among these, or NULL. */
const struct line_cost *lines_at(const struct line_cost *of_file, size_t count, unsigned line);

/*
 * The next line (direction 1) or previous (-1) of them that is hot: has a tenth or more of the time of the
 * hottest of the file. The hottest itself with 0. 0: there is none.
 */
unsigned lines_hot(const struct line_cost *of_file, size_t count, unsigned line, int direction);

#endif
