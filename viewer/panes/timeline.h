/* Inside of the timeline pane: what its files share. */
#ifndef HYB_PANE_TIMELINE_H
#define HYB_PANE_TIMELINE_H

#include "viewer/app/app.h"
#include "viewer/snapshot/live.h"
#include "viewer/timeline/read.h"

/* Which node of a column a row shows: that, or so deep an ancestor of it. */
enum { DEPTH_INNERMOST = 0, DEPTH_PROBE = 1, DEPTH_FIRST = 2 };

#define MESSAGE_LINES 200u /* that are drawn; more are counted */

struct timeline_job;

struct timeline_pane {
	struct pane pane;
	struct timeline_base *base; /* NULL: there is no snapshot */
	struct timeline_base *fresh; /* of a newer snapshot, the data of which is still to come; or NULL */
	struct timeline
		*data; /* what came last, perhaps of another window or other rows; NULL: nothing yet */
	bool data_one; /* it is of one location only, that of `data_location` */
	uint32_t data_location;
	struct timeline
		*whole; /* what came of all of time and all locations: for where `data` is not; or NULL */
	struct timeline_job *job; /* what was asked for and is not there */
	struct live live; /* when a newer snapshot's may be made while the run goes on */
	char error[512]; /* why there is no data, or "" */

	/* What is wanted. */
	bool one; /* bands of one location */
	uint32_t location; /* that */
	size_t row; /* where the cursor was among all locations */
	uint64_t from, to, cursor; /* ns since the run began */
	unsigned depth; /* DEPTH_INNERMOST ... */
	enum group_by by;
	size_t counter; /* 0: none; then metrics, then counters of the program */

	/* Messages of the snapshot; of the window those that are drawn. */
	bool messages_known, lines;
	struct timeline_job *messages_job;
	struct timeline_messages messages;
	struct timeline_message drawn[MESSAGE_LINES];
	size_t in_window;
};

/* ---- viewer/panes/timeline.c: columns that bands have on a pane so wide, and of the names left of them. */
int timeline_name_width(const struct timeline_pane *t);
int timeline_columns(const struct timeline_pane *t);
/* Column of the window that the cursor is in, and where columns begin. */
int timeline_cursor_column(const struct timeline_pane *t);
uint64_t timeline_edge(const struct timeline_pane *t, int column);
/* What the cursor is on, for the panes at the side. */
void timeline_tell_focus(struct timeline_pane *t, struct app *app);

/* ---- viewer/panes/timeline_data.c: asks for what is wanted; finds it. */
/* The newer snapshot's turn: what belongs to the old one is freed. */
void timeline_renew(struct timeline_pane *t, struct app *app);
void timeline_forget(struct timeline_pane *t); /* its data */
void timeline_show_all(struct app *app); /* in the panes of trees: all of time */
void timeline_ask(struct timeline_pane *t, struct app *app);
void timeline_ask_messages(struct timeline_pane *t, struct app *app);
void timeline_select_messages(struct timeline_pane *t);
void timeline_cancel(struct timeline_pane *t, struct app *app);
/* Name of the counter that is chosen, or NULL; how many there are to choose from. */
const char *timeline_counter(const struct timeline_pane *t);
size_t timeline_counter_count(const struct timeline_pane *t);
/* Node that a row of the list shows in that column of the window, 0 where nothing is known, or
 * BIN_NOWHERE. `ret_exact`: where the location is in the tree; may be NULL. */
uint32_t timeline_node(const struct timeline_pane *t, size_t row, int column, uint32_t *ret_exact);
const struct profile_node *timeline_profile(const struct timeline_pane *t, uint32_t node);
/* The first and behind the last column around this one with the same node in that row. */
void timeline_band(const struct timeline_pane *t, size_t row, int column, int *ret_begin, int *ret_end);
size_t timeline_rows(const struct timeline_pane *t);

/* ---- viewer/panes/timeline_draw.c */
void timeline_draw(struct pane *pane, struct app *app, const struct area *area);
/* Rows that are left for bands on a pane so high; the first one stands at TIMELINE_TOP. */
#define TIMELINE_TOP 3
int timeline_height(const struct timeline_pane *t, int height);

#endif
