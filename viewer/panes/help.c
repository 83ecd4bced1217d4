/* The keys: those of the panes that one sees, then those of everywhere; made of the tables that bind them. */
#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "viewer/app/app_state.h"

#define KEYS_COLUMNS 16

struct help_row {
	char keys[40]; /* "": a heading */
	const char *text;
};

struct help_pane {
	struct pane pane;
	struct help_row *rows;
	size_t count;
	bool failed;
};

static void add_row(struct help_pane *help, const struct binding *binding, const char *text)
{
	struct help_row *row;
	char name[KEY_TEXT];

	if (help->failed || !ARRAY_ROOM(help->rows, help->count)) {
		help->failed = true;
		return;
	}
	row = &help->rows[help->count++];
	*row = (struct help_row){.text = text};
	for (size_t i = 0; binding && i < 3 && binding->keys[i]; i++) {
		size_t used = strlen(row->keys);

		snprintf(row->keys + used, sizeof(row->keys) - used, "%s%s", i ? " " : "",
			key_text(binding->keys[i], name));
	}
}

static void add_table(struct help_pane *help, const char *title, const struct binding *bindings)
{
	if (!bindings)
		return;
	if (help->count)
		add_row(help, NULL, "");
	add_row(help, NULL, title);
	for (; bindings->run; bindings++)
		add_row(help, bindings, bindings->text);
}

static void add_panes(struct help_pane *help, const struct app *app)
{
	add_row(help, NULL, "");
	add_row(help, NULL, "Panes");
	for (size_t i = 0; i < app->pane_count; i++) {
		const struct pane_class *class = app->panes[i]->class;
		struct binding binding = {.keys = {class->key}};

		if (class != &help_pane)
			add_row(help, &binding, class->title);
	}
}

static const struct binding bindings[];

static void fill(struct help_pane *help, const struct app *app)
{
	const struct viewer *viewer = (const struct viewer *)app;

	help->count = 0;
	help->failed = false;
	if (viewer->before)
		add_table(help, viewer->before->class->title, viewer->before->class->bindings);
	if (viewer->before_side && viewer->before_side != viewer->before)
		add_table(help, viewer->before_side->class->title, viewer->before_side->class->bindings);
	add_table(help, "Everywhere", app_bindings);
	add_panes(help, app);
	add_table(help, "Here", bindings);
}

void help_open(struct app *app, struct pane *pane)
{
	struct viewer *viewer = viewer_of(app);
	struct help_pane *help = (struct help_pane *)app_pane(app, &help_pane);

	if (!help || app->main == &help->pane)
		return;
	viewer->before = app->main;
	viewer->before_side = app->side;
	fill(help, app);
	help->pane.list = (struct list){.height = help->pane.height};
	app->side = NULL;
	app->main = app->active = &help->pane;
}

static void leave(struct app *app, struct pane *pane)
{
	struct viewer *viewer = viewer_of(app);

	/* --view help: nothing was before */
	app->main = app->active = viewer->before ? viewer->before : app->panes[0];
	app->side = viewer->before_side;
}

static void update(struct pane *pane, struct app *app, unsigned changed)
{
	struct help_pane *help = (struct help_pane *)pane;

	if (!help->count)
		fill(help, app);
	list_set(&help->pane.list, help->count, pane->height);
}

static void draw(struct pane *pane, struct app *app, const struct area *area)
{
	struct help_pane *help = (struct help_pane *)pane;

	list_set(&help->pane.list, help->count, area->height);
	for (int y = 0; y < area->height && help->pane.list.top + (size_t)y < help->count; y++) {
		size_t at = help->pane.list.top + (size_t)y;
		const struct help_row *row = &help->rows[at];

		if (*row->keys) {
			canvas_text(area, y, 2, INK_KEY, row->keys);
			canvas_text(area, y, 2 + KEYS_COLUMNS, INK_PLAIN, row->text);
		} else {
			canvas_text(area, y, 0, INK_BOLD, row->text);
		}
		if (at == help->pane.list.cursor)
			canvas_reverse(area, y, 0, area->width);
	}
}

static bool fits(struct pane *pane, struct app *app, size_t row)
{
	const struct help_row *r = &((struct help_pane *)pane)->rows[row];

	return !regexec(app->search, r->text, 0, NULL, 0) || !regexec(app->search, r->keys, 0, NULL, 0);
}

static void release(struct pane *pane, struct app *app)
{
	free(((struct help_pane *)pane)->rows);
}

static const struct binding bindings[] = {
	{{'q', 27, '?'}, "Back", "back to where help was asked for", leave},
	{{0}, NULL, NULL, NULL},
};

const struct pane_class help_pane = {
	.name = "help",
	.title = "Help",
	.key = '?',
	.size = sizeof(struct help_pane),
	.release = release,
	.update = update,
	.draw = draw,
	.fits = fits,
	.bindings = bindings,
};
