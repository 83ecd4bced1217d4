/* Keys of trees and tables. */
#include <ctype.h>
#include <curses.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/path.h"
#include "viewer/panes/tree.h"
#include "viewer/app/prompt.h"

/* The pane that a prompt is for: it has the keys. */
static struct tree_pane *asking(struct app *app)
{
	return tree_of(app->active);
}

/* --------------------------------------------------------- open and close */

static void open_node(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);
	const struct tree_row *row = tree_pane_row(p);

	if (!row || row->rest)
		return;
	if (!tree_view_is_open(&p->view, row->node)) {
		tree_pane_changed(app, p, tree_view_open(&p->view, row->node, true));
	} else if (tree_view_has_children(&p->view, row->node) &&
		   p->pane.list.cursor + 1 < p->pane.list.count) {
		list_move(&p->pane.list, 1);
		tree_pane_moved(pane, app);
	}
}

static void close_node(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);
	const struct tree_row *row = tree_pane_row(p);

	if (!row)
		return;
	if (!row->rest && tree_view_is_open(&p->view, row->node) &&
		tree_view_has_children(&p->view, row->node)) {
		tree_pane_changed(app, p, tree_view_open(&p->view, row->node, false));
	} else if (p->pane.list.cursor) {
		p->pane.list.cursor = row->above;
		list_move(&p->pane.list, 0);
		tree_pane_moved(pane, app);
	}
}

void tree_key_toggle(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);
	const struct tree_row *row = tree_pane_row(p);

	if (row && !row->rest)
		tree_pane_changed(
			app, p, tree_view_open(&p->view, row->node, !tree_view_is_open(&p->view, row->node)));
}

static void open_all(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);
	const struct tree_row *row = tree_pane_row(p);
	bool all = true;

	if (!row)
		return;
	tree_pane_changed(app, p, tree_view_open_all(&p->view, row->node, &all));
	if (!all)
		app_say(app, INK_WARN, "not all of it: %u rows are open, level by level; + goes on from any",
			TREE_ROWS_MAX);
}

static void close_all(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);
	const struct tree_row *row = tree_pane_row(p);

	if (row)
		tree_pane_changed(app, p, tree_view_close_all(&p->view, row->node));
}

static void hot_path(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);
	const struct tree_row *row = tree_pane_row(p);

	if (!row)
		return;
	tree_view_push(&p->view);
	tree_pane_changed(app, p, tree_view_hot_path(&p->view, row->node));
}

/* ------------------------------------------------------------------- zoom */

static void zoom(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);
	const struct tree_row *row = tree_pane_row(p);

	if (!row)
		return;
	tree_view_push(&p->view);
	tree_pane_changed(app, p, tree_view_zoom(&p->view, row->node));
}

static void zoom_back(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);

	if (p->data && tree_view_zoom_back(&p->view))
		tree_pane_changed(app, p, 0);
	else
		app_say(app, INK_PLAIN, "this is all of it");
}

/* ------------------------------------------------------------------ order */

/* To the column that stands `steps` further right. */
static void move_order(struct app *app, struct tree_pane *p, int steps)
{
	unsigned columns[TREE_COLUMNS];
	size_t count = p->data ? tree_pane_columns(p, p->pane.width, columns) : 0;
	long at = -1;

	for (size_t i = 0; i < count; i++)
		if (columns[i] == p->view.sort)
			at = (long)i;
	at = at < 0 ? 0 : at + steps;
	if (at >= 0 && at < (long)count)
		tree_pane_changed(app, p, tree_view_sort(&p->view, columns[at], p->view.ascending));
}

static void sort_left(struct app *app, struct pane *pane)
{
	move_order(app, tree_of(pane), -1);
}

static void sort_right(struct app *app, struct pane *pane)
{
	move_order(app, tree_of(pane), 1);
}

static void turn(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);

	if (p->data)
		tree_pane_changed(app, p, tree_view_sort(&p->view, p->view.sort, !p->view.ascending));
}

/* -------------------------------------------------------------- threshold */

static void set_threshold(struct app *app, const char *text)
{
	struct tree_pane *p = asking(app);
	double percent;
	const char *wanted = argument_percentage(text, &percent);

	if (wanted)
		app_say(app, INK_BAD, "%s: give %s", text, wanted);
	else if (p->data)
		tree_pane_changed(app, p, tree_view_threshold(&p->view, percent));
}

static void threshold(struct app *app, struct pane *pane)
{
	char text[32];

	snprintf(text, sizeof(text), "%g", tree_of(pane)->view.threshold);
	app_prompt(app, "Leave out what is below (percent of the total):", text, NULL, set_threshold);
}

/* ---------------------------------------------------------------- columns */

/* Index among those that there are, or -1. */
static int find_column(const struct tree_pane *p, const char *name, size_t length, unsigned *ret_column)
{
	unsigned all[2 * TREE_COLUMNS];
	size_t count = tree_view_columns(&p->view, all, 2 * TREE_COLUMNS);
	char text[64];

	for (size_t i = 0; i < count; i++) {
		tree_view_column_name(&p->view, all[i], text);
		if (strlen(text) == length && !strncmp(text, name, length)) {
			*ret_column = all[i];
			return 0;
		}
	}
	return -1;
}

/* As many as fit. */
static void list_columns(
	const struct tree_pane *p, const unsigned *columns, size_t count, char *text, size_t size)
{
	size_t used = 0;
	char name[64];

	*text = 0;
	for (size_t i = 0; i < count; i++) {
		const char *next = tree_view_column_name(&p->view, columns[i], name);

		if (used + strlen(next) + 2 > size)
			return;
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "", next);
	}
}

static void set_columns(struct app *app, const char *text)
{
	struct tree_pane *p = asking(app);
	unsigned chosen[TREE_COLUMNS], all[2 * TREE_COLUMNS];
	size_t count = 0;
	char names[400];

	if (!p->data)
		return;
	for (const char *end; *text && count < TREE_COLUMNS; text = end + (*end == ',')) {
		size_t length;

		text += strspn(text, " ");
		end = text + strcspn(text, ",");
		for (length = (size_t)(end - text); length && text[length - 1] == ' ';)
			length--;
		if (length && find_column(p, text, length, &chosen[count])) {
			list_columns(p, all, tree_view_columns(&p->view, all, 2 * TREE_COLUMNS), names,
				sizeof(names));
			app_say(app, INK_BAD, "no column %.*s; there are: %s", (int)length, text, names);
			return;
		}
		count += length > 0;
	}
	memcpy(p->chosen, chosen, count * sizeof(*chosen));
	p->chosen_count = count;
}

static void choose_columns(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);
	unsigned columns[TREE_COLUMNS], all[2 * TREE_COLUMNS];
	char text[PROMPT_MAX], names[400];

	if (!p->data)
		return;
	list_columns(p, columns, tree_pane_columns(p, pane->width, columns), text, sizeof(text));
	app_prompt(app, "Columns (empty: as many as fit):", text, NULL, set_columns);
	list_columns(p, all, tree_view_columns(&p->view, all, 2 * TREE_COLUMNS), names, sizeof(names));
	app_say(app, INK_PLAIN, "there are: %s", names);
}

/* ------------------------------------------------------------------ marks */

static void go_to(struct app *app, struct tree_pane *p, uint32_t node)
{
	tree_pane_changed(app, p, tree_view_reveal(&p->view, node));
}

static void set_mark(struct app *app, const char *text)
{
	struct tree_pane *p = asking(app);
	const struct tree_row *row = tree_pane_row(p);

	if (!row)
		return;
	if (*text < 'a' || *text > 'z' || text[1])
		app_say(app, INK_BAD, "a mark is one letter from a to z");
	else
		p->view.marks[*text - 'a'] = row->node;
}

static void mark(struct app *app, struct pane *pane)
{
	if (tree_of(pane)->data)
		app_prompt(app, "Mark this line with the letter:", "a", NULL, set_mark);
}

static void follow_mark(struct app *app, const char *text)
{
	struct tree_pane *p = asking(app);
	uint32_t node =
		*text >= 'a' && *text <= 'z' && !text[1] && p->data ? p->view.marks[*text - 'a'] : TREE_NONE;

	if (node == TREE_NONE) {
		app_say(app, INK_BAD, "there is no mark %s", text);
		return;
	}
	tree_view_push(&p->view);
	go_to(app, p, node);
}

static void to_mark(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);
	char question[200] = "Go to mark:", first[2] = "";
	size_t used = strlen(question);

	for (int i = 0; p->data && i < 26 && used < sizeof(question); i++) {
		if (p->view.marks[i] == TREE_NONE)
			continue;
		used += (size_t)snprintf(question + used, sizeof(question) - used, " %c %.20s", 'a' + i,
			p->view.source.nodes[p->view.marks[i]].name);
		if (!*first)
			*first = (char)('a' + i);
	}
	if (*first)
		app_prompt(app, question, first, NULL, follow_mark);
	else
		app_say(app, INK_PLAIN, "nothing is marked: m marks a line");
}

static void back(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);
	uint32_t node = p->data ? tree_view_pop(&p->view) : TREE_NONE;

	if (node == TREE_NONE)
		app_say(app, INK_PLAIN, "there is nowhere to go back to");
	else
		go_to(app, p, node);
}

/* ------------------------------------------------------------------- hide */

/* What a letter stands for, of the node under the cursor. NULL: it has none. */
static const char *hide_name(
	const struct tree_pane *p, const struct profile_node *n, char letter, enum hide_what *ret_what)
{
	switch (letter) {
	case 'm':
		*ret_what = HIDE_MODULE;
		return *n->module ? n->module : NULL;
	case 'i':
		*ret_what = HIDE_FILE;
		return *n->file ? n->file : NULL;
	case 'g':
		*ret_what = HIDE_GROUP;
		return hide_group_of(n);
	case 'f':
		*ret_what = HIDE_FUNCTION;
		return p->data->request.by == PROFILE_BY_MODULE || p->data->request.by == PROFILE_BY_FILE
			       ? NULL
			       : n->name;
	}
	return NULL;
}

static void hide(struct app *app, const char *text)
{
	struct tree_pane *p = asking(app), *hider = tree_hider(app);
	const struct tree_row *row = tree_pane_row(p);
	const struct profile_node *n = row ? &p->view.source.nodes[row->node] : NULL;
	enum hide_what what;
	const char *name = n ? hide_name(p, n, *text, &what) : NULL;
	int r;

	if (!name || text[1]) {
		app_say(app, INK_BAD, "%s: give one of the letters", text);
		return;
	}
	r = hide_add(&hider->hide, what, name, what == HIDE_FUNCTION ? n->file : "");
	if (r)
		app_say(app, INK_BAD,
			r < 0 && hider->hide.count == HIDE_MAX ? "too much is hidden: X shows all"
							       : "out of memory");
	else
		tree_make_all(app);
}

static void hide_row(struct app *app, struct pane *pane)
{
	struct tree_pane *p = tree_of(pane);
	const struct tree_row *row = tree_pane_row(p);
	const struct profile_node *n;
	static const char letters[] = "figm", *const words[] = {"function", "file", "group", "module"};
	char question[160] = "Hide", first[2] = "";
	size_t used = strlen(question);
	enum hide_what what;

	n = row && !row->rest && row->node ? &p->view.source.nodes[row->node] : NULL;
	for (int i = 0; n && letters[i] && used < sizeof(question); i++) {
		const char *name = hide_name(p, n, letters[i], &what);

		if (!name)
			continue;
		used += (size_t)snprintf(question + used, sizeof(question) - used, "%s %c %s %.24s",
			*first ? "," : "", letters[i], words[i], letters[i] == 'f' ? name : path_base(name));
		*first = letters[i]; /* the last that there is: the most that can be hidden */
	}
	if (used < sizeof(question))
		snprintf(question + used, sizeof(question) - used, ":"); /* the answer stands behind it */
	if (*first)
		app_prompt(app, question, first, NULL, hide);
	else
		app_say(app, INK_PLAIN, "this cannot be hidden");
}

static void show_all(struct app *app, struct pane *pane)
{
	struct tree_pane *hider = tree_hider(app);

	if (!hider->hide.count) {
		app_say(app, INK_PLAIN, "nothing is hidden");
		return;
	}
	hide_release(&hider->hide);
	tree_make_all(app);
}

/* ------------------------------------------------------------------ table */

static void next_table(struct app *app, struct pane *pane)
{
	static const enum profile_by next[] = {
		[PROFILE_BY_FUNCTION] = PROFILE_BY_LINE,
		[PROFILE_BY_LINE] = PROFILE_BY_FILE,
		[PROFILE_BY_FILE] = PROFILE_BY_MODULE,
		[PROFILE_BY_MODULE] = PROFILE_BY_FUNCTION,
	};

	tree_of(pane)->by = next[tree_of(pane)->by];
	pane->changed |= CHANGED_SNAPSHOT;
	app_redraw(app);
}

/* clang-format off */
/* Keys of trees and tables. */
#define ROW_BINDINGS \
	{{KEY_F(6), '>'}, "Sort", "order by the next column", sort_right}, \
	{{'<'}, NULL, "order by the column before", sort_left}, \
	{{'I'}, NULL, "turn the order round", turn}, \
	{{KEY_F(4), 't'}, "Thresh", "leave out what is below so many percent", threshold}, \
	{{KEY_F(2), 'c'}, "Columns", "choose columns and metrics", choose_columns}, \
	{{KEY_F(8), 'x'}, "Hide", "hide a module, file, group, function: its time is its caller's", hide_row}, \
	{{'X'}, NULL, "show again all that was hidden", show_all}, \
	{{'m'}, NULL, "mark a line with a letter", mark}, \
	{{'M'}, NULL, "go to a mark", to_mark}, \
	{{'b'}, NULL, "back to where the cursor was before it jumped", back}
/* clang-format on */

const struct binding tree_bindings[] = {
	{{'\n', ' '}, NULL, "open or close a line", tree_key_toggle},
	{{KEY_RIGHT, 'l'}, NULL, "open a line, then go to the first below it", open_node},
	{{KEY_LEFT}, NULL, "close a line, then go to the one it hangs below", close_node},
	{{'+'}, NULL, "open all below a line", open_all},
	{{'-'}, NULL, "close all below a line", close_all},
	{{KEY_F(5), 'h'}, "HotPath", "open the way to where most of the time is spent", hot_path},
	{{KEY_F(7), 'z'}, "Zoom", "the line becomes the root", zoom},
	{{'Z'}, NULL, "back to the root before", zoom_back},
	ROW_BINDINGS,
	{{0}, NULL, NULL, NULL},
};

const struct binding flat_bindings[] = {
	{{KEY_F(3), 'f'}, "By", "by function, line, file or module", next_table},
	ROW_BINDINGS,
	{{0}, NULL, NULL, NULL},
};
