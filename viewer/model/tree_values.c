/* The columns of a tree: which there are, and the text of their cells. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/model/tree_view.h"

#define NAME_ROOM 34 /* columns that names have at least; tables have no guides in front */
#define TABLE_NAME_ROOM 30
#define MORE_ROOM 50 /* before what nobody asked for is shown */

/* ---------------------------------------------------------------- values */

static const struct column *metric_of(const struct tree_view *f, unsigned column)
{
	size_t i = (column - TREE_METRICS) / TREE_PARTS;

	return column >= TREE_METRICS && f->source.columns && i < f->source.columns->count
		       ? &f->source.columns->items[i]
		       : NULL;
}

static enum tree_part part_of(unsigned column)
{
	return (enum tree_part)((column - TREE_METRICS) % TREE_PARTS);
}

bool tree_view_is_change(unsigned column)
{
	return column < TREE_METRICS ? fields[column].sign : part_of(column) >= TREE_PART_CHANGE;
}

/* Of what a node has now, or had before. */
static double side_value(const struct tree_view *f, uint32_t node, size_t column, bool alone, bool before)
{
	const struct column_set *set = f->source.columns;
	const struct profile_node *n = &f->source.nodes[node];
	const struct profile_value *all = before ? f->source.before : f->source.values;
	const struct profile_value *values = all ? all + (size_t)node * set->metrics : NULL;
	uint64_t inclusive = n->inclusive, exclusive = n->exclusive + n->blocked;

	if (column < set->metrics)
		return !values ? NAN : (double)(alone ? values[column].exclusive : values[column].inclusive);
	if (before) {
		const struct profile_values *v = &f->source.pairs[node].before;

		inclusive = v->inclusive;
		exclusive = v->exclusive + v->blocked;
	}
	columns_evaluate(set, values, (double)inclusive / 1e9, (double)exclusive / 1e9, f->scratch,
		f->scratch + set->count);
	return f->scratch[column + (alone ? set->count : 0)];
}

static double metric_value(const struct tree_view *f, uint32_t node, unsigned column)
{
	size_t i = (column - TREE_METRICS) / TREE_PARTS;
	enum tree_part part = part_of(column);
	bool alone = part == TREE_PART_EXCLUSIVE || part == TREE_PART_CHANGE_EXCLUSIVE;

	if (part >= TREE_PART_BEFORE && !f->source.pairs)
		return NAN;
	if (part == TREE_PART_BEFORE)
		return side_value(f, node, i, false, true);
	if (part < TREE_PART_CHANGE)
		return side_value(f, node, i, alone, false);
	return side_value(f, node, i, alone, false) - side_value(f, node, i, alone, true);
}

static double rate(const struct tree_view *f, uint32_t node)
{
	uint32_t past = f->past ? match_find(f->past, node) : TREE_NONE;
	double grown = (double)f->source.nodes[node].inclusive;

	if (!f->past)
		return NAN;
	if (past != TREE_NONE)
		grown -= (double)f->past_nodes[past].inclusive;
	return grown / f->past_seconds;
}

static struct field_row row_of(const struct tree_view *f, uint32_t node, unsigned column)
{
	const struct profile_node *n = &f->source.nodes[node];
	const struct profile_diff_pair *pair = f->source.pairs ? &f->source.pairs[node] : NULL;
	struct field_row row = {.now = pair ? pair->after : field_values_of_node(n),
		.before = pair ? &pair->before : NULL,
		.whole = f->source.whole,
		.child_calls = f->source.child_calls[node]};

	if (column == FIELD_RATE) { /* the only one that takes long to know */
		row.rate = rate(f, node);
		row.rate_of_all = rate(f, 0);
	}
	return row;
}

double tree_view_value(const struct tree_view *f, uint32_t node, unsigned column)
{
	struct field_row row;

	if (column >= TREE_METRICS)
		return metric_of(f, column) ? metric_value(f, node, column) : NAN;
	row = row_of(f, node, column);
	return field_value(&fields[column], &row);
}

/* What the root has of a metric, on the side where it is more. */
static double most_of(const struct tree_view *f, unsigned column)
{
	size_t i = (column - TREE_METRICS) / TREE_PARTS;
	double most = fabs(side_value(f, 0, i, false, false));

	return f->source.pairs ? fmax(most, fabs(side_value(f, 0, i, false, true))) : most;
}

/* ------------------------------------------------ what a difference goes by */

/* All that there is of a metric on one side, as hybrid-report has it. */
static double sum_of(const struct tree_view *f, size_t column, bool before)
{
	double sum = 0;

	for (uint32_t i = 0; i < f->source.count; i++)
		sum += fabs(side_value(f, i, column, true, before));
	return sum;
}

int tree_view_weigh(struct tree_view *f)
{
	const struct column *c = f->source.pairs ? metric_of(f, f->sort) : NULL;
	size_t column = (f->sort - TREE_METRICS) / TREE_PARTS;

	free(f->changes);
	f->changes = NULL;
	if (!c || c->ratio)
		return 0;
	f->changes = calloc(f->source.count, sizeof(*f->changes));
	if (!f->changes)
		return HYB_ENOMEM;
	for (uint32_t i = 0; i < f->source.count; i++) {
		double change = fabs(tree_view_value(f, i, tree_metric(column, TREE_PART_CHANGE)));

		f->changes[i] = isnan(change) ? 0 : change;
	}
	for (size_t i = f->source.count; i-- > 1;) {
		double *above = &f->changes[f->source.nodes[i].parent];

		*above = fmax(*above, f->changes[i]);
	}
	f->changes_whole = sum_of(f, column, true);
	if (!(f->changes_whole > 0))
		f->changes_whole = sum_of(f, column, false);
	return 0;
}

double tree_view_size(const struct tree_view *f, uint32_t node)
{
	if (f->changes)
		return f->changes[node];
	return f->source.pairs ? f->source.pairs[node].change : (double)f->source.nodes[node].inclusive;
}

double tree_view_whole(const struct tree_view *f)
{
	return f->changes ? f->changes_whole : (double)f->source.whole;
}

double tree_view_change(const struct tree_view *f, uint32_t node, bool alone)
{
	size_t column = (f->sort - TREE_METRICS) / TREE_PARTS;

	if (f->changes)
		return tree_view_value(
			f, node, tree_metric(column, alone ? TREE_PART_CHANGE_EXCLUSIVE : TREE_PART_CHANGE));
	return tree_view_value(f, node, alone ? FIELD_CHANGE_EXCLUSIVE : FIELD_CHANGE);
}

double tree_view_heat(const struct tree_view *f, uint32_t node, unsigned column)
{
	struct field_row row;
	double whole;

	if (column < TREE_METRICS) {
		row = row_of(f, node, column);
		return fields[column].heat ? fields[column].heat(&row) : 0;
	}
	if (!metric_of(f, column) || metric_of(f, column)->ratio)
		return 0;
	whole = most_of(f, column);
	return whole > 0 && tree_view_is_change(column) ? tree_view_value(f, node, column) / whole
	       : whole > 0                              ? fabs(tree_view_value(f, node, column)) / whole
							: 0;
}

/* ----------------------------------------------------------------- cells */

/* A value of a metric. */
static const char *metric_cell(const struct tree_view *f, const struct column *c, unsigned column,
	double value, char text[FIGURE_SIZE])
{
	enum tree_part part = part_of(column);
	const char *sign = tree_view_is_change(column) && value >= 0 ? "+" : "";
	char number[FIGURE_SIZE];

	if (part == TREE_PART_EXCLUSIVE && (value == 0 || isnan(value)))
		return text;
	if ((part == TREE_PART_BEFORE || part == TREE_PART_AFTER) && value == 0)
		return text;
	figure_value(c, value, figure_unit(figure_seconds(c, most_of(f, column))), number);
	snprintf(text, FIGURE_SIZE, "%s%.*s", sign, FIGURE_SIZE - 2, number);
	return text;
}

/* Text of a value, whatever node it is of. */
static const char *cell(const struct tree_view *f, unsigned column, double value, char text[FIGURE_SIZE])
{
	const struct column *c = metric_of(f, column);

	*text = 0;
	if (column < TREE_METRICS)
		return field_text(&fields[column], value, f->unit, text);
	return c ? metric_cell(f, c, column, value, text) : text;
}

const char *tree_view_cell(const struct tree_view *f, uint32_t node, unsigned column, char text[FIGURE_SIZE])
{
	return cell(f, column, tree_view_value(f, node, column), text);
}

static unsigned view_of(const struct tree_view *f)
{
	return f->source.pairs     ? FIELD_DIFF
	       : f->source.flat    ? FIELD_FLAT
	       : f->source.reverse ? FIELD_REVERSE
				   : FIELD_TREE;
}

/* Whether a column of what is left out adds up to something: rows of a table contain each other. */
static bool adds_up(const struct tree_view *f, unsigned column)
{
	if (column < TREE_METRICS)
		return fields[column].adds & view_of(f);
	return metric_of(f, column) && part_of(column) == TREE_PART_CHANGE && !metric_of(f, column)->ratio;
}

const char *tree_view_rest_cell(
	const struct tree_view *f, uint32_t node, unsigned column, char text[FIGURE_SIZE])
{
	const struct profile_node *nodes = f->source.nodes;
	double sum = 0;

	*text = 0;
	if (!adds_up(f, column))
		return text;
	for (uint32_t c = nodes[node].first_child; c; c = nodes[c].next_sibling)
		if (!tree_view_is_visible(f, c))
			sum += tree_view_value(f, c, column);
	return cell(f, column, sum, text);
}

/* --------------------------------------------------------------- columns */

/* By part: behind a metric's name. */
static const char *const parts[TREE_PARTS] = {
	[TREE_PART_INCLUSIVE] = "",
	[TREE_PART_EXCLUSIVE] = "excl",
	[TREE_PART_BEFORE] = "before",
	[TREE_PART_AFTER] = "after",
	[TREE_PART_CHANGE] = "change",
	[TREE_PART_CHANGE_EXCLUSIVE] = "exclchange",
};

static unsigned has_of(const struct tree_view *f)
{
	const struct tree_source *s = &f->source;

	return (s->blocked ? FIELD_HAS_BLOCKED : 0) | (s->calls ? FIELD_HAS_CALLS : 0) |
	       (s->samples ? FIELD_HAS_SAMPLES : 0) | (f->past ? FIELD_HAS_RATE : 0) |
	       field_has_ready(s->ready, s->nodes->inclusive);
}

static bool has_field(const struct tree_view *f, unsigned id)
{
	return field_is_in(&fields[id], fields[id].screen, view_of(f), has_of(f));
}

const char *tree_view_column_name(const struct tree_view *f, unsigned column, char text[64])
{
	const struct column *c = metric_of(f, column);
	const char *part = c ? parts[part_of(column)] : "";

	snprintf(text, 64, "%.50s%s%s",
		c                       ? c->name
		: column < TREE_METRICS ? field_heading(&fields[column], has_of(f))
					: "",
		*part ? ":" : "", part);
	return text;
}

int tree_view_column_width(const struct tree_view *f, unsigned column)
{
	const struct column *c = metric_of(f, column);

	if (c)
		return figure_width(c) + 1 + (part_of(column) == TREE_PART_CHANGE_EXCLUSIVE);
	return fields[column].width ? fields[column].width : f->width + 1 + fields[column].wider;
}

const char *tree_view_column_group(const struct tree_view *f, unsigned column)
{
	const struct column *c = metric_of(f, column);

	if (!f->source.pairs)
		return "";
	return c ? c->name : "time";
}

/* The end of a long name is more useful: "perf::PAGE-FAULTS". */
void tree_view_column_heading(const struct tree_view *f, unsigned column, char text[64])
{
	const struct column *c = metric_of(f, column);
	size_t room = (size_t)tree_view_column_width(f, column) - 1;
	const char *name, *last;

	if (!c) {
		snprintf(text, 64, "%s", field_heading(&fields[column], has_of(f)));
		return;
	}
	name = c->name;
	last = strrchr(name, ':');
	if (part_of(column) != TREE_PART_INCLUSIVE) {
		snprintf(text, 64, "%s",
			part_of(column) == TREE_PART_EXCLUSIVE && c->level ? "alone"
									   : parts[part_of(column)]);
		return;
	}
	if (strlen(name) > room && last && last[1])
		name = last + 1;
	snprintf(text, 64, "%.*s", (int)room, name);
}

/* The metrics asked for, or those that are not. */
static size_t add_metrics(const struct tree_view *f, bool asked, enum tree_part from, enum tree_part to,
	unsigned *columns, size_t count, size_t room)
{
	const struct column_set *set = f->source.columns;

	if (!set || (!f->source.values && set->metrics))
		return count;
	for (size_t i = 0; i < set->count; i++) {
		bool is_shown = false;

		for (size_t k = 0; k < set->shown_count; k++)
			is_shown |= set->shown[k] == i;
		for (unsigned part = from; i != set->metrics && is_shown == asked && part <= to; part++)
			if (count < room)
				columns[count++] = tree_metric(i, (enum tree_part)part);
	}
	return count;
}

size_t tree_view_columns(const struct tree_view *f, unsigned *columns, size_t room)
{
	size_t count = 0;

	for (unsigned c = 0; c < TREE_METRICS && count < room; c++)
		if (has_field(f, c))
			columns[count++] = c;
	for (unsigned asked = 2; asked-- > 0;) {
		if (f->source.pairs) {
			count = add_metrics(
				f, asked, TREE_PART_BEFORE, TREE_PART_CHANGE_EXCLUSIVE, columns, count, room);
			continue;
		}
		count = add_metrics(f, asked, TREE_PART_INCLUSIVE, TREE_PART_INCLUSIVE, columns, count, room);
		if (!f->source.reverse)
			count = add_metrics(
				f, asked, TREE_PART_EXCLUSIVE, TREE_PART_EXCLUSIVE, columns, count, room);
	}
	return count;
}

/* Fields by their priority: those that come before metrics, or the others. */
static size_t add_fields(const struct tree_view *f, bool early, unsigned *wanted, size_t count)
{
	for (unsigned priority = 1; priority <= FIELDS; priority++)
		for (unsigned id = 0; id < FIELDS; id++)
			if (fields[id].priority == priority && !(fields[id].early & view_of(f)) == !early)
				wanted[count++] = id;
	return count;
}

/* The order in which columns get room. */
static size_t wanted_columns(const struct tree_view *f, unsigned *wanted, size_t room, size_t *ret_asked)
{
	enum tree_part asked = TREE_PART_INCLUSIVE, alone = TREE_PART_EXCLUSIVE;
	size_t count = 0;

	wanted[count++] = f->sort;
	if (f->source.pairs) {
		asked = TREE_PART_CHANGE;
		alone = TREE_PART_CHANGE_EXCLUSIVE;
		count = add_metrics(f, true, TREE_PART_BEFORE, TREE_PART_CHANGE, wanted, count, room - 32);
		wanted[count++] = FIELD_CHANGE;
	}
	count = add_fields(f, true, wanted, count);
	count = add_metrics(f, true, asked, asked, wanted, count, room - 16);
	count = add_fields(f, false, wanted, count);
	*ret_asked = count;
	count = add_metrics(f, true, alone, alone, wanted, count, room);
	return add_metrics(f, false, asked, asked, wanted, count, room);
}

static bool is_among(const unsigned *columns, size_t count, unsigned column)
{
	for (size_t i = 0; i < count; i++)
		if (columns[i] == column)
			return true;
	return false;
}

size_t tree_view_layout(const struct tree_view *f, int width, unsigned *columns, size_t room)
{
	unsigned all[128], wanted[128], chosen[128];
	size_t all_count = tree_view_columns(f, all, 128), asked, count = 0, chosen_count = 0;
	size_t wanted_count = wanted_columns(f, wanted, 128, &asked);
	int used = 2, names = f->source.flat ? TABLE_NAME_ROOM : NAME_ROOM;

	for (size_t i = 0; i < wanted_count; i++) {
		int w = tree_view_column_width(f, wanted[i]);

		if (!is_among(all, all_count, wanted[i]) || is_among(chosen, chosen_count, wanted[i]) ||
			(i && used + w + (i < asked ? names : MORE_ROOM) > width))
			continue;
		chosen[chosen_count++] = wanted[i];
		used += w;
	}
	for (size_t i = 0; i < all_count && count < room; i++)
		if (is_among(chosen, chosen_count, all[i]))
			columns[count++] = all[i];
	return count;
}
