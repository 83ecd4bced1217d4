#include "sheet.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "profile/metrics/columns_ask.h"

/* ----------------------------------------------------- what is asked for */

static void say(void *data, const char *where, const char *text)
{
	fprintf(stderr, "hybrid-report: %s: %s\n", where, text);
}

static void say_of_both(void *data, const char *where, const char *text)
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
	say(NULL, "--over-ranks", text);
	return -1;
}

int report_columns(struct column_set *set, const struct report_options *o,
	const struct profile_metric *metrics, size_t count)
{
	const struct columns_wanted wanted = {.lists = o->metrics,
		.list_count = o->metric_count,
		.files = o->metrics_files,
		.file_count = o->metrics_file_count,
		.say = o->base ? say_of_both : say};
	int r = columns_ask(set, &wanted, metrics, count);

	return r ? r : check_over_ranks(set, o);
}

/* ------------------------------------------------------------ the values */

void sheet_get_node(const void *nodes, size_t i, struct sheet_thing *ret)
{
	const struct profile_node *n = (const struct profile_node *)nodes + i;

	*ret = (struct sheet_thing){
		n->inclusive, n->exclusive + n->blocked, n->calls, n->samples, n->parent, true};
}

void sheet_get_row(const void *rows, size_t i, struct sheet_thing *ret)
{
	const struct profile_row *r = (const struct profile_row *)rows + i;

	*ret = (struct sheet_thing){r->inclusive, r->exclusive + r->blocked, r->calls, r->samples, 0, false};
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
	struct sheet_thing thing;

	for (size_t i = 0; i < s->count; i++) {
		const double *from = s->by_exclusive ? s->exclusive : s->inclusive;
		double own = s->exclusive[i * columns + column];

		s->size[i] = fabs(from[i * columns + column]);
		s->whole += fabs(own);
	}
	/* what shrinks below may hide what grows */
	for (size_t i = s->count; i-- > 1;) {
		s->get(s->things, i, &thing);
		if (thing.is_tree && s->size[i] > s->size[thing.parent])
			s->size[thing.parent] = s->size[i];
	}
}

int sheet_make(struct sheet *s, const struct column_set *set, const struct profile_value *values,
	const void *things, size_t count, void (*get)(const void *things, size_t i, struct sheet_thing *ret),
	bool by_exclusive)
{
	size_t columns = set->count;

	*s = (struct sheet){.set = set,
		.things = things,
		.get = get,
		.values = values,
		.count = count,
		.metrics = set->metrics,
		.by_exclusive = by_exclusive};
	s->inclusive = calloc((count + 1) * columns, sizeof(double));
	s->exclusive = calloc((count + 1) * columns, sizeof(double));
	s->size = calloc(count + 1, sizeof(double));
	s->alone = calloc(set->shown_count + 1, sizeof(bool));
	s->units = calloc(columns, sizeof(double));
	if (!s->inclusive || !s->exclusive || !s->size || !s->alone || !s->units) {
		sheet_release(s);
		return HYB_ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		struct sheet_thing thing;

		get(things, i, &thing);
		columns_evaluate(set, values ? values + i * set->metrics : NULL,
			(double)thing.inclusive / 1e9, (double)thing.exclusive / 1e9,
			s->inclusive + i * columns, s->exclusive + i * columns);
	}
	find_sizes(s);
	return 0;
}

void sheet_release(struct sheet *s)
{
	free(s->inclusive);
	free(s->exclusive);
	free(s->size);
	free(s->alone);
	free(s->units);
	*s = (struct sheet){0};
}

double *sheet_weights(const struct sheet *s)
{
	double *weights = calloc(s->count + 1, sizeof(*weights));
	size_t first = s->set->shown[0];

	for (size_t i = 0; weights && i < s->count; i++)
		weights[i] = (s->by_exclusive ? s->exclusive : s->inclusive)[i * s->set->count + first];
	return weights;
}

double sheet_share(const struct sheet *s, double value)
{
	return s->whole > 0 ? value * 100 / s->whole : 0;
}

void sheet_sum_add(const struct sheet *s, struct profile_value *sum, double *seconds, size_t i)
{
	struct sheet_thing thing;

	s->get(s->things, i, &thing);
	*seconds += (double)thing.inclusive / 1e9;
	for (size_t k = 0; s->values && k < s->metrics; k++)
		sum[k].inclusive = (int64_t)((uint64_t)sum[k].inclusive +
					     (uint64_t)s->values[i * s->metrics + k].inclusive);
}

void sheet_sum_end(struct sheet *s, const struct profile_value *sum, double seconds)
{
	columns_evaluate(s->set, sum, seconds, 0, s->inclusive + s->count * s->set->count,
		s->exclusive + s->count * s->set->count);
}

/* -------------------------------------------------------------- machines */

/* All columns but time, which has names of its own. */
static bool is_told(const struct column_set *set, size_t column)
{
	return column != set->metrics;
}

static void put_double(FILE *out, double value, const char *undefined)
{
	if (isnan(value))
		fputs(undefined, out);
	else
		fprintf(out, "%.17g", value);
}

void sheet_json(FILE *out, const struct sheet *s, size_t i)
{
	const char *comma = "";

	fputs(",\"metrics\":{", out);
	for (size_t c = 0; c < s->set->count; c++) {
		if (!is_told(s->set, c))
			continue;
		fputs(comma, out);
		comma = ",";
		json_string(out, s->set->items[c].name);
		if (c < s->metrics) {
			const struct profile_value *v = &s->values[i * s->metrics + c];

			fprintf(out,
				":{\"inclusive\":%" PRId64 ",\"exclusive\":%" PRId64 ",\"samples\":%" PRIu64
				"}",
				v->inclusive, v->exclusive, v->samples);
			continue;
		}
		fputs(":{\"inclusive\":", out);
		put_double(out, s->inclusive[i * s->set->count + c], "null");
		fputs(",\"exclusive\":", out);
		put_double(out, s->exclusive[i * s->set->count + c], "null");
		fputc('}', out);
	}
	fputc('}', out);
}

void sheet_csv_heading(FILE *out, const struct column_set *set, const char *prefix)
{
	static const char *const parts[] = {"inclusive", "exclusive"};

	for (size_t c = 0; c < set->count; c++)
		for (size_t p = 0; is_told(set, c) && p < 2; p++) {
			char *name;

			if (asprintf(&name, "%s%s %s", prefix, set->items[c].name, parts[p]) < 0)
				continue;
			fputc(',', out);
			csv_string(out, name);
			free(name);
		}
}

void sheet_csv(FILE *out, const struct sheet *s, size_t i)
{
	for (size_t c = 0; c < s->set->count; c++) {
		size_t at = i * s->set->count + c;

		if (!is_told(s->set, c))
			continue;
		if (c < s->metrics) {
			const struct profile_value *v = &s->values[i * s->metrics + c];

			fprintf(out, ",%" PRId64 ",%" PRId64, v->inclusive, v->exclusive);
			continue;
		}
		fputc(',', out);
		put_double(out, s->inclusive[at], "");
		fputc(',', out);
		put_double(out, s->exclusive[at], "");
	}
}
