/* The view --fold for programs: JSON and CSV. */
#include <inttypes.h>
#include <math.h>

#include "base/json.h"
#include "fold.h"

static void json_number(FILE *out, double v)
{
	if (isfinite(v))
		fprintf(out, "%.9g", v);
	else
		fputs("null", out);
}

static void json_numbers(FILE *out, const char *key, const double *values, size_t count)
{
	fprintf(out, ",\"%s\":[", key);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? "," : "", out);
		json_number(out, values[i]);
	}
	fputc(']', out);
}

static void json_durations(FILE *out, const char *key, const struct fold_durations *d)
{
	fprintf(out,
		",\"%s\":{\"instances\":%" PRIu64 ",\"sum_ns\":%" PRIu64 ",\"least_ns\":%" PRIu64
		",\"most_ns\":%" PRIu64 "}",
		key, d->count, d->sum, d->least, d->most);
}

static void json_metric(FILE *out, const struct report_fold_column *c)
{
	static const char *const kinds[] = {
		[FOLD_GROWTH] = "rate", [FOLD_LEVEL] = "level", [FOLD_TIME] = "cpu"};

	fputs("{\"name\":", out);
	json_string(out, c->name);
	fputs(",\"unit\":", out);
	json_string(out, c->unit);
	fprintf(out, ",\"kind\":\"%s\",\"estimated\":%s", c->derived ? "derived" : kinds[c->kind],
		c->estimated ? "true" : "false");
	json_numbers(out, "rate", c->rate, FOLD_ROWS);
	json_numbers(out, "low", c->low, FOLD_ROWS);
	json_numbers(out, "high", c->high, FOLD_ROWS);
	if (c->curve) {
		fprintf(out, ",\"points\":%" PRIu64 ",\"parts\":%u,\"growth\":", c->curve->points,
			c->curve->parts);
		json_number(out, c->curve->growth);
		json_numbers(out, "curve", c->curve->at, c->curve->parts ? FOLD_KNOTS + 1 : 0);
	}
	fputc('}', out);
}

static void json_place(FILE *out, const struct report_fold *f, const struct fold_place *p)
{
	const struct profile_node *n = p->place ? &f->below.nodes[p->place] : &f->region;
	char path[4096];

	fputs("{\"name\":", out);
	json_string(out, n->name);
	fputs(",\"file\":", out);
	json_string(out, n->file);
	fprintf(out, ",\"line\":%u,\"path\":", n->line);
	json_string(out, report_fold_path(f, p->place, path, sizeof(path)));
	fputs(",\"weight\":", out);
	json_number(out, p->weight);
	json_numbers(out, "rows", p->rows, FOLD_ROWS);
	fputc('}', out);
}

void report_fold_json(FILE *out, const struct report_fold *f)
{
	const struct fold *fold = &f->fold;

	fputs(",\n\"fold\":{\"name\":", out);
	json_string(out, f->region.name);
	fputs(",\"file\":", out);
	json_string(out, f->region.file);
	fprintf(out, ",\"line\":%u", f->region.line);
	fputs(",\"along\":", out);
	json_string(out, f->along ? f->along : "time");
	json_durations(out, "kept", &fold->kept);
	json_durations(out, "aside", &fold->aside);
	fprintf(out,
		",\"incomplete\":%" PRIu64 ",\"sampled\":%" PRIu64 ",\"samples\":%" PRIu64
		",\"left_out\":%" PRIu64 ",\"regions_traced\":%s,\"rows\":%u",
		fold->incomplete, fold->sampled, fold->samples, fold->nested,
		fold->untraced ? "false" : "true", FOLD_ROWS);
	fputs(",\n\"metrics\":[", out);
	for (size_t i = 0; i < f->column_count; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_metric(out, &f->columns[i]);
	}
	fputs("],\n\"places\":[", out);
	for (size_t i = 0; i < fold->place_count; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_place(out, f, &fold->places[i]);
	}
	fputs("]}", out);
}

static void csv_number(FILE *out, double v)
{
	if (isfinite(v))
		fprintf(out, ",%.9g", v);
	else
		fputc(',', out);
}

static void csv_name(FILE *out, const char *name, const char *what)
{
	char text[300];

	snprintf(text, sizeof(text), "%.250s%s", name, what);
	fputc(',', out);
	csv_string(out, text);
}

void report_fold_csv(FILE *out, const struct report_fold *f)
{
	double seconds = report_fold_seconds(f), share;
	char label[FOLD_LABEL];

	fputs("from,to,seconds", out);
	for (size_t i = 0; i < f->column_count; i++) {
		csv_name(out, f->columns[i].name, "");
		csv_name(out, f->columns[i].name, " low");
		csv_name(out, f->columns[i].name, " high");
	}
	fputs(",share,place\n", out);
	for (unsigned row = 0; row < FOLD_ROWS; row++) {
		const struct fold_place *hot = report_fold_hot(f, row, &share);
		const struct profile_node *n = hot && hot->place ? &f->below.nodes[hot->place] : &f->region;

		fprintf(out, "%g,%g,%.9g", (double)row / FOLD_ROWS, (row + 1.0) / FOLD_ROWS,
			row * seconds / FOLD_ROWS);
		for (size_t i = 0; i < f->column_count; i++) {
			csv_number(out, f->columns[i].rate[row]);
			csv_number(out, f->columns[i].low[row]);
			csv_number(out, f->columns[i].high[row]);
		}
		csv_number(out, share);
		fputc(',', out);
		csv_string(out, hot ? report_fold_label(n, label) : "");
		fputc('\n', out);
	}
}
