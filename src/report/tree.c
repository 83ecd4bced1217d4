/* Trees and tables as text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "sheet.h"

#define TINY 0.5 /* percent below which nobody looks for what is missing */

/* What is printed, for the callbacks of the walk. */
struct printed {
	struct style *style;
	struct sheet *sheet;
};

/* ---------------------------------------------------------------- tree */

/* One frame that only calls the next: read like a stack, such chains stay in one column. */
static bool is_chained(const struct walker *w, const struct profile_node *n)
{
	const struct profile_node *above = &w->sheet->nodes[n->parent];

	return w->level && w->levels[w->level].only && n->kind == PROFILE_INTERMEDIATE &&
	       above->kind == n->kind && !above->exclusive && !above->blocked;
}

/* Of a difference; NULL: there is none. */
static const char *mark_of(const struct profile_diff_pair *pair)
{
	return !pair ? "" : !pair->before.present ? "new " : !pair->after.present ? "gone " : "";
}

static void node_enter(const struct walker *w, uint32_t i)
{
	const struct sheet *sheet = w->sheet;
	const struct profile_node *n = &sheet->nodes[i];
	struct style *style = ((const struct printed *)w->data)->style;
	struct label label = label_of(n);
	const char *mark = mark_of(sheet->base ? &sheet->pairs[i] : NULL);
	int used = sheet_cells(sheet, style, i);

	w->levels[w->level].chained = !sheet->base && is_chained(w, n);
	if (n->module == sheet->nodes[n->parent].module)
		label.module = "";
	used += walk_guides(style, w) + (int)strlen(mark);
	if (*mark)
		style_put(style, INK_WARN, "%s", mark);
	style_label(style, &label, (unsigned)used);
}

/* Whether the children that are not shown have so much, or changed so much, that somebody may look for it. */
static bool node_rest(const struct walker *w, uint32_t parent)
{
	const struct sheet *s = w->sheet;
	double sum = 0;

	for (uint32_t c = s->nodes[parent].first_child; c; c = s->nodes[c].next_sibling)
		if (!sheet_shows(s, c))
			sum += s->base ? sheet_change(s, c) : sheet_size_share(s, c);
	return (s->base ? sheet_share(s, fabs(sum)) : sum) >= TINY;
}

static void node_hidden(const struct walker *w, uint32_t parent, uint32_t hidden)
{
	const struct printed *p = w->data;
	struct sheet *s = p->sheet;

	if ((s->base && sheet_sum_hidden(s->base, w, parent)) || sheet_sum_hidden(s, w, parent))
		return;
	sheet_cells(s, p->style, s->count);
	walk_guides(p->style, w);
	style_put(p->style, INK_DIM, "(%" PRIu32 " %s %g %%)\n", hidden,
		s->base ? "that changed by less than" : "more below", s->options->look.threshold);
}

int sheet_tree(struct style *style, struct sheet *sheet, int time_width, const char *name)
{
	struct printed printed = {style, sheet};
	struct walker walker = {.sheet = sheet,
		.data = &printed,
		.enter = node_enter,
		.rest = node_rest,
		.hidden = node_hidden};
	int r = sheet_lay_out(sheet, style, time_width);

	if (r)
		return r;
	sheet_heading(sheet, style, name);
	r = report_walk(&walker);
	style_legend(style);
	return r;
}

static const struct field_column over_columns[] = {
	COLUMN(&fields[FIELD_INCLUSIVE], .heading = "total", .hot = true), COLUMN(&fields[FIELD_MEAN]),
	COLUMN(&fields[FIELD_LEAST]), COLUMN(&fields[FIELD_LEAST_RANK]), COLUMN(&fields[FIELD_MOST]),
	COLUMN(&fields[FIELD_MOST_RANK]), COLUMN(&fields[FIELD_IMBALANCE]), {0}};

/* Total, mean, least and most of each node. */
static int tree_over_ranks(struct style *style, struct sheet *sheet)
{
	char name[FIGURE_SIZE + 200], n[FIGURE_SIZE];
	int time_width = style_times(style, sheet->time);

	sheet->list = over_columns;
	snprintf(name, sizeof(name), "call tree, %s ranks", figure_number(sheet->over->ranks, n));
	return sheet_tree(style, sheet, time_width, name);
}

int report_tree(struct style *style, struct sheet *sheet)
{
	bool reverse = sheet->view == FIELD_REVERSE;
	uint64_t time = sheet->time;

	if (sheet->over)
		return tree_over_ranks(style, sheet);
	if (sheet->base && sheet->base->time > time)
		time = sheet->base->time;
	return sheet_tree(style, sheet, style_times(style, time),
		!reverse                  ? "call tree"
		: sheet->set->shown_count ? "where it was, and who called"
					  : "where time was spent, and who called it");
}

/* ---------------------------------------------------------------- flat */

static void put_row(struct style *style, const struct sheet *sheet, size_t number)
{
	struct label label = label_of(&sheet->nodes[number]);
	enum profile_by by = sheet->options->by;
	int used = sheet_cells(sheet, style, number);

	if (by == PROFILE_BY_THREAD)
		label.module = "";
	if ((by == PROFILE_BY_MODULE || by == PROFILE_BY_FILE) && !style->full_paths)
		label.name = path_base(label.name);
	style_label(style, &label, (unsigned)used);
}

static void put_hidden(const struct style *style, const struct sheet *sheet, size_t hidden, uint64_t rest)
{
	FILE *out = style->out;

	style_ink(style, INK_DIM);
	fprintf(out, "(%zu more below %g %%", hidden, sheet->options->look.threshold);
	if (!sheet->set->shown_count)
		fprintf(out, ", together %.3f %s alone", (double)rest / style->unit, style->unit_name);
	fputs(")\n", out);
	style_ink(style, INK_PLAIN);
}

int report_flat(struct style *style, struct sheet *sheet)
{
	static const char *const headings[] = {"function", "line", "module", "thread", "file"};
	uint64_t rest = 0;
	size_t hidden = 0;

	if (sheet_lay_out(sheet, style, style_times(style, sheet->time)))
		return HYB_ENOMEM;
	sheet_heading(sheet, style, headings[sheet->options->by]);
	for (size_t i = 0; i < sheet->count; i++) {
		if (sheet_shows(sheet, i)) {
			put_row(style, sheet, i);
		} else {
			hidden++;
			rest += sheet->nodes[i].exclusive + sheet->nodes[i].blocked;
		}
	}
	if (hidden)
		put_hidden(style, sheet, hidden, rest);
	style_legend(style);
	return 0;
}
