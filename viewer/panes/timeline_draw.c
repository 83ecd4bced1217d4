#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/metrics/figures.h"
#include "profile/views/label.h"
#include "viewer/panes/timeline.h"
#include "viewer/timeline/axis.h"
#include "base/search.h"

#define TICK_COLUMNS 14 /* at least, from one to the next */
#define NAME_FITS 5 /* columns of a band from which on its name stands in it */
#define VALUE_ROWS 3
#define VALUE_FROM 14 /* rows of the pane from which on there is room for the counter */
#define BOTTOM 2 /* legend, and what is under the cursor */
#define TEXT 64
#define LEGEND_NAME 30 /* columns of a name there */

static int value_rows(const struct timeline_pane *t, int height)
{
	return t->counter && height >= VALUE_FROM ? VALUE_ROWS : 0;
}

int timeline_height(const struct timeline_pane *t, int height)
{
	height -= TIMELINE_TOP + value_rows(t, height) + BOTTOM;
	return height > 1 ? height : 1;
}

static const struct hyb_location_info *location_at(const struct timeline_pane *t, size_t row)
{
	return t->base->snapshot->locations[t->one ? t->location : t->base->locations[row]];
}

/* What stands there keeps its ink: a line over a band. */
static void put_over(const struct area *area, int y, int x, const char *text)
{
	const struct canvas *canvas = area->canvas;
	unsigned ink = INK_BOLD;
	size_t at = (size_t)(area->y + y) * (size_t)canvas->width + (size_t)(area->x + x);

	if (y < 0 || x < 0 || y >= area->height || x >= area->width)
		return;
	if (canvas->cells[at].ink >= INK_BAND)
		ink = canvas->cells[at].ink;
	canvas_text(area, y, x, ink, text);
}

/* ---------------------------------------------------------------- above */

static void draw_head(const struct timeline_pane *t, const struct area *area)
{
	char length[FIGURE_SIZE], depth[24] = "innermost", all[TEXT] = "";
	int x = 0;

	figure_duration(t->to - t->from, length);
	if (t->from || t->to != t->base->length)
		snprintf(
			all, sizeof(all), " of %s", figure_duration(t->base->length, (char[FIGURE_SIZE]){0}));
	if (t->one)
		x += canvas_cut(area, 0, x, area->width / 2, INK_BOLD,
			profile_name_location(location_at(t, 0), (char[PROFILE_LOCATION_NAME]){0}));
	else
		x += canvas_printf(area, 0, x, INK_BOLD, "%zu location%s", t->base->location_count,
			t->base->location_count == 1 ? "" : "s");
	x += canvas_printf(area, 0, x, INK_PLAIN, ": %s%s", length, all);
	if (t->depth == DEPTH_PROBE)
		snprintf(depth, sizeof(depth), "probes");
	else if (t->depth >= DEPTH_FIRST)
		snprintf(depth, sizeof(depth), "level %u", t->depth - DEPTH_FIRST + 1);
	x += canvas_printf(area, 0, x, INK_PLAIN, ", by %s", group_by_name(t->by));
	if (!t->one)
		x += canvas_printf(area, 0, x, INK_PLAIN, ", %s", depth);
	if (t->lines && !t->one && t->messages_known && t->messages.count)
		x += canvas_printf(area, 0, x, INK_PLAIN, ", %zu message%s%s", t->in_window,
			t->in_window == 1 ? "" : "s", t->in_window > MESSAGE_LINES ? ": zoom in" : "");
	if (t->messages.left_out)
		x += canvas_printf(area, 0, x, INK_WARN, ", of the first %u", MESSAGES_MOST);
	if (t->data && t->data->markers_left_out)
		x += canvas_printf(
			area, 0, x, INK_WARN, ", %zu markers do not show", t->data->markers_left_out);
	if (t->data && t->data->gaps)
		canvas_text(area, 0, x, INK_WARN, ", records are missing");
}

/* Bands only, the names left of them apart. */
static struct area bands_of(const struct timeline_pane *t, const struct area *area)
{
	struct area bands = *area;
	int names = timeline_name_width(t);

	bands.x += names;
	bands.width = timeline_columns(t);
	if (bands.width > area->width - names)
		bands.width = area->width - names;
	return bands;
}

static int column_of(const struct timeline_pane *t, uint64_t time)
{
	return (int)SEARCH(i, (size_t)timeline_columns(t) - 1, timeline_edge(t, (int)i + 1) <= time);
}

static void draw_axis(const struct timeline_pane *t, const struct area *area)
{
	struct area bands = bands_of(t, area);
	struct axis axis = axis_make(t->from, t->to, (unsigned)(bands.width / TICK_COLUMNS) + 1);
	char text[AXIS_TEXT];

	for (uint64_t time = axis.first; time < t->to; time += axis.step) {
		int x = column_of(t, time);

		canvas_glyph(&bands, 1, x, INK_DIM, GLYPH_VERTICAL);
		canvas_text(&bands, 1, x + 1, INK_PLAIN, axis_text(time, axis.step, text));
	}
	for (size_t i = 0; t->data && i < t->data->marker_count; i++) {
		const struct timeline_marker *m = &t->data->markers[i];

		if (m->time >= t->from && m->time < t->to)
			canvas_glyph(&bands, 2, column_of(t, m->time), INK_WARN, GLYPH_MARK);
	}
	canvas_glyph(&bands, 2, timeline_cursor_column(t), INK_BOLD, GLYPH_DOWN);
}

/* ---------------------------------------------------------------- bands */

/* A letter for its colour, the name if there is room, and a line up to where it ends. */
static void draw_band(
	const struct timeline_pane *t, const struct area *area, int y, int x, int end, uint32_t node)
{
	unsigned band = t->base->groups[t->by].band[node], ink = INK_BAND + band;
	struct area part = {area->canvas, area->y + y, area->x + x, 1, end - x};
	char letter[] = {(char)('A' + band), 0};
	const char *name = timeline_profile(t, node)->name;
	int used;

	if (part.width > area->width - x)
		part.width = area->width - x;
	for (int i = 0; i < part.width; i++)
		canvas_glyph(&part, 0, i, ink, GLYPH_HORIZONTAL);
	used = canvas_text(&part, 0, 0, ink, letter);
	if (part.width < NAME_FITS)
		return;
	used += canvas_text(&part, 0, used, ink, " ");
	used += canvas_name(&part, 0, used, part.width - used, ink, name);
	if (used + 1 < part.width)
		canvas_text(&part, 0, used, ink, " ");
}

static void draw_row(const struct timeline_pane *t, const struct area *bands, int y, size_t row)
{
	int x = 0, columns = bands->width;

	while (x < columns) {
		uint32_t node = timeline_node(t, row, x, NULL);
		int end = x + 1;

		while (end < columns && timeline_node(t, row, end, NULL) == node)
			end++;
		if (node && node != BIN_NOWHERE)
			draw_band(t, bands, y, x, end, node);
		for (int i = x; !node && !t->one && i < end; i++)
			canvas_text(bands, y, i, INK_DIM, ".");
		x = end;
	}
}

/* In so many columns: if there is no room the thread's own name is cut first, since the numbers are
 * unique. */
static void name_row(const struct hyb_location_info *location, const struct canvas *canvas, int room,
	char name[PROFILE_LOCATION_NAME])
{
	size_t length, own = strlen(location->name);

	profile_name_location(location, name);
	length = strlen(name);
	if (canvas_columns(canvas, name) > room && own && length > own &&
		!strcmp(name + length - own, location->name))
		name[length - own - 1] = 0;
}

static void draw_rows(const struct timeline_pane *t, const struct area *area)
{
	struct area bands = bands_of(t, area);
	int names = timeline_name_width(t);
	char name[PROFILE_LOCATION_NAME];

	for (int i = 0; i < t->pane.list.height && t->pane.list.top + (size_t)i < t->pane.list.count; i++) {
		size_t row = t->pane.list.top + (size_t)i;
		int y = TIMELINE_TOP + i;

		if (t->one)
			snprintf(name, sizeof(name), "%zu", row + 1);
		else
			name_row(location_at(t, row), area->canvas, names - 1, name);
		canvas_cut(area, y, 0, names - 1, INK_PLAIN, name);
		if (row == t->pane.list.cursor)
			canvas_reverse(area, y, 0, names - 1);
		draw_row(t, &bands, y, row);
		if (row == t->pane.list.cursor)
			canvas_reverse(&bands, y, timeline_cursor_column(t), 1);
	}
}

/* ---------------------------------------------------------------- messages */

/* The row of the pane in which a location stands, perhaps outside; false: it is not shown. */
static bool row_of(const struct timeline_pane *t, uint32_t location, int *ret)
{
	for (size_t row = 0; row < t->base->location_count; row++)
		if (t->base->locations[row] == location) {
			*ret = TIMELINE_TOP + (int)row - (int)t->pane.list.top;
			return true;
		}
	return false;
}

/* From the cell of the sender to that of the receiver, where they are in the window. */
static void draw_line(const struct area *area, int height, int x0, int y0, int x1, int y1)
{
	int dx = x1 - x0, dy = y1 - y0, steps = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
	const char *text = !dx ? "|" : !dy ? "-" : (dx > 0) == (dy > 0) ? "\\" : "/";

	for (int i = 0; i <= steps; i++) {
		int x = x0 + (steps ? dx * i / steps : 0), y = y0 + (steps ? dy * i / steps : 0);

		if (y < TIMELINE_TOP || y >= TIMELINE_TOP + height)
			continue;
		put_over(area, y, x, !i ? "o" : i < steps ? text : dy > 0 ? "v" : dy < 0 ? "^" : ">");
	}
}

static void draw_messages(const struct timeline_pane *t, const struct area *area)
{
	struct area bands = bands_of(t, area);

	if (!t->lines || t->one || t->in_window > MESSAGE_LINES)
		return;
	for (size_t i = 0; i < t->in_window; i++) {
		const struct timeline_message *m = &t->drawn[i];
		int from, to;

		if (!row_of(t, m->sender, &from) || !row_of(t, m->receiver, &to))
			continue;
		draw_line(&bands, t->pane.list.height, m->from < t->from ? 0 : column_of(t, m->from), from,
			m->to >= t->to ? bands.width - 1 : column_of(t, m->to), to);
	}
}

/* ---------------------------------------------------------------- below */

static void value_text(const struct timeline_pane *t, double value, char text[TEXT])
{
	static const char *const scales[] = {"", "k", "M", "G", "T"};
	unsigned scale = 0;

	for (; fabs(value) >= 1e4 && scale < 4; scale++)
		value /= 1e3;
	snprintf(text, TEXT, "%.4g%s%s%s%s", value, scales[scale], *t->data->unit ? " " : "", t->data->unit,
		t->data->level ? "" : "/s");
}

/* So many eighths of a cell. */
static const char *eighths(const struct area *area, int n)
{
	static const char *const blocks[] = {
		" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};

	n = n < 0 ? 0 : n > 8 ? 8 : n;
	return area->canvas->utf8 ? blocks[n] : n > 5 ? "#" : n > 2 ? ":" : n ? "." : " ";
}

static void draw_values(const struct timeline_pane *t, const struct area *area)
{
	const struct timeline *data = t->data;
	struct area bands = bands_of(t, area);
	int names = timeline_name_width(t), top = TIMELINE_TOP + t->pane.list.height, x;
	double least = data && data->values ? fmin(data->least, 0) : 0, span;
	char text[TEXT];

	if (!data || !data->values || !data->unit || !(data->most >= data->least)) {
		canvas_text(&bands, top, 0, INK_DIM, "the counter has no values here");
		return;
	}
	span = data->most > least ? data->most - least : 1;
	for (x = 0; x < bands.width; x++) {
		uint64_t time = timeline_edge(t, x);
		double value = time >= data->from && time < data->to
				       ? data->values[bins_find(data->edges, data->columns, time)]
				       : NAN;
		int n = isnan(value) ? 0 : (int)ceil((value - least) / span * 8 * VALUE_ROWS);

		for (int i = 0; i < VALUE_ROWS; i++)
			canvas_text(&bands, top + VALUE_ROWS - 1 - i, x, INK_PLACE, eighths(area, n - 8 * i));
	}
	value_text(t, data->most, text);
	if (t->one) {
		x = canvas_cut(&bands, top, 0, bands.width / 2, INK_BOLD, data->counter);
		canvas_printf(&bands, top, x, INK_PLAIN, " to %s ", text);
		return;
	}
	canvas_cut(area, top, 0, names - 1, INK_BOLD, data->counter);
	canvas_cut(area, top + 1, 0, names - 1, INK_PLAIN, text);
}

static void draw_legend(const struct timeline_pane *t, const struct area *area, int y)
{
	const struct timeline_groups *groups = &t->base->groups[t->by];
	const uint64_t *sums = t->data->shares[t->by];
	uint64_t all = 0;
	unsigned order[GROUPS];
	int x = 0;

	for (unsigned i = 0; i < groups->count; i++) {
		unsigned j = i;

		for (; j && sums[order[j - 1]] < sums[i]; j--)
			order[j] = order[j - 1];
		order[j] = i;
		all += sums[i];
	}
	for (unsigned i = 0; i < groups->count && all; i++) {
		unsigned band = order[i];
		const char *name = groups->names[band];
		int room = canvas_columns(area->canvas, name);
		char text[TEXT];

		if (!sums[band])
			break;
		room = room < LEGEND_NAME ? room : LEGEND_NAME;
		snprintf(text, sizeof(text), " %.1f %%", 100.0 * (double)sums[band] / (double)all);
		if (x + 3 + room + (int)strlen(text) > area->width)
			break;
		canvas_printf(area, y, x, INK_BAND + band, "%c", 'A' + (int)band);
		x += 2 + canvas_name(area, y, x + 2, room, INK_PLAIN, name);
		x += canvas_text(area, y, x, INK_PLAIN, text) + 2;
	}
}

/* The marker under the cursor, or the band: where it is, and how long it lasts, to the precision of a
 * column. */
static void draw_status(const struct timeline_pane *t, const struct area *area, int y)
{
	int column = timeline_cursor_column(t), begin, end, x;
	uint32_t node, exact;
	char text[AXIS_TEXT], duration[FIGURE_SIZE];
	uint64_t width = timeline_edge(t, column + 1) - timeline_edge(t, column);

	x = canvas_printf(area, y, 0, INK_BOLD, "%s  ", axis_text(t->cursor, width, text));
	for (size_t i = 0; i < t->data->marker_count; i++) {
		const struct timeline_marker *m = &t->data->markers[i];

		if (m->time < t->from || m->time >= t->to || column_of(t, m->time) != column)
			continue;
		x += canvas_cut(area, y, x, area->width / 2, INK_WARN, m->text);
		x += canvas_text(area, y, x, INK_PLAIN, "  ");
		break;
	}
	node = timeline_node(t, t->pane.list.cursor, column, &exact);
	if (exact == BIN_NOWHERE) {
		canvas_text(area, y, x, INK_DIM, "the thread was not there");
		return;
	}
	timeline_band(t, t->pane.list.cursor, column, &begin, &end);
	if (node) {
		const struct profile_node *n = timeline_profile(t, node);
		struct label label = label_of(n);
		char *place = label_place(&label, false);

		x += canvas_name(area, y, x, area->width - x - 30, INK_PLAIN, n->name);
		x += canvas_cut(area, y, x, area->width - x - 24, INK_PLACE, place ? place : "");
		free(place);
	} else {
		x += canvas_text(area, y, x, INK_DIM, exact ? "(not as deep)" : "(nothing is known)");
	}
	figure_duration(timeline_edge(t, end) - timeline_edge(t, begin), duration);
	canvas_printf(area, y, x, INK_PLAIN, "  for about %s", duration);
}

void timeline_draw(struct pane *pane, struct app *app, const struct area *area)
{
	struct timeline_pane *t = (struct timeline_pane *)pane;

	if (!t->base || area->width < timeline_name_width(t) + 2)
		return;
	pane->first = TIMELINE_TOP;
	list_set(&pane->list, timeline_rows(t), timeline_height(t, area->height));
	draw_head(t, area);
	draw_axis(t, area);
	if (!t->data) {
		canvas_cut(area, TIMELINE_TOP + 1, 2, area->width - 4, *t->error ? INK_WARN : INK_DIM,
			*t->error ? t->error : "the trace is being read");
		return;
	}
	draw_rows(t, area);
	draw_messages(t, area);
	if (value_rows(t, area->height))
		draw_values(t, area);
	draw_legend(t, area, area->height - 2);
	draw_status(t, area, area->height - 1);
}
