/* Metrics as columns of trees and tables. */
#ifndef HYB_REPORT_SHEET_H
#define HYB_REPORT_SHEET_H

#include "profile/metrics/columns.h"
#include "report.h"

/* The columns of these metrics that the options ask for, said on standard error if they are wrong. 0, -1 or
 * HYB_ENOMEM. */
int report_columns(struct column_set *set, const struct report_options *options,
	const struct profile_metric *metrics, size_t count);

/* A row of what is shown: nodes of a tree, or rows of a table. */
struct sheet_thing {
	uint64_t inclusive, exclusive; /* ns; exclusive: and blocked */
	uint64_t calls, samples;
	uint32_t parent; /* of a tree */
	bool is_tree;
};

/* Values of all columns for all things; one more row, behind the last, is for what is left out. */
struct sheet {
	const struct column_set *set;
	const void *things;
	void (*get)(const void *things, size_t i, struct sheet_thing *ret);
	const struct profile_value *values;
	size_t count, metrics;
	double *inclusive, *exclusive; /* thing * set->count + column */
	double *size; /* by thing: by what it is shown, and which share it is */
	double whole; /* 100 % of that */
	bool by_exclusive; /* order and size are those of the thing alone */
	/* of the text: */
	bool *alone; /* by shown column: whether the exclusive one has room */
	double *units; /* by column: ns that a printed 1.0 stands for, of times */
	bool overflows; /* samples are those of the first column's overflow */
	bool reverse; /* a tree upside down: what nodes have alone says nothing */
	bool time, calls, samples; /* which others have room */
};

/* 0 or HYB_ENOMEM. */
int sheet_make(struct sheet *sheet, const struct column_set *set, const struct profile_value *values,
	const void *things, size_t count, void (*get)(const void *things, size_t i, struct sheet_thing *ret),
	bool by_exclusive);
void sheet_release(struct sheet *sheet);

/* By what things are to be ordered: those of the first column. To be freed; NULL when memory is out. */
double *sheet_weights(const struct sheet *sheet);

void sheet_get_node(const void *nodes, size_t i, struct sheet_thing *ret);
void sheet_get_row(const void *rows, size_t i, struct sheet_thing *ret);

/* Percent of the whole. */
double sheet_share(const struct sheet *sheet, double value);

/* Text: which columns have room, the two lines of headings, and the cells of a thing; columns taken. */
void sheet_lay_out(struct sheet *sheet, const struct style *style);
void sheet_heading(const struct sheet *sheet, const struct style *style, const char *name);
int sheet_cells(const struct sheet *sheet, const struct style *style, size_t i);
/* A column's name and unit (`unit`: of times, ns that a printed 1.0 stands for) above all that stands below.
 */
void sheet_name(const struct style *style, const struct column *column, double unit, int width);

/* The first column alone, for a table that is all of it: its width, a value of it (hot by its share,
 * percent), and what it is. */
int sheet_first_width(const struct sheet *sheet);
int sheet_first_value(const struct sheet *sheet, const struct style *style, double value, double share);
void sheet_first_name(const struct sheet *sheet, const struct style *style);

/* report/tree.c: a tree, and a table, of metrics. The tree: 0 or HYB_ENOMEM. */
int report_tree_of_metrics(struct style *style, const struct report_options *options,
	const struct profile_node *nodes, struct sheet *sheet);
void report_flat_of_metrics(struct style *style, const struct report_options *options,
	const struct profile_flat *flat, struct sheet *sheet);

/* Adds up some into zeros; then the row behind the last is that of the sum. */
void sheet_sum_add(const struct sheet *sheet, struct profile_value *sum, double *seconds, size_t i);
void sheet_sum_end(struct sheet *sheet, const struct profile_value *sum, double seconds);

/* ,"metrics":{...} of a thing, for JSON; of CSV the heading's (names with `prefix` in front) and a thing's
 * part. */
void sheet_json(FILE *out, const struct sheet *sheet, size_t i);
void sheet_csv_heading(FILE *out, const struct column_set *set, const char *prefix);
void sheet_csv(FILE *out, const struct sheet *sheet, size_t i);

#endif
