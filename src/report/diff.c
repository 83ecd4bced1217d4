#include "diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define TINY 0.5 /* percent below which nobody looks for what is missing */

/* -------------------------------------------------------------- the data */

static void get_before(const void *nodes, size_t i, struct sheet_thing *ret)
{
	const struct profile_diff_node *n = (const struct profile_diff_node *)nodes + i;

	*ret = (struct sheet_thing){n->before, n->parent, n->kind, true, NULL};
}

static void get_after(const void *nodes, size_t i, struct sheet_thing *ret)
{
	const struct profile_diff_node *n = (const struct profile_diff_node *)nodes + i;

	*ret = (struct sheet_thing){n->after, n->parent, n->kind, true, NULL};
}

/* Of time in ns, exactly. */
static double change_of(const struct difference *d, uint32_t node, size_t column)
{
	size_t at = node * d->set->count + column;

	if (column == d->set->metrics)
		return (double)d->nodes[node].after.inclusive - (double)d->nodes[node].before.inclusive;
	return d->after.inclusive[at] - d->before.inclusive[at];
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
		change[i] = change_of(d, i, d->column);
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
	d->after.whole = d->whole;
	d->after.column = d->column;
	d->after.base = &d->before;
	d->after.pairs = d->nodes;
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
	double least = options->look.threshold / 100 * d->whole;

	return d->nodes[node].change >= (d->column == d->set->metrics ? floor(least) : least); /* whole ns */
}

void difference_links(const void *tree, uint32_t i, uint32_t *ret_child, uint32_t *ret_next)
{
	const struct profile_diff_node *nodes = tree;

	*ret_child = nodes[i].first_child;
	*ret_next = nodes[i].next_sibling;
}

/* ------------------------------------------------------------------ text */

struct printed {
	struct style *style;
	struct difference *d;
};

static void enter(const struct walker *w, uint32_t i)
{
	const struct printed *p = w->data;
	const struct profile_diff_node *n = &p->d->nodes[i];
	struct label label = {.kind = n->kind,
		.guess = n->guess,
		.python = n->python,
		.name = n->name,
		.file = n->file,
		.module = n->module == p->d->nodes[n->parent].module ? "" : n->module,
		.line = n->line};
	const char *mark = !n->before.present ? "new " : !n->after.present ? "gone " : "";
	int used = sheet_cells(&p->d->after, p->style, i);

	used += walk_guides(p->style, w);
	style_ink(p->style, *mark ? INK_WARN : INK_PLAIN);
	used += fprintf(p->style->out, "%s", mark);
	style_ink(p->style, INK_PLAIN);
	style_label(p->style, &label, (unsigned)used);
}

static bool visible(const struct walker *w, uint32_t i)
{
	const struct printed *p = w->data;

	return difference_shows(p->d, p->d->after.options, i);
}

/* Whether the children that are not shown changed so much together that somebody may look for it. */
static bool has_rest(const struct walker *w, uint32_t parent)
{
	const struct printed *p = w->data;
	double sum = 0;

	for (uint32_t c = p->d->nodes[parent].first_child; c; c = p->d->nodes[c].next_sibling)
		if (!visible(w, c))
			sum += change_of(p->d, c, p->d->column);
	return sum != 0 && sheet_share(&p->d->after, fabs(sum)) >= TINY;
}

static void put_rest(const struct walker *w, uint32_t parent, uint32_t hidden)
{
	const struct printed *p = w->data;
	struct sheet *after = &p->d->after;

	if (sheet_sum_hidden(&p->d->before, w, parent) || sheet_sum_hidden(after, w, parent))
		return;
	sheet_cells(after, p->style, after->count);
	walk_guides(p->style, w);
	style_ink(p->style, INK_DIM);
	fprintf(p->style->out, "(%" PRIu32 " that changed by less than %g %%)\n", hidden,
		after->options->look.threshold);
	style_ink(p->style, INK_PLAIN);
}

int report_diff(struct style *style, struct difference *d)
{
	struct printed printed = {style, d};
	struct walker walker = {.tree = d->nodes,
		.links = difference_links,
		.visible = visible,
		.depth = d->after.options->depth,
		.data = &printed,
		.enter = enter,
		.rest = has_rest,
		.hidden = put_rest};
	uint64_t before = d->nodes->before.inclusive, after = d->nodes->after.inclusive;
	int r = sheet_lay_out(&d->after, style, style_times(style, before > after ? before : after));

	if (r)
		return r;
	sheet_heading(&d->after, style, "call tree");
	r = report_walk(&walker);
	style_legend(style);
	return r;
}
