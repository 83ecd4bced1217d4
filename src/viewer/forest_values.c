/* What the columns of a forest are, and what they show. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viewer/forest.h"

#define NAME_ROOM 34 /* columns that names have at least */
#define MORE_ROOM 50 /* before what nobody asked for is shown */

static const struct tree_text {
	const char *name, *text;
	int width; /* 0: that of a time */
} texts[TREE_METRICS] = {
	[TREE_INCLUSIVE] = {"incl", "time in it and in all it calls", 0},
	[TREE_PERCENT] = {"%", "inclusive time, percent of the total", 7},
	[TREE_OF_PARENT] = {"%parent", "inclusive time, percent of the line it hangs below", 8},
	[TREE_EXCLUSIVE] = {"excl", "time in it alone", 0},
	[TREE_BLOCKED] = {"blocked", "time in it alone in which it did not run", 0},
	[TREE_CALLS] = {"calls", "calls of probes", 8},
	[TREE_CHILD_CALLS] = {"below", "calls of the nearest probes below", 8},
	[TREE_SAMPLES] = {"samples", "samples that ended there", 8},
	[TREE_RATE] = {"now", "what is hot now: seconds by which inclusive time grew in a second", 8},
	[TREE_BEFORE] = {"before", "inclusive time in the base", 0},
	[TREE_AFTER] = {"after", "inclusive time now", 0},
	[TREE_CHANGE] = {"change", "by how much it changed; ordered by the largest at or below a line", 0},
	[TREE_CHANGE_PERCENT] = {"change%", "change in percent of the base's total", 8},
	[TREE_CHANGE_EXCLUSIVE] = {"exclchange", "by how much the time in it alone changed", 0},
};

/* ---------------------------------------------------------------- values */

static const struct column *metric_of(const struct forest *f, unsigned column)
{
	size_t i = (column - TREE_METRICS) / 2;

	return column >= TREE_METRICS && f->source.columns && i < f->source.columns->count
		       ? &f->source.columns->items[i]
		       : NULL;
}

static double metric_value(const struct forest *f, uint32_t node, unsigned column)
{
	const struct column_set *set = f->source.columns;
	const struct profile_node *n = &f->source.nodes[node];
	const struct profile_value *values =
		f->source.values ? f->source.values + (size_t)node * set->metrics : NULL;
	size_t i = (column - TREE_METRICS) / 2;
	bool alone = (column - TREE_METRICS) % 2;

	if (i < set->metrics)
		return !values ? NAN : (double)(alone ? values[i].exclusive : values[i].inclusive);
	columns_evaluate(set, values, (double)n->inclusive / 1e9, (double)(n->exclusive + n->blocked) / 1e9,
		f->scratch, f->scratch + set->count);
	return f->scratch[i + (alone ? set->count : 0)];
}

static double share(double part, double whole)
{
	return whole != 0 ? part * 100 / whole : 0;
}

static double percent(const struct forest *f, uint32_t node)
{
	const struct profile_node *n = &f->source.nodes[node];
	/* What waited outside all probes is no part of the whole. */
	uint64_t waited = n->kind == PROFILE_ROOT ? n->blocked : 0;
	double p = share((double)(n->inclusive - (node ? waited : 0)), (double)f->source.whole);

	return !node && p > 100 ? 100 : p;
}

static double rate(const struct forest *f, uint32_t node)
{
	uint32_t past = f->past ? match_find(f->past, node) : FOREST_NONE;
	double grown = (double)f->source.nodes[node].inclusive;

	if (!f->past)
		return NAN;
	if (past != FOREST_NONE)
		grown -= (double)f->past_nodes[past].inclusive;
	return grown / f->past_seconds;
}

static double difference(uint64_t after, uint64_t before)
{
	return (double)(int64_t)(after - before);
}

static double change_value(const struct forest *f, uint32_t node, unsigned column)
{
	const struct tree_pair *p;

	if (!f->source.pairs)
		return NAN;
	p = &f->source.pairs[node];
	switch (column) {
	case TREE_BEFORE:
		return (double)p->before.inclusive;
	case TREE_AFTER:
		return (double)p->after.inclusive;
	case TREE_CHANGE:
		return difference(p->after.inclusive, p->before.inclusive);
	case TREE_CHANGE_PERCENT:
		return share(difference(p->after.inclusive, p->before.inclusive), (double)f->source.whole);
	}
	return difference(p->after.exclusive, p->before.exclusive);
}

double forest_value(const struct forest *f, uint32_t node, unsigned column)
{
	const struct profile_node *n = &f->source.nodes[node];

	switch (column) {
	case TREE_INCLUSIVE:
		return (double)n->inclusive;
	case TREE_PERCENT:
		return percent(f, node);
	case TREE_OF_PARENT:
		return node ? share((double)n->inclusive, (double)f->source.nodes[n->parent].inclusive) : 100;
	case TREE_EXCLUSIVE:
		return (double)n->exclusive;
	case TREE_BLOCKED:
		return (double)n->blocked;
	case TREE_CALLS:
		return (double)n->calls;
	case TREE_CHILD_CALLS:
		return (double)f->source.child_calls[node];
	case TREE_SAMPLES:
		return (double)n->samples;
	case TREE_RATE:
		return rate(f, node);
	case TREE_BEFORE:
	case TREE_AFTER:
	case TREE_CHANGE:
	case TREE_CHANGE_PERCENT:
	case TREE_CHANGE_EXCLUSIVE:
		return change_value(f, node, column);
	}
	return metric_of(f, column) ? metric_value(f, node, column) : NAN;
}

double forest_heat(const struct forest *f, uint32_t node, unsigned column)
{
	double whole;

	switch (column) {
	case TREE_INCLUSIVE:
	case TREE_PERCENT:
		return percent(f, node) / 100;
	case TREE_EXCLUSIVE:
	case TREE_CHANGE:
	case TREE_CHANGE_EXCLUSIVE:
		return share(forest_value(f, node, column), (double)f->source.whole) / 100;
	case TREE_RATE:
		whole = forest_value(f, 0, TREE_RATE);
		return f->past && whole > 0 ? forest_value(f, node, TREE_RATE) / whole : 0;
	}
	if (!metric_of(f, column) || metric_of(f, column)->ratio)
		return 0;
	whole = fabs(forest_value(f, 0, column & ~1u)); /* the inclusive one has an even number */
	return whole > 0 ? fabs(forest_value(f, node, column)) / whole : 0;
}

/* ----------------------------------------------------------------- cells */

/* Text of a value, whatever node it is of. */
static const char *cell(const struct forest *f, unsigned column, double value, char text[FIGURE_SIZE])
{
	const struct column *c = metric_of(f, column);
	double whole;

	*text = 0;
	switch (column) {
	case TREE_EXCLUSIVE:
	case TREE_BLOCKED:
	case TREE_BEFORE:
	case TREE_AFTER:
		if (value == 0)
			break;
		/* fall through */
	case TREE_INCLUSIVE:
		snprintf(text, FIGURE_SIZE, "%.3f", value / f->unit);
		break;
	case TREE_CHANGE:
	case TREE_CHANGE_EXCLUSIVE:
		snprintf(text, FIGURE_SIZE, "%+.3f", value / f->unit);
		break;
	case TREE_PERCENT:
	case TREE_OF_PARENT:
		snprintf(text, FIGURE_SIZE, "%.1f", value);
		break;
	case TREE_CHANGE_PERCENT:
		snprintf(text, FIGURE_SIZE, "%+.1f", value);
		break;
	case TREE_CALLS:
	case TREE_CHILD_CALLS:
	case TREE_SAMPLES:
		if (value > 0)
			figure_count((uint64_t)value, text);
		break;
	case TREE_RATE:
		if (value != 0 && !isnan(value))
			snprintf(text, FIGURE_SIZE, "%.3f", value / 1e9);
		break;
	}
	if (!c || ((column - TREE_METRICS) % 2 && (value == 0 || isnan(value))))
		return text;
	whole = fabs(figure_seconds(c, forest_value(f, 0, column & ~1u)));
	return figure_value(c, value, figure_unit(whole), text);
}

const char *forest_cell(const struct forest *f, uint32_t node, unsigned column, char text[FIGURE_SIZE])
{
	return cell(f, column, forest_value(f, node, column), text);
}

/* Whether a column of what is left out adds up to something: rows of a table contain each other. */
static bool adds_up(const struct forest *f, unsigned column)
{
	switch (column) {
	case TREE_EXCLUSIVE:
	case TREE_BLOCKED:
	case TREE_SAMPLES:
		return f->source.flat;
	case TREE_INCLUSIVE:
	case TREE_PERCENT:
	case TREE_OF_PARENT:
		return !f->source.flat;
	}
	return column == TREE_BEFORE || column == TREE_AFTER || column == TREE_CHANGE ||
	       column == TREE_CHANGE_PERCENT;
}

const char *forest_rest_cell(const struct forest *f, uint32_t node, unsigned column, char text[FIGURE_SIZE])
{
	const struct profile_node *nodes = f->source.nodes;
	double sum = 0;

	*text = 0;
	if (!adds_up(f, column))
		return text;
	for (uint32_t c = nodes[node].first_child; c; c = nodes[c].next_sibling)
		if (!forest_is_visible(f, c))
			sum += forest_value(f, c, column);
	return cell(f, column, sum, text);
}

/* --------------------------------------------------------------- columns */

const char *forest_column_name(const struct forest *f, unsigned column, char text[64])
{
	const struct column *c = metric_of(f, column);

	snprintf(text, 64, "%.55s%s",
		c                       ? c->name
		: column < TREE_METRICS ? texts[column].name
					: "",
		c && (column - TREE_METRICS) % 2 ? ":excl" : "");
	return text;
}

const char *forest_column_text(const struct forest *f, unsigned column)
{
	const struct column *c = metric_of(f, column);

	if (!c)
		return column < TREE_METRICS ? texts[column].text : "";
	if (c->expression)
		return c->expression;
	return (column - TREE_METRICS) % 2 ? "a metric, of it alone" : "a metric, of it and of all it calls";
}

int forest_column_width(const struct forest *f, unsigned column)
{
	const struct column *c = metric_of(f, column);

	if (c)
		return figure_width(c) + 1;
	return texts[column].width ? texts[column].width
				   : f->width + 1 + 2 * (column == TREE_CHANGE_EXCLUSIVE);
}

/* The end of a long name says more: "perf::PAGE-FAULTS". */
void forest_column_heading(const struct forest *f, unsigned column, char text[64])
{
	const struct column *c = metric_of(f, column);
	size_t room = (size_t)forest_column_width(f, column) - 1;
	const char *name, *last;

	if (!c) {
		snprintf(text, 64, "%s", texts[column].name);
		return;
	}
	name = c->name;
	last = strrchr(name, ':');
	if ((column - TREE_METRICS) % 2) {
		snprintf(text, 64, "%s", c->level ? "alone" : "excl");
		return;
	}
	if (strlen(name) > room && last && last[1])
		name = last + 1;
	snprintf(text, 64, "%.*s", (int)room, name);
}

/* The metrics asked for, or those that are not. */
static size_t add_metrics(
	const struct forest *f, bool asked, unsigned alone, unsigned *columns, size_t count, size_t room)
{
	const struct column_set *set = f->source.columns;

	if (!set || (!f->source.values && set->metrics))
		return count;
	for (size_t i = 0; i < set->count && count < room; i++) {
		bool is_shown = false;

		for (size_t k = 0; k < set->shown_count; k++)
			is_shown |= set->shown[k] == i;
		if (i != set->metrics && is_shown == asked)
			columns[count++] = TREE_METRICS + 2 * (unsigned)i + alone;
	}
	return count;
}

static bool has_column(const struct forest *f, unsigned column)
{
	const struct tree_source *s = &f->source;
	bool is_change = column >= TREE_BEFORE && column < TREE_METRICS;

	switch (column) {
	case TREE_EXCLUSIVE:
		return !s->pairs && !s->reverse;
	case TREE_BLOCKED:
		return !s->pairs && !s->reverse && s->blocked;
	case TREE_CALLS:
		return !s->pairs && s->calls;
	case TREE_CHILD_CALLS:
		return !s->pairs && s->calls && !s->reverse && !s->flat;
	case TREE_SAMPLES:
		return !s->pairs && s->samples;
	case TREE_OF_PARENT:
		return !s->pairs && !s->flat;
	case TREE_RATE:
		return f->past;
	}
	return is_change == (s->pairs != NULL);
}

size_t forest_columns(const struct forest *f, unsigned *columns, size_t room)
{
	size_t count = 0;

	for (unsigned c = 0; c < TREE_METRICS && count < room; c++)
		if (has_column(f, c))
			columns[count++] = c;
	if (f->source.pairs)
		return count;
	for (unsigned asked = 2; asked-- > 0;) {
		count = add_metrics(f, asked, 0, columns, count, room);
		if (!f->source.reverse)
			count = add_metrics(f, asked, 1, columns, count, room);
	}
	return count;
}

/* The order in which columns get room. */
static size_t wanted_columns(const struct forest *f, unsigned *wanted, size_t room, size_t *ret_asked)
{
	static const unsigned first[] = {TREE_INCLUSIVE, TREE_PERCENT, TREE_BEFORE, TREE_AFTER, TREE_CHANGE,
		TREE_RATE},
			      then[] = {TREE_EXCLUSIVE, TREE_BLOCKED, TREE_CALLS, TREE_SAMPLES,
				      TREE_OF_PARENT, TREE_CHANGE_PERCENT, TREE_CHANGE_EXCLUSIVE,
				      TREE_CHILD_CALLS};
	size_t count = 0;

	wanted[count++] = f->sort;
	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		wanted[count++] = first[i];
	if (f->source.reverse)
		wanted[count++] = TREE_OF_PARENT;
	count = add_metrics(f, true, 0, wanted, count, room - 16);
	for (size_t i = 0; i < sizeof(then) / sizeof(*then); i++)
		wanted[count++] = then[i];
	*ret_asked = count;
	count = add_metrics(f, true, 1, wanted, count, room);
	return add_metrics(f, false, 0, wanted, count, room);
}

static bool is_among(const unsigned *columns, size_t count, unsigned column)
{
	for (size_t i = 0; i < count; i++)
		if (columns[i] == column)
			return true;
	return false;
}

size_t forest_layout(const struct forest *f, int width, unsigned *columns, size_t room)
{
	unsigned all[128], wanted[128], chosen[128];
	size_t all_count = forest_columns(f, all, 128), asked, count = 0, chosen_count = 0;
	size_t wanted_count = wanted_columns(f, wanted, 128, &asked);
	int used = 2;

	for (size_t i = 0; i < wanted_count; i++) {
		int w = forest_column_width(f, wanted[i]);

		if (!is_among(all, all_count, wanted[i]) || is_among(chosen, chosen_count, wanted[i]) ||
			(i && used + w + (i < asked ? NAME_ROOM : MORE_ROOM) > width))
			continue;
		chosen[chosen_count++] = wanted[i];
		used += w;
	}
	for (size_t i = 0; i < all_count && count < room; i++)
		if (is_among(chosen, chosen_count, all[i]))
			columns[count++] = all[i];
	return count;
}
