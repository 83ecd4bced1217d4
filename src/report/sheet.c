#include "sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/wrap.h"
#include "profile/metrics/columns_ask.h"

/* ----------------------------------------------------- what is asked for */

static void warn(void *data, const char *where, const char *text)
{
	fprintf(stderr, "hybrid-report: %s: %s\n", where, text);
}

static void warn_of_both(void *data, const char *where, const char *text)
{
	fprintf(stderr, "hybrid-report: %s, of what both sides have: %s\n", where, text);
}

/* Growth of each rank is known, and what adds up has a mean. */
static int check_over_ranks(const struct column_set *set, const struct report_options *o)
{
	size_t first = set->shown_count ? set->shown[0] : set->metrics;
	char text[200];

	if (!o->over_ranks || first == set->metrics || (first < set->metrics && !set->items[first].level))
		return 0;
	snprintf(text, sizeof(text),
		"%.80s %s: begin --metric with a measured one that grows, or leave --over-ranks out",
		set->items[first].name, first < set->metrics ? "goes up and down" : "is derived");
	warn(NULL, "--over-ranks", text);
	return -1;
}

int report_columns(struct column_set *set, const struct report_options *o,
	const struct profile_metric *metrics, size_t count)
{
	const struct columns_wanted wanted = {.lists = o->look.metrics,
		.list_count = o->look.metric_count,
		.files = o->look.metrics_files,
		.file_count = o->look.metrics_file_count,
		.warn = o->look.base ? warn_of_both : warn};
	int r = columns_ask(set, &wanted, metrics, count);

	return r ? r : check_over_ranks(set, o);
}

/* ------------------------------------------------------------ the values */

struct profile_values sheet_values(const struct sheet *s, size_t i)
{
	if (!s->pairs)
		return field_values_of_node(&s->nodes[i]);
	return s->base ? s->pairs[i].after : s->pairs[i].before;
}

/* The column that order, shares and heat go by: the first, or time if there can be no shares of that. */
static size_t column_of_size(const struct sheet *s)
{
	size_t first = s->set->shown_count ? s->set->shown[0] : s->set->metrics;

	return s->set->items[first].ratio ? s->set->metrics : first;
}

static void find_sizes(struct sheet *s)
{
	size_t column = column_of_size(s), columns = s->set->count;

	for (size_t i = 0; i < s->count; i++) {
		const double *from = s->by_exclusive ? s->exclusive : s->inclusive;
		double own = s->exclusive[i * columns + column];

		s->size[i] = fabs(from[i * columns + column]);
		s->whole += fabs(own);
	}
	/* what shrinks below may hide what grows */
	for (size_t i = s->count; s->is_tree && i-- > 1;)
		if (s->size[i] > s->size[s->nodes[i].parent])
			s->size[s->nodes[i].parent] = s->size[i];
}

void sheet_set_whole(struct sheet *s, uint64_t time, uint64_t idle)
{
	s->time = time;
	s->time_whole = time - idle;
	s->least = (uint64_t)(s->options->look.threshold / 100 * (double)s->time_whole);
}

/* What is idle is no part of the whole: threads that only wait must not hide others. */
static void find_time(struct sheet *s)
{
	uint64_t time = 0, idle = 0;

	for (size_t i = 0; !s->is_tree && i < s->count; i++) {
		time += s->nodes[i].exclusive + s->nodes[i].blocked;
		idle += s->nodes[i].idle_alone;
	}
	if (!s->is_tree)
		sheet_set_whole(s, time, idle);
	else if (s->count)
		sheet_set_whole(s, sheet_values(s, 0).inclusive, sheet_values(s, 0).idle);
}

static unsigned view_of(const struct report_options *options)
{
	return options->look.base                ? FIELD_DIFF
	       : options->view == REPORT_FLAT    ? FIELD_FLAT
	       : options->view == REPORT_REVERSE ? FIELD_REVERSE
						 : FIELD_TREE;
}

int sheet_make(struct sheet *s)
{
	size_t columns = s->set->count, count = s->count;

	s->metrics = s->set->metrics;
	s->by_exclusive = !s->is_tree && s->options->sort != PROFILE_SORT_INCLUSIVE;
	s->view = view_of(s->options);
	s->inclusive = calloc((count + 1) * columns, sizeof(double));
	s->exclusive = calloc((count + 1) * columns, sizeof(double));
	s->size = calloc(count + 1, sizeof(double));
	s->units = calloc(columns, sizeof(double));
	if (!s->inclusive || !s->exclusive || !s->size || !s->units)
		return HYB_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct profile_values v = sheet_values(s, i);

		columns_evaluate(s->set, s->values ? s->values + i * s->metrics : NULL,
			(double)v.inclusive / 1e9, (double)(v.exclusive + v.blocked) / 1e9,
			s->inclusive + i * columns, s->exclusive + i * columns);
	}
	find_sizes(s);
	find_time(s);
	return 0;
}

void sheet_release(struct sheet *s)
{
	free(s->inclusive);
	free(s->exclusive);
	free(s->size);
	free(s->columns);
	free(s->units);
	*s = (struct sheet){0};
}

double *sheet_weights(struct sheet s, bool by_exclusive)
{
	double *weights = calloc(s.count + 1, sizeof(*weights));
	size_t first = s.set->shown[0];

	if (!weights || sheet_make(&s)) {
		free(weights);
		weights = NULL;
	}
	for (size_t i = 0; weights && i < s.count; i++)
		weights[i] = (by_exclusive ? s.exclusive : s.inclusive)[i * s.set->count + first];
	sheet_release(&s);
	return weights;
}

double sheet_share(const struct sheet *s, double value)
{
	return s->whole > 0 ? value * 100 / s->whole : 0;
}

/* ns by which something is shown where no metric is. */
static uint64_t time_size(const struct sheet *s, size_t i)
{
	const struct profile_values v = sheet_values(s, i);

	return s->by_exclusive ? v.exclusive + v.blocked : v.inclusive;
}

bool sheet_shows(const struct sheet *s, size_t i)
{
	double least = s->options->look.threshold / 100 * s->whole;

	if (s->base)
		return s->pairs[i].change >= (s->column == s->metrics ? floor(least) : least); /* whole ns */
	return s->set->shown_count ? sheet_share(s, s->size[i]) >= s->options->look.threshold
				   : time_size(s, i) >= s->least;
}

double sheet_size_share(const struct sheet *s, size_t i)
{
	if (s->set->shown_count)
		return sheet_share(s, s->size[i]);
	return s->time_whole ? (double)time_size(s, i) * 100 / (double)s->time_whole : 0;
}

double sheet_change(const struct sheet *s, uint32_t node)
{
	const struct profile_diff_pair *pair = &s->pairs[node];
	size_t at = node * s->set->count + s->column;

	if (s->column == s->metrics)
		return (double)pair->after.inclusive - (double)pair->before.inclusive;
	return s->inclusive[at] - s->base->inclusive[at];
}

struct field_row sheet_row(const struct sheet *s, size_t i)
{
	struct field_row row = {.whole = s->time_whole, .rate = NAN, .rate_of_all = NAN};
	const struct profile_node *n = &s->nodes[i];

	if (s->base) {
		row.whole = (uint64_t)s->whole;
		row.before = i == s->count ? &s->base->rest : &s->pairs[i].before;
	}
	if (i == s->count) {
		row.now = s->rest;
		return row;
	}
	row.now = sheet_values(s, i);
	if (s->overflows)
		row.now.samples = s->values[i * s->metrics + s->set->shown[0]].samples;
	row.messages = n->messages;
	row.sent = n->sent;
	row.received = n->received;
	row.least = n->least;
	row.most = n->most;
	if (s->over) {
		row.spread = &s->over->spreads[n->spread];
		row.ranks = s->over->ranks;
	}
	return row;
}

int sheet_sum_hidden(struct sheet *s, const struct walker *w, uint32_t parent)
{
	struct profile_value *sum = calloc(s->metrics + 1, sizeof(*sum));

	if (!sum)
		return HYB_ENOMEM;
	s->rest.inclusive = 0;
	for (uint32_t child = w->sheet->nodes[parent].first_child; child;
		child = w->sheet->nodes[child].next_sibling) {
		if (sheet_shows(w->sheet, child))
			continue;
		s->rest.inclusive += sheet_values(s, child).inclusive;
		for (size_t k = 0; s->values && k < s->metrics; k++)
			wrap_add(&sum[k].inclusive, s->values[child * s->metrics + k].inclusive);
	}
	columns_evaluate(s->set, sum, (double)s->rest.inclusive / 1e9, 0,
		s->inclusive + s->count * s->set->count, s->exclusive + s->count * s->set->count);
	free(sum);
	return 0;
}

/* -------------------------------------------------------------- machines */

/* All columns but time, which has names of its own. */
static bool is_told(const struct column_set *set, size_t column)
{
	return column != set->metrics;
}

void sheet_json(struct json *json, const struct sheet *s, size_t i)
{
	if (s->set->count < 2)
		return;
	json_object(json, "metrics");
	for (size_t c = 0; c < s->set->count; c++) {
		if (!is_told(s->set, c))
			continue;
		json_object(json, s->set->items[c].name);
		if (c < s->metrics) {
			const struct profile_value *v = &s->values[i * s->metrics + c];

			json_signed(json, "inclusive", v->inclusive);
			json_signed(json, "exclusive", v->exclusive);
			json_number(json, "samples", v->samples);
		} else {
			json_real(json, "inclusive", s->inclusive[i * s->set->count + c], 17);
			json_real(json, "exclusive", s->exclusive[i * s->set->count + c], 17);
		}
		json_end(json);
	}
	json_end(json);
}

void sheet_csv_heading(struct csv *csv, const struct column_set *set, const char *prefix)
{
	static const char *const parts[] = {"inclusive", "exclusive"};

	for (size_t c = 0; c < set->count; c++)
		for (size_t p = 0; is_told(set, c) && p < 2; p++) {
			char *name;

			if (asprintf(&name, "%s%s %s", prefix, set->items[c].name, parts[p]) < 0)
				continue;
			csv_text(csv, name);
			free(name);
		}
}

void sheet_csv(struct csv *csv, const struct sheet *s, size_t i)
{
	for (size_t c = 0; c < s->set->count; c++) {
		size_t at = i * s->set->count + c;

		if (!is_told(s->set, c))
			continue;
		if (c < s->metrics) {
			csv_signed(csv, s->values[i * s->metrics + c].inclusive);
			csv_signed(csv, s->values[i * s->metrics + c].exclusive);
		} else {
			csv_real(csv, s->inclusive[at], 17);
			csv_real(csv, s->exclusive[at], 17);
		}
	}
}
