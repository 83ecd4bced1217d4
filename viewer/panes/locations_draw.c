/* How locations look. */
#include "viewer/panes/locations.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profile/metrics/figures.h"

#define FIGURE_COLUMNS 12
#define BAR_LEAST 6 /* columns that a long name leaves to the bar */

static const char *const value_names[VALUES] = {"inclusive", "exclusive", "samples", "calls"};

static bool is_time(const struct locations_pane *p)
{
	return p->shown <= VALUE_EXCLUSIVE;
}

static const char *shown_name(const struct locations_pane *p)
{
	const struct column_set *set = &p->snapshot->columns;

	return p->shown < VALUES ? value_names[p->shown] : set->items[set->shown[p->shown - VALUES]].name;
}

static const char *figure(const struct locations_pane *p, double value, char text[FIGURE_SIZE])
{
	if (value != value)
		snprintf(text, FIGURE_SIZE, "-");
	else if (is_time(p))
		figure_duration((uint64_t)value, text);
	else if (value < 0 || value != (double)(uint64_t)value)
		snprintf(text, FIGURE_SIZE, "%.4g", value);
	else
		figure_count((uint64_t)value, text);
	return text;
}

static bool adds_up(const struct locations_pane *p)
{
	const struct column_set *set = &p->snapshot->columns;

	return p->shown < VALUES || !set->items[set->shown[p->shown - VALUES]].ratio;
}

static const char *focus_name(const struct app *app)
{
	const struct focus *f = &app->focus;

	return !f->kind ? "[total]" : *f->name ? f->name : f->file;
}

static uint64_t parts_of(const struct locations_pane *p)
{
	uint64_t parts = 0;

	for (size_t i = 0; i < p->count; i++)
		parts += p->rows[i].part;
	return parts;
}

/* How even it is: two lines, so that all of it stands in 80 columns. */
static void draw_spread(const struct locations_pane *p, const struct area *area, uint64_t parts)
{
	const struct profile_spread *s = &p->spread;
	char total[FIGURE_SIZE], mean[FIGURE_SIZE], least[FIGURE_SIZE], most[FIGURE_SIZE],
		deviation[FIGURE_SIZE];
	int x;

	canvas_printf(area, 1, 0, INK_PLAIN, "imbalance %.1f %%  total %s  mean %s  deviation %s",
		profile_spread_imbalance(s, parts), figure(p, (double)s->total, total),
		figure(p, (double)profile_spread_mean(s, parts), mean),
		figure(p, profile_spread_deviation(s, parts), deviation));
	x = canvas_printf(area, 2, 0, INK_PLAIN, "min %s  max %s in ",
		figure(p, (double)profile_spread_least(s, parts), least), figure(p, (double)s->most, most));
	canvas_cut(area, 2, x, area->width - x, INK_PLAIN, p->rows[s->most_rank].name);
}

static void draw_head(const struct locations_pane *p, const struct app *app, const struct area *area)
{
	static const char *const words[2][2] = {{"threads", "thread"}, {"processes", "process"}};
	uint64_t parts = parts_of(p);
	char over[64];
	int x = canvas_printf(area, 0, 0, INK_PLAIN, "%s of ", shown_name(p));

	snprintf(over, sizeof(over), " over %" PRIu64 " %s%s", parts, words[p->by_process][parts == 1],
		p->by_value ? ", largest first" : "");
	x += canvas_name(area, 0, x, area->width - x - (int)strlen(over), INK_BOLD, focus_name(app));
	canvas_text(area, 0, x, INK_PLAIN, over);
	if (p->spread.ranks && adds_up(p))
		draw_spread(p, area, parts);
}

static void draw_row(
	const struct locations_pane *p, const struct area *area, int y, const struct row *row, int names)
{
	char text[FIGURE_SIZE];
	double share = p->spread.most ? row->value / (double)p->spread.most : 0;
	int x = 2 + names + 1, bar = x + FIGURE_COLUMNS + 2;

	if (p->picked && p->picked[row->location])
		canvas_glyph(area, y, 0, INK_KEY, GLYPH_MARK);
	canvas_cut(area, y, 2, names, row->part ? INK_PLAIN : INK_DIM, row->name);
	if (!row->part) {
		canvas_text(area, y, x, INK_DIM, "not selected");
		return;
	}
	canvas_printf(area, y, x, INK_PLAIN, "%*s", FIGURE_COLUMNS, figure(p, row->value, text));
	if (share >= 0 && share <= 1)
		canvas_bar(area, y, bar, area->width - bar, share, canvas_heat(share));
}

/* Columns of the names: what they need, as two that are cut may look alike. */
static int name_columns(const struct locations_pane *p, const struct area *area)
{
	int most = area->width - (2 + 1 + FIGURE_COLUMNS + 2 + BAR_LEAST), names = 12;

	most = most > area->width / 3 ? most : area->width / 3;
	for (size_t i = 0; i < p->count; i++) {
		int columns = canvas_columns(area->canvas, p->rows[i].name);

		names = columns > names ? columns : names;
	}
	return names < most ? names : most;
}

static void draw_headings(const struct locations_pane *p, const struct area *area, int names)
{
	static const char bar[] = "of the largest";
	int end = 2 + names + 1 + FIGURE_COLUMNS, y = HEAD_LINES - 1;

	canvas_text(area, y, 2, INK_DIM, p->by_process ? "process" : "thread");
	canvas_text(area, y, end - canvas_columns(area->canvas, shown_name(p)), INK_DIM, shown_name(p));
	if (area->width - end - 2 >= (int)strlen(bar))
		canvas_text(area, y, end + 2, INK_DIM, bar);
}

void locations_draw(struct pane *pane, struct app *app, const struct area *area)
{
	struct locations_pane *p = locations_of(pane);
	int names;

	if (!p->snapshot)
		return;
	names = name_columns(p, area);
	pane->first = HEAD_LINES;
	list_set(&p->pane.list, p->count, area->height - HEAD_LINES);
	draw_head(p, app, area);
	draw_headings(p, area, names);
	for (int i = 0; i < p->pane.list.height && p->pane.list.top + (size_t)i < p->count; i++) {
		size_t at = p->pane.list.top + (size_t)i;

		draw_row(p, area, HEAD_LINES + i, &p->rows[at], names);
		if (at == p->pane.list.cursor)
			canvas_reverse(area, HEAD_LINES + i, 0, area->width);
	}
}
