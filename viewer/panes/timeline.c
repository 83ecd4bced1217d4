/* The timeline: where threads were, as bands over time; its statistics go to the tree pane. */
#include <curses.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/panes/timeline.h"

#define LEAST_WINDOW 100u /* ns that are still zoomed into */
#define NAMES 18 /* columns */
#define STEPS 10 /* columns of a large step */

int timeline_name_width(const struct timeline_pane *t)
{
	return t->one ? 4 : t->pane.width < 60 ? 8 : t->pane.width < 160 ? NAMES : NAMES + 8;
}

int timeline_columns(const struct timeline_pane *t)
{
	int columns = t->pane.width - timeline_name_width(t);

	return columns > 1 ? columns : 1;
}

uint64_t timeline_edge(const struct timeline_pane *t, int column)
{
	return t->from + (uint64_t)((unsigned __int128)(t->to - t->from) * (unsigned)column /
				    (unsigned)timeline_columns(t));
}

int timeline_cursor_column(const struct timeline_pane *t)
{
	int column = (int)((unsigned __int128)(t->cursor - t->from) * (unsigned)timeline_columns(t) /
			   (t->to - t->from));

	/* where the edge was rounded down */
	return column + 1 < timeline_columns(t) && timeline_edge(t, column + 1) <= t->cursor ? column + 1
											     : column;
}

void timeline_tell_focus(struct timeline_pane *t, struct app *app)
{
	struct focus focus;
	uint32_t node;

	if (!t->base || !t->data || app->main != &t->pane)
		return;
	node = timeline_node(t, t->pane.list.cursor, timeline_cursor_column(t), NULL);
	if (node && node != BIN_NOWHERE)
		focus = focus_of_node(t->base->snapshot, node);
	else
		focus = (struct focus){.serial = t->base->snapshot->serial};
	app_focus(app, &focus);
}

/* A window of that length, with the cursor at the same share of it, within the run. */
static void set_window(struct timeline_pane *t, struct app *app, uint64_t from, uint64_t length)
{
	uint64_t least =
		(uint64_t)timeline_columns(t) > LEAST_WINDOW ? (uint64_t)timeline_columns(t) : LEAST_WINDOW;

	if (length < least)
		length = least;
	if (length >= t->base->length) {
		length = t->base->length;
		from = 0;
	}
	if (from > t->base->length - length)
		from = t->base->length - length;
	if (from == t->from && from + length == t->to)
		return;
	t->from = from;
	t->to = from + length;
	if (t->cursor < t->from)
		t->cursor = t->from;
	if (t->cursor >= t->to)
		t->cursor = t->to - 1;
	timeline_select_messages(t);
	timeline_ask(t, app);
}

static void zoom(struct timeline_pane *t, struct app *app, bool in)
{
	uint64_t length = t->to - t->from, wanted = in ? length / 2 : length * 2, left;

	left = (uint64_t)((unsigned __int128)(t->cursor - t->from) * wanted / length);
	set_window(t, app, t->cursor > left ? t->cursor - left : 0, wanted);
	timeline_tell_focus(t, app);
}

static void pan(struct timeline_pane *t, struct app *app, bool right, uint64_t by)
{
	uint64_t inside = t->cursor - t->from;

	set_window(t, app, right ? t->from + by : t->from > by ? t->from - by : 0, t->to - t->from);
	t->cursor = t->from + inside;
	timeline_tell_focus(t, app);
}

/* The cursor by columns; at the edge the window goes with it. */
static void step(struct timeline_pane *t, struct app *app, int columns)
{
	int column = timeline_cursor_column(t) + columns, last = timeline_columns(t) - 1;
	uint64_t half = (t->to - t->from) / 2;

	if (column < 0 && t->from) {
		pan(t, app, false, half);
		column = timeline_cursor_column(t) - 1 + (int)((unsigned)last / 2);
	} else if (column > last && t->to < t->base->length) {
		pan(t, app, true, half);
		column = timeline_cursor_column(t) + 1 - (int)((unsigned)last / 2);
	}
	column = column < 0 ? 0 : column > last ? last : column;
	t->cursor = timeline_edge(t, column);
	timeline_tell_focus(t, app);
}

/* ---------------------------------------------------------------- keys */

static struct timeline_pane *ready(struct pane *pane)
{
	struct timeline_pane *t = (struct timeline_pane *)pane;

	if (!t->base || !t->base->location_count)
		return NULL;
	list_set(&t->pane.list, timeline_rows(t),
		timeline_height(t, pane->height)); /* there may be new data */
	return t;
}

#define KEY(name_, do_) \
	static void name_(struct app *app, struct pane *pane) \
	{ \
		struct timeline_pane *t = ready(pane); \
\
		if (t) \
			do_; \
	}

KEY(key_left, step(t, app, -1))
KEY(key_right, step(t, app, 1))
KEY(key_far_left, step(t, app, -STEPS))
KEY(key_far_right, step(t, app, STEPS))
KEY(key_in, zoom(t, app, true))
KEY(key_out, zoom(t, app, false))
KEY(key_all, set_window(t, app, 0, t->base->length))
KEY(key_page_left, pan(t, app, false, t->to - t->from))
KEY(key_page_right, pan(t, app, true, t->to - t->from))

/* To where the row shows something else. */
static void seek_change(struct timeline_pane *t, struct app *app, int direction)
{
	int begin, end, column;

	timeline_band(t, t->pane.list.cursor, timeline_cursor_column(t), &begin, &end);
	column = direction > 0 ? end : begin - 1;
	if (column >= 0 && column < timeline_columns(t))
		t->cursor = timeline_edge(t, column);
	timeline_tell_focus(t, app);
}

KEY(key_next, seek_change(t, app, 1))
KEY(key_previous, seek_change(t, app, -1))

static void show_all(struct timeline_pane *t, struct app *app)
{
	if (!t->one)
		return;
	t->one = false;
	list_set(&t->pane.list, t->base->location_count, timeline_height(t, t->pane.height));
	list_move(&t->pane.list, (long)t->row - (long)t->pane.list.cursor);
	timeline_ask(t, app);
	timeline_tell_focus(t, app);
}

KEY(key_back, show_all(t, app))

/* Into a row's bands; there, into the time of one. */
static void enter(struct timeline_pane *t, struct app *app)
{
	int begin, end, column = timeline_cursor_column(t);

	if (!t->one) {
		t->row = t->pane.list.cursor;
		t->location = t->base->locations[t->row];
		t->one = true;
		t->pane.list = (struct list){.height = t->pane.list.height};
		list_set(&t->pane.list, timeline_rows(t), timeline_height(t, t->pane.height));
		timeline_ask(t, app);
		timeline_tell_focus(t, app);
		return;
	}
	timeline_band(t, t->pane.list.cursor, column, &begin, &end);
	set_window(t, app, timeline_edge(t, begin), timeline_edge(t, end) - timeline_edge(t, begin));
	timeline_tell_focus(t, app);
}

KEY(key_enter, enter(t, app))

static void change_depth(struct timeline_pane *t, struct app *app, bool deeper)
{
	unsigned most = DEPTH_FIRST + (t->data ? t->base->tree.deepest : 1);

	if (deeper)
		t->depth = t->depth + 1 < most ? t->depth + 1 : DEPTH_INNERMOST;
	else
		t->depth = t->depth ? t->depth - 1 : most - 1;
	if (t->one)
		app_say(app, INK_PLAIN, "all levels show; the level is for many locations");
	timeline_tell_focus(t, app);
}

KEY(key_depth, change_depth(t, app, true))
KEY(key_depth_back, change_depth(t, app, false))
KEY(key_group, t->by = (enum group_by)((t->by + 1) % GROUP_BYS))

static void next_counter(struct timeline_pane *t, struct app *app)
{
	if (!timeline_counter_count(t)) {
		app_say(app, INK_PLAIN, "no counter was measured: see --metric of hybrid-run");
		return;
	}
	t->counter = (t->counter + 1) % (timeline_counter_count(t) + 1);
	timeline_ask(t, app);
}

KEY(key_counter, next_counter(t, app))

static void switch_lines(struct timeline_pane *t, struct app *app)
{
	t->lines = !t->lines;
	if (t->lines)
		timeline_ask_messages(t, app);
}

KEY(key_lines, switch_lines(t, app))

/* ---------------------------------------------------------------- the pane */

static int init(struct pane *pane, struct app *app)
{
	struct timeline_pane *t = (struct timeline_pane *)pane;

	t->lines = true;
	t->to = 1;
	return 0;
}

static void release(struct pane *pane, struct app *app)
{
	struct timeline_pane *t = (struct timeline_pane *)pane;

	timeline_messages_release(&t->messages);
	timeline_forget(t);
	timeline_base_drop(t->fresh);
	timeline_base_drop(t->base);
}

static void take_snapshot(struct timeline_pane *t, struct app *app)
{
	struct timeline_base *base = timeline_base_new(app->snapshot);

	if (!base) {
		app_say(app, INK_BAD, "memory is out: the timeline stays as it is");
		timeline_show_all(app);
		return;
	}
	timeline_base_drop(t->fresh);
	t->fresh = base;
	if (!t->data || !base->location_count || !t->base->location_count) {
		timeline_cancel(t, app);
		timeline_renew(t, app);
		t->one = false;
		t->from = t->cursor = 0;
		t->to = base->length;
	}
	timeline_ask(t, app);
	if (!t->job)
		timeline_show_all(app);
	if (t->lines)
		timeline_ask_messages(t, app);
}

/* Of a run that goes on what is under way ends first, and then there is a pause, as between readings; what
 * the user has asked for comes at once. */
static bool is_due(const struct timeline_pane *t, const struct app *app)
{
	const struct timeline_base *newest = t->fresh ? t->fresh : t->base;

	if (!app->snapshot || (newest && newest->snapshot == app->snapshot))
		return false;
	return !t->data || !app->snapshot->running ||
	       !query_is(&newest->snapshot->query, &app->snapshot->query) ||
	       (!(t->fresh && t->job) && live_wait(&t->live) <= 0);
}

static void update(struct pane *pane, struct app *app, unsigned changed)
{
	struct timeline_pane *t = (struct timeline_pane *)pane;

	list_set(&t->pane.list, timeline_rows(t), timeline_height(t, pane->height));
	if (is_due(t, app))
		take_snapshot(t, app);
	else if (changed & CHANGED_SIZE)
		timeline_ask(t, app);
}

static const char *empty(struct pane *pane, struct app *app)
{
	if (!app->snapshot)
		return "nothing is loaded yet";
	if (!app->snapshot->traced)
		return "no trace: measure with samples (not -r 0), or with hybrid-run --trace";
	return NULL;
}

static void moved(struct pane *pane, struct app *app)
{
	struct timeline_pane *t = ready(pane);

	if (t)
		timeline_tell_focus(t, app);
}

static void mouse(struct pane *pane, struct app *app, int y, int x, unsigned button)
{
	struct timeline_pane *t = ready(pane);
	int column;

	if (!t)
		return;
	column = x - timeline_name_width(t);
	if (column >= 0 && column < timeline_columns(t))
		t->cursor = timeline_edge(t, column);
	timeline_tell_focus(t, app);
}

/* Rows in turn, columns in turn: the next band, or row, of that name. */
static bool find(struct pane *pane, struct app *app, int direction, bool here)
{
	struct timeline_pane *t = ready(pane);
	int columns, column;
	long row;

	if (!t || !t->data)
		return false;
	columns = timeline_columns(t);
	row = (long)t->pane.list.cursor;
	column = timeline_cursor_column(t);
	if (!here) {
		int begin, end;

		timeline_band(t, t->pane.list.cursor, column, &begin, &end);
		column = direction > 0 ? end : begin - 1;
	}
	for (; row >= 0 && row < (long)t->pane.list.count; row += direction) {
		for (; column >= 0 && column < columns; column += direction) {
			uint32_t node = timeline_node(t, (size_t)row, column, NULL);

			if (!node || node == BIN_NOWHERE ||
				regexec(app->search, timeline_profile(t, node)->name, 0, NULL, 0))
				continue;
			t->cursor = timeline_edge(t, column);
			list_move(&t->pane.list, row - (long)t->pane.list.cursor);
			return true;
		}
		column = direction > 0 ? 0 : columns - 1;
	}
	return false;
}

static const struct binding bindings[] = {
	{{'+', '='}, "Zoom", "zoom in around the cursor", key_in},
	{{'-'}, "Out", "zoom out", key_out},
	{{'0'}, "All", "all of time", key_all},
	{{'\n'}, "Open", "the bands of the location; there, zoom into the band", key_enter},
	{{KEY_BACKSPACE, 'o'}, "Back", "back to all locations", key_back},
	{{'d'}, "Depth", "rows show the innermost function, or probe, or a tree's level", key_depth},
	{{'D'}, NULL, "the same, the other way round", key_depth_back},
	{{'g'}, "Group", "colours by function, file or module", key_group},
	{{'c'}, "Counter", "the next counter below the bands", key_counter},
	{{'l'}, NULL, "messages as lines, or not", key_lines},
	{{KEY_LEFT}, NULL, "the cursor to the left; at the edge the window goes with it", key_left},
	{{KEY_RIGHT}, NULL, "the cursor to the right", key_right},
	{{KEY_SLEFT, '('}, NULL, "ten columns to the left", key_far_left},
	{{KEY_SRIGHT, ')'}, NULL, "ten columns to the right", key_far_right},
	{{'>', '.'}, NULL, "to where the row shows the next band", key_next},
	{{'<', ','}, NULL, "to the band before", key_previous},
	{{'['}, NULL, "a page to the left", key_page_left},
	{{']'}, NULL, "a page to the right", key_page_right},
	{{0}, NULL, NULL, NULL},
};

const struct pane_class timeline_pane = {
	.name = "timeline",
	.title = "Timeline",
	.key = '5',
	.size = sizeof(struct timeline_pane),
	.init = init,
	.release = release,
	.update = update,
	.empty = empty,
	.draw = timeline_draw,
	.moved = moved,
	.mouse = mouse,
	.find = find,
	.bindings = bindings,
};
