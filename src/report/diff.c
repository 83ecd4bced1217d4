#include <stdlib.h>

#include "sheet.h"

/* Nodes come in the order of time's changes. */
static int order(const struct sheet *after, struct profile_diff *diff)
{
	double *change;
	int r;

	if (after->column == after->metrics)
		return 0;
	change = calloc(after->count, sizeof(*change));
	if (!change)
		return HYB_ENOMEM;
	for (uint32_t i = 0; i < after->count; i++)
		change[i] = sheet_change(after, i);
	r = profile_diff_order(diff, change);
	free(change);
	return r;
}

/* 100 %: what there was before, or else is after; ns of time. */
static double whole_of(const struct sheet *after, const struct profile_diff *diff)
{
	if (after->column == after->metrics)
		return (double)profile_diff_whole(diff);
	return after->base->whole > 0 ? after->base->whole : after->whole;
}

int difference_make(struct difference *d, const struct report_options *options, struct profile_diff *diff,
	const struct column_set *set)
{
	size_t first = set->shown_count ? set->shown[0] : set->metrics;
	int r;

	*d = (struct difference){.before = {.options = options,
					 .set = set,
					 .nodes = profile_diff_nodes(diff),
					 .values = profile_diff_before(diff),
					 .count = profile_diff_count(diff),
					 .is_tree = true,
					 .pairs = profile_diff_pairs(diff),
					 .column = set->items[first].ratio ? set->metrics : first}};
	d->after = d->before;
	d->after.values = profile_diff_after(diff);
	d->after.base = &d->before;
	r = sheet_make(&d->before);
	if (!r)
		r = sheet_make(&d->after);
	if (!r) {
		d->after.whole = whole_of(&d->after, diff);
		r = order(&d->after, diff);
	}
	if (r)
		difference_release(d);
	return r;
}

void difference_release(struct difference *d)
{
	sheet_release(&d->before);
	sheet_release(&d->after);
}
