/* How trees and tables look. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/views/label.h"
#include "viewer/panes/tree.h"

#define NAME_LEAST 16 /* columns of a name in front of a long place */
#define CURSOR_ROOM 30 /* columns that the line under the cursor has for its name and place */

size_t tree_pane_columns(const struct tree_pane *p, int width, unsigned columns[TREE_COLUMNS])
{
	unsigned all[2 * TREE_COLUMNS];
	size_t count = 0, all_count;
	int used = 2;

	if (!p->chosen_count)
		return tree_view_layout(&p->view, width, columns, TREE_COLUMNS);
	all_count = tree_view_columns(&p->view, all, 2 * TREE_COLUMNS);
	for (size_t i = 0; i < p->chosen_count; i++)
		for (size_t k = 0; k < all_count; k++) {
			int w = tree_view_column_width(&p->view, p->chosen[i]);

			if (all[k] != p->chosen[i] || used + w + NAME_LEAST > width)
				continue;
			columns[count++] = p->chosen[i];
			used += w;
		}
	return count;
}

/* Of the columns, and what stands between them and names. */
static int width_of(const struct tree_pane *p, const unsigned *columns, size_t count)
{
	int width = 2;

	for (size_t i = 0; i < count; i++)
		width += tree_view_column_width(&p->view, columns[i]);
	return width;
}

/* -------------------------------------------------------------- headings */

static const char *unit_words(const struct tree_view *f)
{
	return f->unit == 1e9 ? "seconds" : f->unit == 1e6 ? "milliseconds" : "microseconds";
}

static const char *name_heading(const struct tree_pane *p)
{
	static const char *const tables[] = {
		[PROFILE_BY_FUNCTION] = "function",
		[PROFILE_BY_LINE] = "line",
		[PROFILE_BY_MODULE] = "module",
		[PROFILE_BY_THREAD] = "thread",
		[PROFILE_BY_FILE] = "file",
	};

	switch (tree_pane_kind(p)) {
	case TREE_REVERSED:
		return "spent in, called by";
	case TREE_FLAT:
		return tables[p->data->request.by];
	case TREE_CALLS_DOWN:
	case TREE_DIFFERENCE:
		break;
	}
	return "call tree";
}

/* Draws a heading above columns that are only called "before", "after": the metric. False: all are of
 * time. */
static bool put_groups(
	const struct tree_pane *p, const struct area *area, int y, const unsigned *columns, size_t count)
{
	size_t metrics = 0;
	int x = 0;

	for (size_t i = 0; i < count; i++)
		metrics += p->view.source.pairs && columns[i] >= TREE_METRICS;
	for (size_t i = 0, next; metrics && i < count; i = next) {
		const char *group = tree_view_column_group(&p->view, columns[i]), *last = strrchr(group, ':');
		int width = 0;

		for (next = i; next < count && group == tree_view_column_group(&p->view, columns[next]);
			next++)
			width += tree_view_column_width(&p->view, columns[next]);
		if ((int)strlen(group) >= width && last && last[1])
			group = last + 1; /* its end is more useful */
		canvas_printf(area, y, x, INK_DIM, "%*.*s", width, width - 1, group);
		x += width;
	}
	return metrics;
}

static void put_heading(
	struct tree_pane *p, const struct area *area, int y, const unsigned *columns, size_t count)
{
	char text[64];
	int x = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_order = columns[i] == p->view.sort;
		int width = tree_view_column_width(&p->view, columns[i]), length;

		tree_view_column_heading(&p->view, columns[i], text);
		length = canvas_columns(area->canvas, text);
		canvas_text(area, y, x + width - length, is_order ? INK_KEY : INK_DIM, text);
		if (is_order && length < width)
			canvas_glyph(area, y, x + width - length - 1, INK_KEY,
				p->view.ascending ? GLYPH_UP : GLYPH_DOWN);
		x += width;
	}
	p->name_column = x + 2;
	if (p->aside)
		x += canvas_printf(area, y, x + 2, INK_KEY, "<%u ", p->aside);
	canvas_printf(area, y, x + 2, INK_DIM, "%s (%s)", name_heading(p), unit_words(&p->view));
}

/* A deep tree is moved to the left, by as many levels as the line under the cursor needs; not back before it
 * stands further left itself. */
static void move_aside(struct tree_pane *p, int columns)
{
	const struct tree_row *row = tree_pane_row(p);
	int room = (columns - CURSOR_ROOM) / 2, indent = row ? row->indent : 0;

	if (room < 0)
		room = 0;
	if ((int)p->aside < indent - room)
		p->aside = (unsigned)(indent - room);
	if ((int)p->aside > indent)
		p->aside = (unsigned)indent;
}

/* What is different from the tree as a whole; false: nothing. */
static bool put_state(const struct tree_pane *p, const struct area *area, int y)
{
	const struct tree_request *request = &p->data->request;
	char hidden[256], from[FIGURE_SIZE], to[FIGURE_SIZE];
	int x = 0;

	if (request->window)
		x += canvas_printf(area, y, x, INK_WARN, "only %s to %s of the timeline  ",
			figure_duration(request->from, from), figure_duration(request->to, to));
	if (request->hide.count) {
		hide_text(&request->hide, hidden, sizeof(hidden));
		x += canvas_printf(area, y, x, INK_WARN, "hidden: %s (X shows all)  ", hidden);
	}
	if (p->view.root)
		x += canvas_printf(area, y, x, INK_WARN, "below %s (Z goes back)  ",
			p->view.source.nodes[p->view.root].name);
	return x;
}

/* ------------------------------------------------------------------ rows */

/* What the user wrote is not to be overlooked, also where it only calls. */
static unsigned ink_of(const struct profile_node *n)
{
	switch (n->kind) {
	case PROFILE_ROOT:
	case PROFILE_PROBE:
		return INK_BOLD;
	case PROFILE_INTERMEDIATE:
		return node_is_of_user(n) ? INK_PLAIN : INK_DIM;
	case PROFILE_INCOMPLETE:
		return INK_WARN;
	}
	return INK_PLAIN;
}

static unsigned heat_ink(const struct tree_view *f, uint32_t node, unsigned column)
{
	double share = tree_view_heat(f, node, column);

	if (!tree_view_is_change(column))
		return canvas_heat(share);
	return share >= 0.02 ? INK_BAD : share <= -0.02 ? INK_GOOD : INK_PLAIN;
}

static int put_cells(const struct tree_pane *p, const struct area *area, int y, const struct tree_row *row,
	const unsigned *columns, size_t count)
{
	char text[FIGURE_SIZE];
	int x = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned ink = INK_DIM;

		if (row->rest) {
			tree_view_rest_cell(&p->view, row->node, columns[i], text);
		} else {
			tree_view_cell(&p->view, row->node, columns[i], text);
			ink = heat_ink(&p->view, row->node, columns[i]);
		}
		x += tree_view_column_width(&p->view, columns[i]);
		canvas_text(area, y, x - (int)strlen(text), ink, text);
	}
	return x + 2;
}

/* The lines that lead from a row to its parent; the column behind them. */
static int put_guides(
	const struct tree_pane *p, const struct area *area, int y, int x, const struct tree_row *row)
{
	for (unsigned i = p->aside; i < row->indent; i++, x += 2) {
		bool end = row->branch && i + 1 == row->indent;

		if (end)
			canvas_glyph(area, y, x, INK_DIM, row->last ? GLYPH_LAST : GLYPH_BRANCH);
		else if (row->guides >> i & 1)
			canvas_glyph(area, y, x, INK_DIM, GLYPH_VERTICAL);
		if (end && !area->canvas->utf8)
			canvas_glyph(area, y, x + 1, INK_DIM, GLYPH_HORIZONTAL);
	}
	if (row->indent >= TREE_INDENT_MAX)
		x += canvas_printf(area, y, x, INK_DIM, "(%" PRIu32 ") ", row->level);
	return x;
}

static int put_opener(const struct tree_pane *p, const struct area *area, int y, int x, uint32_t node)
{
	if (p->view.source.flat)
		return 0;
	if (tree_view_has_children(&p->view, node))
		canvas_glyph(
			area, y, x, INK_DIM, tree_view_is_open(&p->view, node) ? GLYPH_OPEN : GLYPH_CLOSED);
	return 2;
}

/* "new ", "gone ", or that it was marked. */
static int put_marks(const struct tree_pane *p, const struct area *area, int y, int x, uint32_t node)
{
	const struct profile_diff_pair *pair = p->view.source.pairs ? &p->view.source.pairs[node] : NULL;
	int from = x;

	for (int i = 0; i < 26; i++)
		if (p->view.marks[i] == node) {
			x += canvas_glyph(area, y, x, INK_MATCH, GLYPH_MARK);
			x += canvas_printf(area, y, x, INK_MATCH, "%c ", 'a' + i);
		}
	if (pair && !pair->before.present)
		x += canvas_text(area, y, x, INK_WARN, "new ");
	else if (pair && !pair->after.present)
		x += canvas_text(area, y, x, INK_WARN, "gone ");
	return x - from;
}

/* The words of a row as the report has them: the name cut where there is no room, the place behind it. */
static void put_label(const struct tree_pane *p, struct app *app, const struct area *area, int y, int x,
	const struct profile_node *n)
{
	const struct profile_node *above = &p->view.source.nodes[n->parent];
	struct label label = label_of(n);
	bool brackets = n->kind == PROFILE_INTERMEDIATE && *n->name != '[';
	char *place, count[FIGURE_SIZE], tail[80] = "";
	unsigned ink = ink_of(n);
	bool found = app->search && !regexec(app->search, n->name, 0, NULL, 0);
	int room, least = (area->width - x) * 2 / 3;

	if (tree_pane_kind(p) == TREE_FLAT && p->data->request.by == PROFILE_BY_FILE)
		label.file = "";
	if (n->module == above->module || p->data->request.by == PROFILE_BY_MODULE)
		label.module = "";
	place = label_place(&label, false);
	if (least < NAME_LEAST || *label.file) /* a module is less useful than a file */
		least = NAME_LEAST;
	if (n->skipped)
		snprintf(tail, sizeof(tail), "  %s calls only counted", figure_count(n->skipped, count));
	room = area->width - x - 2 * brackets - (int)strlen(tail);
	room -= place ? canvas_columns(area->canvas, place) : 0;
	if (brackets)
		x += canvas_text(area, y, x, ink, "[");
	x += canvas_name(area, y, x, room > least ? room : least, found ? INK_MATCH : ink, n->name);
	if (place)
		x += canvas_cut(area, y, x, area->width - x - brackets,
			ink == INK_DIM || n->kind == PROFILE_PROBE ? INK_DIM : INK_PLACE, place);
	if (brackets)
		x += canvas_text(area, y, x, ink, "]");
	canvas_text(area, y, x, INK_WARN, tail);
	free(place);
}

static void put_row(const struct tree_pane *p, struct app *app, const struct area *area, int y,
	const struct tree_row *row, const unsigned *columns, size_t count)
{
	int x = put_cells(p, area, y, row, columns, count);

	x += put_guides(p, area, y, x, row) - x;
	if (row->rest) {
		canvas_printf(area, y, x, INK_DIM,
			p->view.source.pairs ? "(%" PRIu32 " that changed by less than %g %%)"
					     : "(%" PRIu32 " more below %g %%)",
			row->rest, p->view.threshold);
		return;
	}
	x += put_opener(p, area, y, x, row->node);
	x += put_marks(p, area, y, x, row->node);
	put_label(p, app, area, y, x, &p->view.source.nodes[row->node]);
}

void tree_pane_draw(struct pane *pane, struct app *app, const struct area *area)
{
	struct tree_pane *p = tree_of(pane);
	unsigned columns[TREE_COLUMNS];
	size_t count;
	int y = 0;

	if (!p->data) {
		canvas_text(area, 0, 0, INK_DIM,
			p->job ? "this takes a moment ..." : "nothing is loaded yet ...");
		return;
	}
	y += put_state(p, area, y);
	count = tree_pane_columns(p, area->width, columns);
	y += put_groups(p, area, y, columns, count);
	list_set(&p->pane.list, p->view.count, area->height - y - 1);
	move_aside(p, area->width - width_of(p, columns, count));
	put_heading(p, area, y++, columns, count);
	pane->first = y;
	if (!p->view.count || (p->view.source.flat && p->view.rows[0].rest))
		canvas_printf(area, y, p->name_column, INK_DIM, "nothing is above %g %%", p->view.threshold);
	for (size_t i = p->pane.list.top; i < p->view.count && y < area->height; i++, y++) {
		put_row(p, app, area, y, &p->view.rows[i], columns, count);
		if (i == p->pane.list.cursor)
			canvas_reverse(area, y, 0, area->width);
	}
}

/* ----------------------------------------------------------------- mouse */

/* A heading orders by it; again: turns round. */
static void click_heading(struct tree_pane *p, struct app *app, int x)
{
	unsigned columns[TREE_COLUMNS];
	size_t count = tree_pane_columns(p, p->pane.width, columns);

	for (size_t i = 0; i < count; i++) {
		x -= tree_view_column_width(&p->view, columns[i]);
		if (x >= 0)
			continue;
		tree_pane_changed(app, p,
			tree_view_sort(
				&p->view, columns[i], columns[i] == p->view.sort && !p->view.ascending));
		return;
	}
}

void tree_pane_mouse(struct pane *pane, struct app *app, int y, int x, unsigned button)
{
	struct tree_pane *p = tree_of(pane);
	const struct tree_row *row = tree_pane_row(p);
	int opener;

	if (p->data && y == pane->first - 1)
		click_heading(p, app, x);
	if (!row || button != MOUSE_CLICK || pane_row_at(pane, y) == LIST_NONE)
		return;
	opener = p->name_column + 2 * (row->indent > p->aside ? (int)(row->indent - p->aside) : 0);
	if (x == opener)
		tree_key_toggle(app, pane);
}
