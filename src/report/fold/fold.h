/* The view --fold: many instances of a region as one; see analysis/fold.h. */
#ifndef HYB_REPORT_FOLD_H
#define HYB_REPORT_FOLD_H

#include "analysis/fold/fold.h"
#include "profile/metrics/columns.h"
#include "profile/views/tree.h"
#include "report/report.h"

#define FOLD_LABEL 512 /* bytes of what a place is called */

/* A metric as it is shown; in `curve` points and what it is made of are missing if it was derived of others.
 */
struct report_fold_column {
	const char *name, *unit; /* unit "": a plain number */
	enum fold_kind kind;
	bool estimated, derived;
	const struct fold_curve *curve; /* NULL: derived */
	double rate[FOLD_ROWS], low[FOLD_ROWS], high[FOLD_ROWS]; /* per second; LEVEL and derived: as it is */
};

struct report_fold {
	struct fold fold;
	struct profile *profile; /* names belong to it */
	struct tree below; /* node 0 is the region; what is below it, by whatever path it was called */
	struct profile_node region;
	const char *along; /* metric that is taken for time, or NULL */
	struct column_set set; /* from the options */
	struct report_fold_column *columns;
	size_t column_count;
};

/*
 * Finds the region in the finished profile of the inputs and folds it. To be freed by the caller; NULL: an
 * error; *err has a line with what to do, empty if it was printed. The inputs outlive it.
 */
struct report_fold *report_fold_make(
	const struct report_inputs *inputs, const struct profile *profile, struct hyb_error *err);
void report_fold_free(struct report_fold *fold); /* accepts NULL */

/* The one region of a finished profile that `wanted` may mean; NULL: none, or several, and *err names some.
 */
const struct profile_node *report_fold_region(
	const struct profile *profile, const char *wanted, struct hyb_error *err);

/* Makes the columns: CPU time; then what was asked for, or (not `chosen`) all that was measured. 0 or
 * HYB_ENOMEM. */
int report_fold_columns(struct report_fold *fold, bool chosen);

/* Seconds of the mean instance. */
double report_fold_seconds(const struct report_fold *fold);

/* "name:file:line", or "name (file:line)" of a probe, with the last part of the path of its file. */
const char *report_fold_label(const struct profile_node *node, char text[FOLD_LABEL]);

/* "a > b > leaf": what the region called on the way to a place, which is the last (the region itself has its
 * own name); the outer ones are left out where there is no room. The text is returned. */
const char *report_fold_path(const struct report_fold *fold, uint32_t place, char *text, size_t size);

/* What is most in a row; NULL: there are no samples. *ret_share: its part of the row. */
const struct fold_place *report_fold_hot(const struct report_fold *fold, unsigned row, double *ret_share);

/* By how much a curve rises from x to x + width, for 1: the whole instance in units of its growth; LEVEL: its
 * mean value. */
double report_fold_rise(const struct report_fold_column *column, double x, double width);

/* "12.3k", with three digits. The buffer is returned. */
const char *report_fold_number(double v, char text[FIGURE_SIZE]);

/* report/fold/text.c: the view as text. */
void report_fold_text(struct style *style, const struct report_fold *fold);

/* report/fold/files.c: for programs. */
void report_fold_json(struct json *json, const struct report_fold *fold);
void report_fold_csv(FILE *out, const struct report_fold *fold);

/* report/fold/svg.c: 0, or -1 with errno set. A file that is there is replaced, when the new one is whole. */
int report_fold_svg(const struct report_fold *fold, const char *path);

#endif
