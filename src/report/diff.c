#include "diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define NAME_ROOM 30u /* columns that names should have */
#define TINY 0.5 /* percent below which nobody looks for what is missing */
#define WARM 2.0 /* percent from which a change is coloured */

/* -------------------------------------------------------------- the data */

static void get_before(const void *nodes, size_t i, struct sheet_thing *ret)
{
	const struct profile_diff_node *n = (const struct profile_diff_node *)nodes + i;

	*ret = (struct sheet_thing){n->before, n->parent, n->kind, true};
}

static void get_after(const void *nodes, size_t i, struct sheet_thing *ret)
{
	const struct profile_diff_node *n = (const struct profile_diff_node *)nodes + i;

	*ret = (struct sheet_thing){n->after, n->parent, n->kind, true};
}

/* A value of a side; of time in ns, exactly. */
static double value_of(const struct difference *d, bool after, uint32_t node, size_t column, bool alone)
{
	const struct profile_diff_node *n = &d->nodes[node];
	const struct profile_values *v = after ? &n->after : &n->before;
	const struct sheet *s = after ? &d->after : &d->before;

	if (column == d->set->metrics)
		return (double)(alone ? v->exclusive : v->inclusive);
	return (alone ? s->exclusive : s->inclusive)[node * d->set->count + column];
}

static double change_of(const struct difference *d, uint32_t node, size_t column, bool alone)
{
	return value_of(d, true, node, column, alone) - value_of(d, false, node, column, alone);
}

static int order(struct difference *d, struct profile_diff *diff)
{
	size_t count = profile_diff_count(diff);
	double *change;
	int r;

	if (d->column == d->set->metrics) {
		d->whole = (double)profile_diff_whole(diff);
		return 0;
	}
	d->whole = d->before.whole > 0 ? d->before.whole : d->after.whole;
	change = calloc(count, sizeof(*change));
	if (!change)
		return HYB_ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		change[i] = change_of(d, i, d->column, false);
	r = profile_diff_order(diff, change);
	free(change);
	return r;
}

int difference_make(struct difference *d, const struct report_options *options, struct profile_diff *diff,
	const struct column_set *set)
{
	size_t first = set->shown_count ? set->shown[0] : set->metrics, count = profile_diff_count(diff);
	int r;

	*d = (struct difference){.nodes = profile_diff_nodes(diff),
		.set = set,
		.column = set->items[first].ratio ? set->metrics : first};
	r = sheet_make(
		&d->before, options, set, profile_diff_before(diff), d->nodes, count, get_before, false);
	if (!r)
		r = sheet_make(
			&d->after, options, set, profile_diff_after(diff), d->nodes, count, get_after, false);
	if (!r)
		r = order(d, diff);
	if (r)
		difference_release(d);
	return r;
}

void difference_release(struct difference *d)
{
	sheet_release(&d->before);
	sheet_release(&d->after);
}

bool difference_shows(const struct difference *d, const struct report_options *options, uint32_t node)
{
	double least = options->threshold / 100 * d->whole;

	return d->nodes[node].change >= (d->column == d->set->metrics ? floor(least) : least); /* whole ns */
}

void difference_links(const void *tree, uint32_t i, uint32_t *ret_child, uint32_t *ret_next)
{
	const struct profile_diff_node *nodes = tree;

	*ret_child = nodes[i].first_child;
	*ret_next = nodes[i].next_sibling;
}

/* --------------------------------------------------------------- columns */

enum part { BEFORE = 0, AFTER, CHANGE, PERCENT, ALONE, PARTS };

static const char *const part_names[] = {"before", "after", "change", "%", "excl"};

/* What stands in front of the names. */
struct layout {
	struct style *style;
	const struct report_options *options;
	const struct difference *d;
	unsigned *parts; /* bits, by column of the set */
	size_t *columns; /* in their order */
	double *units; /* by column: ns that a printed 1.0 stands for, of times */
	size_t count;
	int time_width;
};

static int part_width(const struct layout *l, size_t column, unsigned part)
{
	const struct column_set *set = l->d->set;
	int width = column == set->metrics ? l->time_width : figure_width(&set->items[column]);

	if (part == PERCENT)
		return 7;
	return width + (column != set->metrics && part >= CHANGE); /* a sign */
}

static int group_width(const struct layout *l, size_t column)
{
	int width = 0;

	for (unsigned part = 0; part < PARTS; part++)
		width += l->parts[column] & 1u << part ? part_width(l, column, part) : 0;
	return width;
}

static unsigned total_width(const struct layout *l)
{
	int width = 2;

	for (size_t i = 0; i < l->count; i++)
		width += group_width(l, l->columns[i]);
	return (unsigned)width;
}

static void choose_unit(struct layout *l, size_t column)
{
	const struct column *c = &l->d->set->items[column];
	double before = value_of(l->d, false, 0, column, false),
	       after = value_of(l->d, true, 0, column, false);

	l->units[column] = figure_unit(fmax(fabs(figure_seconds(c, before)), fabs(figure_seconds(c, after))));
}

/* Time has a share, and if nothing else is asked for nothing else; behind metrics stands its change. */
static void choose_columns(struct layout *l)
{
	const struct column_set *set = l->d->set;
	unsigned sides = 1u << BEFORE | 1u << AFTER | 1u << CHANGE;

	for (size_t i = 0; i < set->shown_count; i++) {
		l->columns[l->count++] = set->shown[i];
		l->parts[set->shown[i]] = sides | 1u << ALONE | (i ? 0 : 1u << PERCENT);
		choose_unit(l, set->shown[i]);
	}
	if (!l->parts[set->metrics]) {
		l->parts[set->metrics] = l->count ? 1u << CHANGE : sides | 1u << PERCENT | 1u << ALONE;
		l->columns[l->count++] = set->metrics;
	}
	l->units[set->metrics] = l->style->unit;
	for (size_t i = l->count; l->style->cut && i-- > 0 && total_width(l) + NAME_ROOM > l->style->width;)
		l->parts[l->columns[i]] &= i || set->shown_count ? ~(1u << ALONE) : UINT32_MAX;
	while (l->style->cut && l->count > 1 && total_width(l) + NAME_ROOM > l->style->width)
		l->count--;
}

static int lay_out(struct layout *l)
{
	const struct profile_diff_node *root = l->d->nodes;
	uint64_t before = root->before.inclusive, after = root->after.inclusive;
	size_t count = l->d->set->count;
	int digits;

	style_set_unit(l->style, before > after ? before : after);
	digits = snprintf(NULL, 0, "%.3f", (double)(before ? before : after) / l->style->unit);
	l->time_width = (digits > 8 ? digits : 8) + 1 + (l->d->set->shown_count > 0); /* "time (ms)" */
	l->parts = calloc(count, sizeof(*l->parts));
	l->columns = calloc(count, sizeof(*l->columns));
	l->units = calloc(count, sizeof(*l->units));
	if (!l->parts || !l->columns || !l->units)
		return HYB_ENOMEM;
	choose_columns(l);
	return 0;
}

static void put_heading(const struct layout *l)
{
	const struct column_set *set = l->d->set;
	FILE *out = l->style->out;

	fputc('\n', out);
	style_ink(l->style, INK_DIM);
	for (size_t i = 0; set->shown_count && i < l->count; i++)
		sheet_name(l->style, &set->items[l->columns[i]], l->units[l->columns[i]],
			group_width(l, l->columns[i]));
	if (set->shown_count)
		fputc('\n', out);
	for (size_t i = 0; i < l->count; i++)
		for (unsigned part = 0; part < PARTS; part++)
			if (l->parts[l->columns[i]] & 1u << part)
				fprintf(out, "%*s", part_width(l, l->columns[i], part),
					part == PERCENT && l->columns[i] != l->d->column ? "time %"
											 : part_names[part]);
	fputs("  call tree", out);
	if (!set->shown_count)
		fprintf(out, " (%s)", style_unit_words(l->style));
	fputc('\n', out);
	style_ink(l->style, INK_PLAIN);
}

/* ------------------------------------------------------------------ rows */

static double percent(const struct difference *d, double change)
{
	return d->whole > 0 ? change * 100 / d->whole : 0;
}

static const char *figure(const struct layout *l, size_t column, double value, char text[FIGURE_SIZE])
{
	if (column != l->d->set->metrics)
		return figure_value(&l->d->set->items[column], value, l->units[column], text);
	snprintf(text, FIGURE_SIZE, "%.3f", value / l->units[column]);
	return text;
}

static void put_change(const struct layout *l, size_t column, double change, int width)
{
	double p = column == l->d->column ? percent(l->d, change) : 0;
	char number[FIGURE_SIZE], text[FIGURE_SIZE + 1];

	figure(l, column, change, number);
	snprintf(text, sizeof(text), "%s%s", change >= 0 ? "+" : "", number);
	if (p >= WARM)
		style_ink(l->style, INK_HOT);
	if (p <= -WARM)
		style_ink(l->style, INK_PLACE);
	fprintf(l->style->out, "%*s", width, text);
	style_ink(l->style, INK_PLAIN);
}

/* The change that has a share: what was waited outside of all probes has none. */
static double shared_change(const struct difference *d, uint32_t node)
{
	const struct profile_diff_node *n = &d->nodes[node];
	double change = change_of(d, node, d->column, false);

	if (d->column == d->set->metrics && n->kind == PROFILE_ROOT)
		change -= (double)n->after.blocked - (double)n->before.blocked;
	return change;
}

/* Of a node one cell; 0 of a side is left blank. */
static void put_part(const struct layout *l, uint32_t node, size_t column, unsigned part)
{
	int width = part_width(l, column, part);
	char text[FIGURE_SIZE] = "";
	double v;

	switch (part) {
	case PERCENT:
		fprintf(l->style->out, " %+6.1f", percent(l->d, shared_change(l->d, node)));
		return;
	case CHANGE:
	case ALONE:
		put_change(l, column, change_of(l->d, node, column, part == ALONE), width);
		return;
	}
	v = value_of(l->d, part == AFTER, node, column, false);
	if (v != 0)
		figure(l, column, v, text);
	fprintf(l->style->out, "%*s", width, text);
}

static int put_cells(const struct layout *l, uint32_t node)
{
	for (size_t i = 0; i < l->count; i++)
		for (unsigned part = 0; part < PARTS; part++)
			if (l->parts[l->columns[i]] & 1u << part)
				put_part(l, node, l->columns[i], part);
	fputs("  ", l->style->out);
	return (int)total_width(l);
}

static void enter(const struct walker *w, uint32_t i)
{
	const struct layout *l = w->data;
	const struct profile_diff_node *n = &l->d->nodes[i];
	struct label label = {.kind = n->kind,
		.guess = n->guess,
		.python = n->python,
		.name = n->name,
		.file = n->file,
		.module = n->module == l->d->nodes[n->parent].module ? "" : n->module,
		.line = n->line};
	const char *mark = !n->before.present ? "new " : !n->after.present ? "gone " : "";
	int used = put_cells(l, i);

	used += walk_guides(l->style, w);
	style_ink(l->style, *mark ? INK_WARN : INK_PLAIN);
	used += fprintf(l->style->out, "%s", mark);
	style_ink(l->style, INK_PLAIN);
	style_label(l->style, &label, (unsigned)used);
}

static bool visible(const struct walker *w, uint32_t i)
{
	const struct layout *l = w->data;

	return difference_shows(l->d, l->options, i);
}

/* By how much the children together changed that are not shown. */
static double sum_hidden(const struct walker *w, uint32_t parent, size_t column)
{
	const struct layout *l = w->data;
	double sum = 0;

	for (uint32_t c = l->d->nodes[parent].first_child; c; c = l->d->nodes[c].next_sibling)
		if (!visible(w, c))
			sum += change_of(l->d, c, column, false);
	return sum;
}

static bool has_rest(const struct walker *w, uint32_t parent)
{
	const struct layout *l = w->data;
	double sum = sum_hidden(w, parent, l->d->column);

	return sum != 0 && percent(l->d, fabs(sum)) >= TINY;
}

static void put_rest(const struct walker *w, uint32_t parent, uint32_t hidden)
{
	const struct layout *l = w->data;
	FILE *out = l->style->out;

	for (size_t i = 0; i < l->count; i++)
		for (unsigned part = 0; part < PARTS; part++) {
			size_t column = l->columns[i];

			if (!(l->parts[column] & 1u << part))
				continue;
			if (part == CHANGE && !l->d->set->items[column].ratio)
				put_change(l, column, sum_hidden(w, parent, column),
					part_width(l, column, part));
			else
				fprintf(out, "%*s", part_width(l, column, part), "");
		}
	fputs("  ", out);
	walk_guides(l->style, w);
	style_ink(l->style, INK_DIM);
	fprintf(out, "(%" PRIu32 " that changed by less than %g %%)\n", hidden, l->options->threshold);
	style_ink(l->style, INK_PLAIN);
}

int report_diff(struct style *style, const struct report_options *options, const struct difference *d)
{
	struct layout l = {.style = style, .options = options, .d = d};
	struct walker walker = {.tree = d->nodes,
		.links = difference_links,
		.visible = visible,
		.depth = options->depth,
		.data = &l,
		.enter = enter,
		.rest = has_rest,
		.hidden = put_rest};
	int r = lay_out(&l);

	if (!r) {
		put_heading(&l);
		r = report_walk(&walker);
		style_legend(style);
	}
	free(l.parts);
	free(l.columns);
	free(l.units);
	return r;
}
