/*
 * A tree as the rows that are visible: it keeps which nodes are open, the order, the threshold and the root.
 * Knows numbers and names, nothing of screens. Children are sorted when their parent is open, and not before;
 * nothing is done for nodes that are not shown. One thread.
 */
#ifndef HYB_TREE_VIEW_H
#define HYB_TREE_VIEW_H

#include <regex.h>

#include "profile/metrics/columns.h"
#include "profile/metrics/figures.h"
#include "profile/profile.h"
#include "profile/views/fields.h"

#define TREE_NONE UINT32_MAX
#define TREE_ROWS_MAX 50000u /* that opening a whole subtree adds at most */
#define TREE_INDENT_MAX 32u /* levels that are indented; deeper ones stand at the last */
#define TREE_BACK_MAX 32u

/* What rows are made of: the caller's, not changed. */
struct tree_source {
	const struct profile_node *nodes; /* in depth-first order; node 0 is the root */
	size_t count;
	const struct profile_value *values; /* of the metrics of `columns`, or NULL */
	const struct column_set *columns; /* or NULL */
	/* NULL: no difference. Else nodes and `values` have what is after. */
	const struct profile_diff_pair *pairs;
	const struct profile_value *before; /* of the metrics then, or NULL */
	const uint64_t *child_calls; /* by node: calls of the nearest probes below */
	uint64_t whole; /* ns that are 100 % */
	uint64_t ready; /* ns, the most of a node */
	bool blocked, calls, samples; /* whether a node has any */
	bool flat; /* the root is no row */
	bool reverse; /* exclusive values of nodes have no meaning */
};

/* Columns are numbers: those of fields (enum field_id), then
 * TREE_METRICS + TREE_PARTS * column of the set + enum tree_part. */
#define TREE_METRICS FIELDS

/* Of a metric. */
enum tree_part {
	TREE_PART_INCLUSIVE = 0,
	TREE_PART_EXCLUSIVE,
	TREE_PART_BEFORE, /* these in a difference */
	TREE_PART_AFTER,
	TREE_PART_CHANGE,
	TREE_PART_CHANGE_EXCLUSIVE,
	TREE_PARTS
};

static inline unsigned tree_metric(size_t column, enum tree_part part)
{
	return TREE_METRICS + TREE_PARTS * (unsigned)column + part;
}

struct tree_row {
	uint32_t node;
	uint32_t rest; /* not 0: stands for so many children of `node` that are too small to be shown */
	uint32_t above; /* row of the parent */
	uint32_t guides; /* bits: a line passes there on its way down */
	uint32_t level; /* below the root shown */
	uint8_t indent; /* guides in front */
	bool branch; /* the last of them leads to this row; else it stands right below its parent */
	bool last; /* of its siblings */
};

struct match;

/* May be read; changed by the functions below, but for `cursor`. */
struct tree_view {
	struct tree_source source;
	struct tree_row *rows;
	size_t count, capacity;
	uint32_t root, cursor; /* nodes */
	uint32_t *zooms; /* roots before */
	size_t zoom_count;
	uint32_t marks[26]; /* nodes, or TREE_NONE */
	uint32_t back[TREE_BACK_MAX]; /* where the cursor was before it jumped */
	unsigned back_count;
	unsigned sort;
	bool ascending;
	double threshold; /* percent of the whole, of time (difference: of changes in what orders it) */
	double unit; /* ns that a printed 1.0 stands for */
	int width; /* of a time */
	/* by node: */
	uint8_t *state;
	uint32_t *first, *next, *sorted, *rest;
	uint32_t generation; /* children that were sorted in another one are not sorted now */
	struct match *past; /* to the nodes of the snapshot before; NULL: there is no rate */
	const struct profile_node *past_nodes;
	double past_seconds;
	double *scratch; /* values of all columns, twice */
	/* Of a difference that is ordered by a metric, by node: its largest change at or below; NULL: time
	 * counts. */
	double *changes;
	double changes_whole; /* 100 % of that metric: what there was before, or else is after */
};

/* Zero bytes are an empty one. Functions that return int: 0 or HYB_ENOMEM, all is then as before. */
void tree_view_release(struct tree_view *view);

/* Another tree. Without `adopt` only its root is open. With it what is open, the root, the cursor and marks
 * are what they were, as far as the same nodes are there: the source before must still be good. `loose`: one
 * of the trees has call sites, the other one has not. `seconds`: by how much it is older, if rates are wanted
 * (then it must stay good until the next call), else 0. */
int tree_view_set(
	struct tree_view *view, const struct tree_source *source, bool adopt, bool loose, double seconds);

int tree_view_sort(struct tree_view *view, unsigned column, bool ascending);
int tree_view_threshold(struct tree_view *view, double percent);

bool tree_view_has_children(const struct tree_view *view, uint32_t node); /* also too small ones */
bool tree_view_is_open(const struct tree_view *view, uint32_t node);
int tree_view_open(struct tree_view *view, uint32_t node, bool open);
/* All below too, level by level; *ret_all is false if there were too many. */
int tree_view_open_all(struct tree_view *view, uint32_t node, bool *ret_all);
int tree_view_close_all(struct tree_view *view, uint32_t node);
/* Opens all that leads there, and leaves what was zoomed into if it is not below. */
int tree_view_reveal(struct tree_view *view, uint32_t node);
/* Opens the child with most inclusive time (difference: change), and so on; the cursor goes to the end:
 * what runs longer itself. */
int tree_view_hot_path(struct tree_view *view, uint32_t node);

/* A node as the root; back again. False: there is nothing to go back to. */
int tree_view_zoom(struct tree_view *view, uint32_t node);
bool tree_view_zoom_back(struct tree_view *view);

/* Remembers where the cursor is; goes back there: a node, or TREE_NONE. */
void tree_view_push(struct tree_view *view);
uint32_t tree_view_pop(struct tree_view *view);

/* The row of a node, or of what stands for it: the nearest one above. */
size_t tree_view_row(const struct tree_view *view, uint32_t node);

/* --------------------------------------------------------- tree_find.c */

/* The next node whose name fits, in the order of rows, what is closed included; behind the end it goes on at
 * the root. `direction`: 1 or -1. `here`: the cursor's own, too. TREE_NONE: there is none. A name
 * is looked at once, however many nodes have it. */
uint32_t tree_view_find(struct tree_view *view, const regex_t *expression, int direction, bool here);

/* ------------------------------------------------------- tree_values.c */

/* Finds `changes` for the column of the order. 0 or HYB_ENOMEM. */
int tree_view_weigh(struct tree_view *view);
/* How large a node is, as against tree_view_whole(): its inclusive time, or the changes at or below it. */
double tree_view_size(const struct tree_view *view, uint32_t node);
double tree_view_whole(const struct tree_view *view);
/* By how much a node itself changed, with all below or alone, in what orders the difference. */
double tree_view_change(const struct tree_view *view, uint32_t node, bool alone);

/* NAN: not known. */
double tree_view_value(const struct tree_view *view, uint32_t node, unsigned column);

/* The text of a node's cell; "" for a 0 in a column that leaves zeros blank. */
const char *tree_view_cell(
	const struct tree_view *view, uint32_t node, unsigned column, char text[FIGURE_SIZE]);
/* Of what is left out below a node. */
const char *tree_view_rest_cell(
	const struct tree_view *view, uint32_t node, unsigned column, char text[FIGURE_SIZE]);

/* Whether values of the column are differences, with a sign. */
bool tree_view_is_change(unsigned column);

/* Share of the whole that gives a cell its colour, 0 to 1; below 0: it became less. */
double tree_view_heat(const struct tree_view *view, uint32_t node, unsigned column);

/* Columns that there are, from left to right; at most `room`. */
size_t tree_view_columns(const struct tree_view *view, unsigned *ret_columns, size_t room);
/* Of them those that find room in a width, a name of 30 columns beside them; the one of the order always.
 * `shown_first` metrics are wanted. */
size_t tree_view_layout(const struct tree_view *view, int width, unsigned *ret_columns, size_t room);
int tree_view_column_width(const struct tree_view *view, unsigned column);
/* "incl", "samples"; with the unit for a heading. */
const char *tree_view_column_name(const struct tree_view *view, unsigned column, char text[64]);
void tree_view_column_heading(const struct tree_view *view, unsigned column, char text[64]);
/* Of a difference, what several columns have in common: "time", the name of a metric. Else "". */
const char *tree_view_column_group(const struct tree_view *view, unsigned column);

/* -------------------------------------------------------- tree_match.c */

/* Finds nodes of one tree in another: same kind, name, file (without its directory) and line below the same
 * parent. NULL when memory is out. Both trees must live as long. */
struct match *match_new(const struct profile_node *from, size_t from_count, const struct profile_node *to,
	size_t to_count, bool loose);
void match_free(struct match *match); /* accepts NULL */
/* TREE_NONE: it is not there, or memory is out. */
uint32_t match_find(struct match *match, uint32_t node);

/* Takes over the state and the cursor of `from`, see tree_view_set(). */
int tree_view_adopt(struct tree_view *view, const struct tree_view *from, bool loose, double seconds);

/* ----------------------------------------------------------- tree_view.c, for the other two */

enum { TREE_OPEN = 1, TREE_BELOW = 2 };

bool tree_view_is_visible(const struct tree_view *view, uint32_t node); /* large enough */

#endif
