/* Trees and tables with metrics as columns: computes the cells, the order and the widths that text, JSON and
 * CSV print. */
#ifndef HYB_REPORT_SHEET_H
#define HYB_REPORT_SHEET_H

#include "profile/metrics/columns.h"
#include "profile/views/fields.h"
#include "report.h"

/* Makes the columns that the options ask for, of these metrics. Wrong ones are reported on standard error. 0,
 * -1 or HYB_ENOMEM. */
int report_columns(struct column_set *set, const struct report_options *options,
	const struct profile_metric *metrics, size_t count);

/* A column of the text. */
struct sheet_column {
	const struct field *field; /* NULL: a metric, or time in its place */
	size_t metric; /* column of the set whose name stands above it; SIZE_MAX: none */
	bool alone; /* a metric's exclusive value */
	bool blank; /* where it is 0 */
	bool hot; /* large shares are coloured */
	int width; /* < 0: from the left */
	const char *heading;
	unsigned drop; /* if there is no room, columns with the lowest number are left out first; 0: never
			  left out */
};

/* The values of all columns for all nodes. One more row behind the last one holds the sum of what is left
 * out. */
struct sheet {
	/* Set by whoever makes it: */
	const struct report_options *options;
	const struct column_set *set;
	const struct profile_node *nodes; /* of a tree, or the rows of a table */
	const struct profile_value *values;
	size_t count;
	bool is_tree;
	/* Of a difference: its sides, and (after) the sheet of before; else NULL. */
	const struct profile_diff_pair *pairs;
	struct sheet *base;
	size_t column; /* what order, threshold and shares are of */
	/* Made: */
	size_t metrics;
	double *inclusive, *exclusive; /* node * set->count + column */
	double *size; /* by node: the value that is compared with the threshold and gives the share */
	double whole; /* the value of `size` that is 100 % */
	bool by_exclusive; /* order and `size` are by the exclusive value */
	unsigned view; /* enum field_view */
	uint64_t time, time_whole, least; /* ns: of all; that are 100 %; what is less is left out */
	struct profile_values rest; /* of the row behind the last: its inclusive time */
	const struct report_over *over; /* what nodes have over the ranks; or NULL */
	/* of the text: */
	const struct field_column *list; /* what is shown; NULL: fields of the view, and metrics */
	struct sheet_column *columns;
	size_t column_count;
	double *units; /* by column: ns that a printed 1.0 stands for, of times */
	bool overflows; /* samples are those of the first column's overflow */
};

/* 0 or HYB_ENOMEM; sheet_release() is due in both cases. */
int sheet_make(struct sheet *sheet);
void sheet_release(struct sheet *sheet);

/* By what nodes are to be ordered: the first column of a sheet that is not made yet. To be freed; NULL when
 * memory is out. */
double *sheet_weights(struct sheet sheet, bool by_exclusive);

/* So many ns are all time; shares and threshold are of it without what is idle: threads that only wait must
 * not hide others. */
void sheet_set_whole(struct sheet *sheet, uint64_t time, uint64_t idle);

/* What a node has of the profile, or of its side of a difference. */
struct profile_values sheet_values(const struct sheet *sheet, size_t i);

/* Whether something reaches the threshold; of a difference: a change at or below it. */
bool sheet_shows(const struct sheet *sheet, size_t i);
/* Percent of the whole: of a value of what sizes go by; of a thing's size. */
double sheet_share(const struct sheet *sheet, double value);
double sheet_size_share(const struct sheet *sheet, size_t i);
/* Of a difference: by how much what sizes go by changed in a node; of time in ns, exactly. */
double sheet_change(const struct sheet *sheet, uint32_t node);
/* A thing, or what is left out, as fields see it. */
struct field_row sheet_row(const struct sheet *sheet, size_t i);

/* Text: which columns have room (`time_width`: of a time with its blank), the lines of headings, and the
 * cells of a thing; columns taken. 0 or HYB_ENOMEM. */
int sheet_lay_out(struct sheet *sheet, const struct style *style, int time_width);
void sheet_heading(const struct sheet *sheet, const struct style *style, const char *name);
int sheet_cells(const struct sheet *sheet, const struct style *style, size_t i);

/* Tables with columns of their own: the line of headings, and the cells of a row; columns taken. */
void list_heading(
	const struct style *style, const struct field_column *list, int time_width, const char *name);
int list_cells(const struct style *style, const struct field_column *list, int time_width,
	const struct field_row *row);

/* report/diff.c: the difference of two profiles, with the metrics that both have. */
struct difference {
	struct sheet before, after; /* `after` is what is shown */
};

/* Puts nodes in the order of the changes of the first column. 0 or HYB_ENOMEM; the other two must live as
 * long. */
int difference_make(struct difference *difference, const struct report_options *options,
	struct profile_diff *diff, const struct column_set *set);
void difference_release(struct difference *difference);

/* report/tree.c: a tree, and a table. 0 or HYB_ENOMEM. */
int report_tree(struct style *style, struct sheet *sheet);
int report_flat(struct style *style, struct sheet *sheet);
/* A tree under a heading; `time_width` as above. */
int sheet_tree(struct style *style, struct sheet *sheet, int time_width, const char *name);

/* report/machine.c */
int report_json_tree(struct json *json, const struct sheet *sheet);
int report_csv_tree(FILE *out, const struct sheet *sheet);
int report_json_rows(struct json *json, const struct sheet *sheet);
int report_csv_rows(FILE *out, const struct sheet *sheet);

/* Makes the row behind the last that of all children together that are not visible. 0 or HYB_ENOMEM. */
int sheet_sum_hidden(struct sheet *sheet, const struct walker *walker, uint32_t parent);

/* The member "metrics" of a thing, if there are any; of CSV the heading's (names with `prefix` in front) and
 * a thing's part. */
void sheet_json(struct json *json, const struct sheet *sheet, size_t i);
void sheet_csv_heading(struct csv *csv, const struct column_set *set, const char *prefix);
void sheet_csv(struct csv *csv, const struct sheet *sheet, size_t i);

#endif
