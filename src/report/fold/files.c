/* The view --fold for programs: JSON and CSV. */
#include "fold.h"

#define DIGITS 9 /* of numbers that are fitted */

static void json_numbers(struct json *json, const char *key, const double *values, size_t count)
{
	json_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_real(json, NULL, values[i], DIGITS);
	json_end(json);
}

static void json_durations(struct json *json, const char *key, const struct fold_durations *d)
{
	json_object(json, key);
	json_number(json, "instances", d->count);
	json_number(json, "sum_ns", d->sum);
	json_number(json, "least_ns", d->least);
	json_number(json, "most_ns", d->most);
	json_end(json);
}

static void json_metric(struct json *json, const struct report_fold_column *c)
{
	static const char *const kinds[] = {
		[FOLD_GROWTH] = "rate", [FOLD_LEVEL] = "level", [FOLD_TIME] = "cpu"};

	json_object(json, NULL);
	json_text(json, "name", c->name);
	json_text(json, "unit", c->unit);
	json_text(json, "kind", c->derived ? "derived" : kinds[c->kind]);
	json_bool(json, "estimated", c->estimated);
	json_numbers(json, "rate", c->rate, FOLD_ROWS);
	json_numbers(json, "low", c->low, FOLD_ROWS);
	json_numbers(json, "high", c->high, FOLD_ROWS);
	if (c->curve) {
		json_number(json, "points", c->curve->points);
		json_number(json, "parts", c->curve->parts);
		json_real(json, "growth", c->curve->growth, DIGITS);
		json_numbers(json, "curve", c->curve->at, c->curve->parts ? FOLD_KNOTS + 1 : 0);
	}
	json_end(json);
}

static void json_place(struct json *json, const struct report_fold *f, const struct fold_place *p)
{
	const struct profile_node *n = p->place ? &f->below.nodes[p->place] : &f->region;
	char path[4096];

	json_object(json, NULL);
	json_text(json, "name", n->name);
	json_text(json, "file", n->file);
	json_number(json, "line", n->line);
	json_text(json, "path", report_fold_path(f, p->place, path, sizeof(path)));
	json_real(json, "weight", p->weight, DIGITS);
	json_numbers(json, "rows", p->rows, FOLD_ROWS);
	json_end(json);
}

void report_fold_json(struct json *json, const struct report_fold *f)
{
	const struct fold *fold = &f->fold;

	json_line(json);
	json_object(json, "fold");
	json_text(json, "name", f->region.name);
	json_text(json, "file", f->region.file);
	json_number(json, "line", f->region.line);
	json_text(json, "along", f->along ? f->along : "time");
	json_durations(json, "kept", &fold->kept);
	json_durations(json, "aside", &fold->aside);
	json_number(json, "incomplete", fold->incomplete);
	json_number(json, "sampled", fold->sampled);
	json_number(json, "samples", fold->samples);
	json_number(json, "left_out", fold->nested);
	json_bool(json, "regions_traced", !fold->untraced);
	json_number(json, "rows", FOLD_ROWS);
	json_list(json, "metrics");
	for (size_t i = 0; i < f->column_count; i++) {
		json_line(json);
		json_metric(json, &f->columns[i]);
	}
	json_end(json);
	json_list(json, "places");
	for (size_t i = 0; i < fold->place_count; i++) {
		json_line(json);
		json_place(json, f, &fold->places[i]);
	}
	json_end(json);
	json_end(json);
}

static void csv_name(struct csv *csv, const char *name, const char *what)
{
	char text[300];

	snprintf(text, sizeof(text), "%.250s%s", name, what);
	csv_text(csv, text);
}

void report_fold_csv(FILE *out, const struct report_fold *f)
{
	double seconds = report_fold_seconds(f), share;
	struct csv csv = {.out = out};
	char label[FOLD_LABEL];

	csv_plain(&csv, "from,to,seconds");
	for (size_t i = 0; i < f->column_count; i++) {
		csv_name(&csv, f->columns[i].name, "");
		csv_name(&csv, f->columns[i].name, " low");
		csv_name(&csv, f->columns[i].name, " high");
	}
	csv_plain(&csv, "share,place");
	csv_end(&csv);
	for (unsigned row = 0; row < FOLD_ROWS; row++) {
		const struct fold_place *hot = report_fold_hot(f, row, &share);
		const struct profile_node *n = hot && hot->place ? &f->below.nodes[hot->place] : &f->region;

		csv_real(&csv, (double)row / FOLD_ROWS, 6);
		csv_real(&csv, (row + 1.0) / FOLD_ROWS, 6);
		csv_real(&csv, row * seconds / FOLD_ROWS, DIGITS);
		for (size_t i = 0; i < f->column_count; i++) {
			csv_real(&csv, f->columns[i].rate[row], DIGITS);
			csv_real(&csv, f->columns[i].low[row], DIGITS);
			csv_real(&csv, f->columns[i].high[row], DIGITS);
		}
		csv_real(&csv, share, DIGITS);
		csv_text(&csv, hot ? report_fold_label(n, label) : "");
		csv_end(&csv);
	}
}
