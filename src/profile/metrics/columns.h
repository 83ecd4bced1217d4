/*
 * What may be shown of each node beside its name: the metrics that were measured, time in seconds, and
 * metrics derived from these by definitions
 *
 *     NAME = EXPRESSION
 *     NAME [UNIT] = EXPRESSION
 *
 * with expressions as in derive.h, which may use what was defined before. For whatever shows or converts a
 * profile; neither prints nor reads files.
 */
#ifndef HYB_COLUMNS_H
#define HYB_COLUMNS_H

#include "profile/metrics/derive.h"
#include "profile/profile.h"

struct column {
	char *name, *unit; /* unit: "" for plain numbers */
	char *expression; /* NULL: measured, or time */
	struct derive *derive; /* NULL: measured, or time */
	bool ratio; /* of parts, values do not add up to that of the whole: no shares of it */
	bool level; /* growth of what goes up and down */
	bool estimated; /* or derived from what is */
};

/* Zero bytes are an empty, valid one. */
struct column_set {
	struct column *items; /* the measured ones in their order, time, then the derived ones */
	size_t count;
	size_t metrics; /* measured ones; items[metrics] is time */
	size_t *shown; /* items that were asked for, in that order */
	size_t shown_count;
};

/* What is wrong, without a newline at the end; a second and third line point into an expression. */
struct column_error {
	char text[1024];
};

/* 0 or HYB_ENOMEM. */
int columns_init(struct column_set *set, const struct profile_metric *metrics, size_t count);
void columns_release(struct column_set *set);

/*
 * Shows what a list asks for: names and definitions separated by commas; those between "..." do not separate.
 * 0, or -1 and *ret_error.
 */
int columns_show(struct column_set *set, const char *list, struct column_error *ret_error);

/* The name that such a list begins with, cut to `size`: what a profile is to be made for. Of a definition all
 * of it, which is the name of no metric. */
void columns_first(const char *list, char *ret_name, size_t size);

/*
 * The definition in one line of a file; empty lines, and what follows a '#' at a line's beginning, are none.
 * 0; 1 and *ret_error if it needs what was not measured: it is left out; -1 and *ret_error if it is wrong.
 * *ret_column: what it defined, else SIZE_MAX.
 */
int columns_define_line(
	struct column_set *set, const char *line, size_t *ret_column, struct column_error *ret_error);

/* Also shows one that is there. 0 or -1 with *ret_error. */
int columns_add_shown(struct column_set *set, size_t column, struct column_error *ret_error);

/* Values of all columns, `count` each, of what has these values of the metrics (or NULL) and so many seconds.
 * NAN: not defined. */
void columns_evaluate(const struct column_set *set, const struct profile_value *values, double inclusive,
	double exclusive, double *ret_inclusive, double *ret_exclusive);

#endif
