/* What the keys and the mouse do wherever one is. */
#include <curses.h>
#include <limits.h>
#include <string.h>

#include "viewer/app/app_state.h"

#define WHEEL_ROWS 3

static void quit(struct app *app, struct pane *pane)
{
	viewer_of(app)->leaving = true;
}

static void redraw(struct app *app, struct pane *pane)
{
	screen_repair(&viewer_of(app)->screen);
	app_redraw(app);
}

static void other_pane(struct app *app, struct pane *pane)
{
	if (app->side)
		app->active = app->active == app->side ? app->main : app->side;
}

static void read_again(struct app *app, struct pane *pane)
{
	if (session_load(app->session, &app->query, true))
		app_say(app, INK_BAD, "out of memory");
}

static void switch_mode(struct app *app, struct pane *pane)
{
	struct query query;

	if (query_copy(&query, &app->query)) {
		app_say(app, INK_BAD, "out of memory");
		return;
	}
	query.mode = query.mode == PROFILE_CALLSITE ? PROFILE_ROUTINE : PROFILE_CALLSITE;
	app_query(app, &query);
	app_say(app, INK_PLAIN,
		query.mode == PROFILE_CALLSITE ? "each line that calls is a node of its own"
					       : "frames merge by function");
	query_release(&query);
}

/* ---------------------------------------------------------------- lists */

static void move_list(struct app *app, struct pane *pane, long rows)
{
	size_t before = pane->list.cursor;

	list_move(&pane->list, rows);
	if (pane->list.cursor != before && pane->class->moved)
		pane->class->moved(pane, app);
	app_redraw(app);
}

static long page(const struct pane *pane)
{
	return pane->list.height > 2 ? pane->list.height - 1 : 1;
}

static void move_up(struct app *app, struct pane *pane)
{
	move_list(app, pane, -1);
}

static void move_down(struct app *app, struct pane *pane)
{
	move_list(app, pane, 1);
}

static void page_up(struct app *app, struct pane *pane)
{
	move_list(app, pane, -page(pane));
}

static void page_down(struct app *app, struct pane *pane)
{
	move_list(app, pane, page(pane));
}

static void move_first(struct app *app, struct pane *pane)
{
	move_list(app, pane, LONG_MIN);
}

static void move_last(struct app *app, struct pane *pane)
{
	move_list(app, pane, LONG_MAX);
}

/* Of all panes; keys of panes themselves stand in their classes. */
const struct binding app_bindings[] = {
	{{KEY_F(1), '?'}, "Help", "this help", help_open},
	{{'/'}, "Search", "search, as you type: a regular expression", app_search},
	{{'n'}, NULL, "next that is found", app_search_next},
	{{'N'}, NULL, "previous that is found", app_search_previous},
	{{KEY_UP, 'k'}, NULL, "up", move_up},
	{{KEY_DOWN, 'j'}, NULL, "down", move_down},
	{{KEY_PPAGE, KEY_CTRL('b')}, NULL, "a page up", page_up},
	{{KEY_NPAGE, KEY_CTRL('f')}, NULL, "a page down", page_down},
	{{KEY_HOME, 'g'}, NULL, "to the first row", move_first},
	{{KEY_END, 'G'}, NULL, "to the last row", move_last},
	{{'\t'}, NULL, "the other pane", other_pane},
	{{'R'}, NULL, "routines or call sites: merged by function, or each line apart", switch_mode},
	{{'r'}, NULL, "read the files again", read_again},
	{{'w'}, NULL, "write what is on the screen to a file", app_write},
	{{KEY_CTRL('l')}, NULL, "draw the screen again", redraw},
	{{KEY_F(10), 'q'}, "Quit", "quit", quit},
	{{0}, NULL, NULL, NULL},
};

/* ------------------------------------------------------------- dispatch */

static bool run_binding(struct app *app, struct pane *pane, const struct binding *bindings, int key)
{
	for (; bindings && bindings->run; bindings++)
		for (size_t i = 0; i < 3 && bindings->keys[i]; i++)
			if (bindings->keys[i] == key) {
				bindings->run(app, pane);
				return true;
			}
	return false;
}

/* The key of a pane: goes there, or opens or closes what stands at the side. */
static void go_to_pane(struct app *app, int key)
{
	for (size_t i = 0; i < app->pane_count; i++) {
		struct pane *pane = app->panes[i];

		if (pane->class->key != key)
			continue;
		if (pane->class->side)
			app_toggle(app, pane);
		else
			app_activate(app, pane);
	}
}

static void handle_key(struct viewer *viewer, int key)
{
	struct app *app = &viewer->app;

	*viewer->message = 0;
	if (!run_binding(app, app->active, app->active->class->bindings, key) &&
		!run_binding(app, app->active, app_bindings, key))
		go_to_pane(app, key);
}

static void handle_prompt(struct viewer *viewer, const struct event *event)
{
	struct app *app = &viewer->app;
	char text[PROMPT_BYTES];
	enum prompt_state state = prompt_key(&viewer->prompt, event);

	if (state >= PROMPT_DONE || viewer->prompt_changed)
		*viewer->message = 0; /* else it helps to answer */
	if (state >= PROMPT_DONE)
		viewer->prompt.open = false;
	prompt_text(&viewer->prompt, text);
	if (state == PROMPT_CHANGED && viewer->prompt_changed)
		viewer->prompt_changed(app, text);
	else if (state == PROMPT_DONE && viewer->prompt_done)
		viewer->prompt_done(app, text);
	else if (state == PROMPT_LEFT && viewer->prompt_changed)
		viewer->prompt_changed(app, "");
}

/* ---------------------------------------------------------------- mouse */

static bool is_in(const struct area *area, int y, int x)
{
	return y >= area->y && y < area->y + area->height && x >= area->x && x < area->x + area->width;
}

static void mouse_in_pane(
	struct app *app, struct pane *pane, const struct area *area, const struct event *event)
{
	int y = event->y - area->y;
	size_t row = pane_row_at(pane, y);

	if (event->button == MOUSE_WHEEL_UP || event->button == MOUSE_WHEEL_DOWN) {
		move_list(app, pane, event->button == MOUSE_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS);
		return;
	}
	app->active = pane;
	if (row != LIST_NONE)
		move_list(app, pane, (long)row - (long)pane->list.cursor);
	if (pane->class->mouse)
		pane->class->mouse(pane, app, y, event->x - area->x, event->button);
	if (row != LIST_NONE && event->button == MOUSE_DOUBLE)
		run_binding(app, pane, pane->class->bindings, '\n');
}

static void handle_mouse(struct viewer *viewer, const struct event *event)
{
	struct app *app = &viewer->app;
	bool click = event->button == MOUSE_CLICK || event->button == MOUSE_DOUBLE;
	int height = viewer->canvas.height;

	if (viewer->prompt.open)
		return;
	*viewer->message = 0;
	if (is_in(&viewer->main_area, event->y, event->x)) {
		mouse_in_pane(app, app->main, &viewer->main_area, event);
	} else if (app->side && is_in(&viewer->side_area, event->y, event->x)) {
		mouse_in_pane(app, app->side, &viewer->side_area, event);
	} else if (click && event->y == 0 && height >= 3) {
		app_activate(app, app_tab_at(viewer, event->x));
	} else if (click && event->y == height - 1 && height >= 5) {
		const struct binding *binding = app_key_at(viewer, event->x);

		if (binding)
			binding->run(app, app->active);
	}
}

void app_event(struct viewer *viewer, const struct event *event)
{
	app_redraw(&viewer->app);
	switch (event->kind) {
	case EVENT_END:
		viewer->leaving = true;
		viewer->status = 128 + event->key;
		break;
	case EVENT_MOUSE:
		handle_mouse(viewer, event);
		break;
	case EVENT_KEY:
	case EVENT_CHARACTER:
		if (viewer->prompt.open)
			handle_prompt(viewer, event);
		else if (event->kind == EVENT_KEY)
			handle_key(viewer, event->key);
		break;
	case EVENT_RESIZE:
	case EVENT_NONE:
		break;
	}
}
