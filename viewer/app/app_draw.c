/* Draws the screen: title, panes, message, keys. */
#include <stdio.h>
#include <string.h>

#include "viewer/app/app_state.h"

#define BESIDE_WIDTH 140 /* from here on a side pane stands beside the main one, */
#define BELOW_HEIGHT 40 /* or below it */
#define TABS_WIDTH 86 /* from here on there is room for tabs that stand apart, and "live" */

/* Lines between the title and what stands at the bottom. */
static struct area middle(struct viewer *viewer)
{
	struct canvas *canvas = &viewer->canvas;
	int top = canvas->height >= 3, bottom = canvas->height >= 5 ? 2 : canvas->height >= 4;

	return (struct area){canvas, top, 0, canvas->height - top - bottom, canvas->width};
}

static struct area line(struct viewer *viewer, int y)
{
	return (struct area){&viewer->canvas, y, 0, 1, viewer->canvas.width};
}

bool app_shows_side(const struct viewer *viewer)
{
	return viewer->canvas.width >= BESIDE_WIDTH || viewer->canvas.height >= BELOW_HEIGHT;
}

/* ---------------------------------------------------------------- title */

/* Columns of a tab at x, drawn if `area` is given. */
static int put_tab(struct app *app, const struct area *area, int x, const struct pane *pane)
{
	const struct pane_class *class = pane->class;
	struct pane *own = (struct pane *)pane;
	bool dim = app->snapshot && class->empty && class->empty(own, app) && pane != app->main;
	int width = (int)strlen(class->name) + 2;

	if (area) {
		canvas_printf(area, 0, x + 1, dim ? INK_DIM : INK_KEY, "%c", class->key);
		canvas_text(area, 0, x + 2, dim ? INK_DIM : INK_PLAIN, class->name);
		if (pane == app->main)
			canvas_ink(area, 0, x, width + 1, pane == app->active ? INK_BAR : INK_BOLD);
	}
	return width + (viewer_of(app)->canvas.width >= TABS_WIDTH);
}

static bool has_tab(const struct pane *pane)
{
	return !pane->class->side && pane->class->key >= '1' && pane->class->key <= '9';
}

struct pane *app_tab_at(struct viewer *viewer, int x)
{
	struct app *app = &viewer->app;

	for (size_t i = 0; i < app->pane_count; i++) {
		if (!has_tab(app->panes[i]))
			continue;
		x -= put_tab(app, NULL, 0, app->panes[i]);
		if (x < 0)
			return app->panes[i];
	}
	return NULL;
}

static void draw_title(struct viewer *viewer)
{
	struct app *app = &viewer->app;
	struct area area = line(viewer, 0);
	int x = 0;

	for (size_t i = 0; i < app->pane_count; i++)
		if (has_tab(app->panes[i]))
			x += put_tab(app, &area, x, app->panes[i]);
	if (app->snapshot && app->snapshot->running && area.width - x >= 6)
		canvas_text(&area, 0, area.width - 5, INK_GOOD, "live");
}

/* --------------------------------------------------------------- bottom */

/* Columns of a key and what it does at x, drawn if `area` is given. */
static int put_key(const struct area *area, int x, const struct binding *binding)
{
	char name[KEY_TEXT];
	const char *key = key_text(binding->keys[0], name);
	int width = (int)strlen(key) + (int)strlen(binding->label) + 1;

	if (!area)
		return width;
	canvas_text(area, 0, x, INK_KEY, key);
	canvas_printf(area, 0, x + (int)strlen(key), INK_BAR, "%s", binding->label);
	return width;
}

/* Those of a table that have a label, from x up to `end`; drawn if `area` is given. `hit`: becomes the one at
 * that column. Where they end. */
static int put_table(const struct area *area, int x, int end, const struct binding *table, int at,
	const struct binding **hit)
{
	for (; table && table->run; table++) {
		int width = table->label ? put_key(NULL, 0, table) : 0;

		if (!width || x + width > end + 1) /* behind the last one nothing has to be blank */
			continue;
		put_key(area, x, table);
		if (hit && at >= x && at < x + width)
			*hit = table;
		x += width;
	}
	return x;
}

/* The active pane's keys, as far as there is room beside those of everywhere. */
static const struct binding *put_keys(struct viewer *viewer, const struct area *area, int at)
{
	const struct binding *hit = NULL;
	int width = viewer->canvas.width, own = put_table(NULL, 0, width, app_bindings, -1, NULL);
	int x = put_table(area, 0, width - own, viewer->app.active->class->bindings, at, &hit);

	put_table(area, x, width, app_bindings, at, &hit);
	return hit;
}

const struct binding *app_key_at(struct viewer *viewer, int x)
{
	return put_keys(viewer, NULL, x);
}

static void draw_keys(struct viewer *viewer, int y)
{
	struct area area = line(viewer, y);

	put_keys(viewer, &area, -1);
}

/* How much of a text fits into `room` bytes: up to a comma, a blank, or all of them. */
static size_t fit(const char *text, size_t room)
{
	size_t length = strlen(text), end = room;

	if (length <= room)
		return length;
	while (end && text[end - 1] != ',' && text[end - 1] != ' ')
		end--;
	return end ? end : room;
}

/* Draws the message, or the help for a question, in as many lines above `y` as it takes. */
static void draw_words(struct viewer *viewer, int y)
{
	const char *text = viewer->message;
	size_t room = (size_t)viewer->canvas.width, lines = 0, length;
	struct area area;

	for (const char *at = text; *at; at += fit(at, room))
		lines++;
	for (y -= (int)lines; *text; text += length, y++) {
		length = fit(text, room);
		if (y < 1)
			continue;
		area = line(viewer, y);
		canvas_printf(&area, 0, 0, viewer->message_ink, "%-*.*s", area.width, (int)length, text);
	}
}

static void draw_message(struct viewer *viewer, int y)
{
	struct app *app = &viewer->app;
	const struct job *job = work_running(app->work);
	struct area area = line(viewer, y);
	unsigned permille;

	if (*viewer->message) {
		draw_words(viewer, y + 1);
	} else if (job && job->text) {
		permille = atomic_load(&job->permille);
		if (permille)
			canvas_printf(&area, 0, 0, INK_PLAIN, "%s: %u %%", job->text, permille / 10);
		else
			canvas_printf(&area, 0, 0, INK_PLAIN, "%s", job->text);
	} else if (app->snapshot && *app->snapshot->warning) {
		canvas_cut(&area, 0, 0, area.width, INK_WARN, app->snapshot->warning);
	} else {
		canvas_cut(&area, 0, 0, area.width, INK_DIM, app->options->paths[0]);
	}
}

/* ---------------------------------------------------------------- panes */

static void update_pane(struct app *app, struct pane *pane)
{
	unsigned changed = pane->changed;

	if (!changed || !pane->class->update)
		return;
	pane->changed = 0;
	pane->class->update(pane, app, changed);
}

/* Why a pane has nothing to show, in as many lines as that takes. */
static void draw_empty(const struct area *area, const char *text)
{
	size_t room = area->width > 8 ? (size_t)area->width - 4 : (size_t)area->width, length;
	int x = area->width > 8 ? 2 : 0;

	for (int y = area->height / 2; *text; text += length) {
		length = fit(text, room);
		canvas_printf(area, y++, x, INK_WARN, "%.*s", (int)length, text);
	}
}

static void draw_pane(struct app *app, struct pane *pane, const struct area *area)
{
	const char *empty;

	if (area->height < 1 || area->width < 1)
		return;
	if (pane->height != area->height || pane->width != area->width)
		pane->changed |= CHANGED_SIZE;
	pane->height = area->height;
	pane->width = area->width;
	update_pane(app, pane);
	empty = pane->class->empty ? pane->class->empty(pane, app) : NULL;
	if (empty)
		draw_empty(area, empty);
	else
		pane->class->draw(pane, app, area);
}

/* A line between the panes, and the title of the one behind it. */
static void draw_split(const struct area *area, bool beside, const struct pane *pane, bool active)
{
	for (int i = 0; i < (beside ? area->height : area->width); i++)
		canvas_glyph(area, beside ? i : 0, beside ? 0 : i, INK_DIM,
			beside ? GLYPH_VERTICAL : GLYPH_HORIZONTAL);
	canvas_printf(area, 0, beside ? 1 : 2, active ? INK_BAR : INK_BOLD, " %s ", pane->class->title);
}

/* Where both panes stand, with what is between them in front of the side one. */
static void split_area(struct viewer *viewer, const struct area *all, bool beside, struct area *ret_split)
{
	struct area main_area = *all, side = *all;

	if (beside) {
		main_area.width = all->width / 2;
		side.x += main_area.width;
		side.width -= main_area.width;
	} else {
		main_area.height = all->height / 2;
		side.y += main_area.height;
		side.height -= main_area.height;
	}
	*ret_split = side;
	side.x += beside;
	side.width -= beside;
	side.y++;
	side.height--;
	viewer->main_area = main_area;
	viewer->side_area = side;
}

static void draw_panes(struct viewer *viewer)
{
	struct app *app = &viewer->app;
	struct area all = middle(viewer), split;
	bool beside = viewer->canvas.width >= BESIDE_WIDTH;

	if (!app->side || !app_shows_side(viewer)) {
		bool other = app->side && app->active == app->side;

		if (other) /* which follows the cursor of the one that does not show */
			update_pane(app, app->main);
		viewer->main_area = viewer->side_area = (struct area){0};
		*(other ? &viewer->side_area : &viewer->main_area) = all;
		draw_pane(app, app->active, &all);
		return;
	}
	split_area(viewer, &all, beside, &split);
	draw_pane(app, app->main, &viewer->main_area);
	draw_split(&split, beside, app->side, app->active == app->side);
	draw_pane(app, app->side, &viewer->side_area);
}

/* Before there is anything to look at. */
static void draw_wait(struct viewer *viewer)
{
	struct area area = middle(viewer);

	if (viewer->app.options->live && !work_running(viewer->app.work))
		canvas_text(&area, area.height / 2, 2, INK_PLAIN, "waits for the run to begin: q leaves");
	viewer->main_area = viewer->side_area = (struct area){0};
}

void app_draw(struct viewer *viewer)
{
	struct app *app = &viewer->app;
	int bottom = viewer->canvas.height - 1, x = -1;
	struct area area;

	viewer->drawn_late = false;
	canvas_clear(&viewer->canvas);
	if (app->window.pane)
		update_pane(app, app->window.pane);
	if (app->snapshot || app->active->class == &help_pane)
		draw_panes(viewer);
	else
		draw_wait(viewer);
	if (viewer->canvas.height >= 3)
		draw_title(viewer);
	if (viewer->canvas.height >= 5)
		draw_keys(viewer, bottom--);
	area = line(viewer, bottom);
	if (viewer->prompt.open) {
		for (int i = 0; i < area.width; i++)
			canvas_text(&area, 0, i, INK_PLAIN, " ");
		x = prompt_draw(&viewer->prompt, &area, 0);
		draw_words(viewer, bottom);
	} else if (viewer->canvas.height >= 4) {
		draw_message(viewer, bottom);
	}
	screen_show(&viewer->screen, &viewer->canvas, bottom, x);
}
