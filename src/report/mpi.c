/* Time in MPI: by function, and by call path. */
#include <inttypes.h>

#include "table.h"

#define WIDE 116u /* columns from which the table of functions is whole */
#define PATHS_WIDE 100u /* the same, of call paths */

/* ----------------------------------------------------------------- text */

static void function_heading(const struct table *t, bool wide)
{
	FILE *out = t->style->out;
	int w = t->width + 1;

	fputc('\n', out);
	style_ink(t->style, INK_DIM);
	fprintf(out, "%8s%*s %6s%*s", "calls", w, "time", "%", w, "mean");
	if (wide)
		fprintf(out, "%*s@rank ", w, "min");
	fprintf(out, "%*s@rank ", w, "max");
	if (wide)
		fprintf(out, "%7s%8s", "imb %", "msgs");
	fprintf(out, "%8s%s  function (%s, bytes)\n", "sent", wide ? "    recvd" : "", t->style->unit_name);
	style_ink(t->style, INK_PLAIN);
}

static void put_function(const struct table *t, const struct profile_function *f, uint64_t ranks, bool wide)
{
	const struct profile_spread *s = &f->spread;
	struct label label = {.kind = PROFILE_PROBE, .name = f->name, .file = "", .module = ""};
	int used = table_count(t, f->calls);

	used += table_time(t, f->time, false, true);
	used += table_percent(t, f->time);
	used += table_time(t, profile_spread_mean(s, ranks), false, false);
	if (wide)
		used += table_extreme(
			t, profile_spread_least(s, ranks), s->ranks && s->ranks >= ranks, s->least_rank);
	used += table_extreme(t, s->most, s->ranks, s->most_rank);
	if (wide) {
		used += fprintf(t->style->out, "%7.1f", profile_spread_imbalance(s, ranks));
		used += table_count(t, f->messages);
	}
	used += table_count(t, f->sent);
	if (wide)
		used += fprintf(t->style->out, " ") + table_count(t, f->received);
	used += fprintf(t->style->out, "  ");
	style_label(t->style, &label, (unsigned)used);
}

static void path_heading(const struct table *t)
{
	FILE *out = t->style->out;

	fputc('\n', out);
	style_ink(t->style, INK_DIM);
	fprintf(out, "%*s %6s%8s%10s", t->width + 1, "time", "%", "calls", "mean");
	if (table_has_room(t, PATHS_WIDE))
		fprintf(out, "%10s%10s%8s%8s", "min", "max", "sent", "recvd");
	else
		fprintf(out, "%10s", "max");
	fprintf(out, "  call path to MPI (%s, bytes)\n", t->style->unit_name);
	style_ink(t->style, INK_PLAIN);
}

/* Of a single call; nothing where it is not known. */
static int put_call(const struct table *t, uint64_t ns)
{
	char text[FIGURE_SIZE];

	return fprintf(t->style->out, "%10s", ns ? figure_duration(ns, text) : "");
}

static int path_cells(const struct table *t, const struct profile_node *n)
{
	int used = table_time(t, n->inclusive, false, n->mpi);

	used += table_percent(t, n->inclusive);
	used += table_count(t, n->calls);
	used += put_call(t, n->calls ? n->inclusive / n->calls : 0);
	if (!table_has_room(t, PATHS_WIDE)) {
		used += put_call(t, n->most);
		return used + fprintf(t->style->out, "  ");
	}
	used += put_call(t, n->least);
	used += put_call(t, n->most);
	used += table_count(t, n->sent);
	used += table_count(t, n->received);
	return used + fprintf(t->style->out, "  ");
}

/* All of them, whatever the threshold: this says what was seen. */
static void put_functions(const struct table *t, const struct profile *profile)
{
	size_t count;
	const struct profile_function *functions = profile_functions(profile, &count);
	bool wide = table_has_room(t, WIDE);

	function_heading(t, wide);
	for (size_t i = 0; i < count; i++)
		put_function(t, &functions[i], profile_quality(profile)->ranks, wide);
}

static int put_text(struct style *style, const struct report_options *options, const struct profile *profile)
{
	static const struct columns columns = {path_heading, path_cells};
	const struct profile_node *root = profile_nodes(profile);
	struct profile_tree tree;
	struct table table;
	int r;

	if (!profile_quality(profile)->mpi_calls) {
		fputs("\nno call of MPI was seen\n", style->out);
		return 0;
	}
	table_init(&table, style, options, root->inclusive, table_waited(options, root));
	style_set_unit(
		style, profile_quality(profile)->mpi_time / 4); /* most times are far below their sum */
	put_functions(&table, profile);
	if (profile_mpi_tree(profile, &tree))
		return HYB_ENOMEM;
	table.columns = &columns;
	r = table_tree(&table, tree.nodes);
	profile_tree_release(&tree);
	return r;
}

/* ------------------------------------------------------------- machines */

static void json_functions(struct json *json, const struct profile *profile)
{
	size_t count;
	const struct profile_function *functions = profile_functions(profile, &count);

	json_line(json);
	json_array(json, "functions");
	for (size_t i = 0; i < count; i++) {
		const struct profile_function *f = &functions[i];

		json_line(json);
		json_object(json, NULL);
		json_text(json, "name", f->name);
		json_number(json, "calls", f->calls);
		json_number(json, "time_ns", f->time);
		json_number(json, "messages", f->messages);
		json_number(json, "sent_bytes", f->sent);
		json_number(json, "received_bytes", f->received);
		report_json_spread(json, &f->spread, profile_quality(profile)->ranks, "_ns");
		json_end(json);
	}
	json_end(json);
}

static int put_json(struct json *json, const struct report_options *options, const struct profile *profile)
{
	struct column_set set;
	struct profile_tree tree;
	struct sheet sheet = {0};
	int r = profile_mpi_tree(profile, &tree);

	if (r)
		return r;
	json_functions(json, profile);
	r = columns_init(&set, NULL, 0); /* time alone */
	if (!r)
		r = sheet_make(&sheet, options, &set, NULL, tree.nodes, tree.count, sheet_get_node, false);
	if (!r)
		r = report_json_tree(json, &sheet, NULL);
	sheet_release(&sheet);
	columns_release(&set);
	profile_tree_release(&tree);
	return r;
}

static void put_csv(FILE *out, const struct profile *profile)
{
	size_t count;
	const struct profile_function *functions = profile_functions(profile, &count);
	struct csv csv = {.out = out};

	csv_plain(&csv, "name,calls,time_ns,messages,sent_bytes,received_bytes," REPORT_CSV_SPREAD("_ns"));
	csv_end(&csv);
	for (size_t i = 0; i < count; i++) {
		const struct profile_function *f = &functions[i];

		csv_text(&csv, f->name);
		csv_number(&csv, f->calls);
		csv_number(&csv, f->time);
		csv_number(&csv, f->messages);
		csv_number(&csv, f->sent);
		csv_number(&csv, f->received);
		report_csv_spread(&csv, &f->spread, profile_quality(profile)->ranks);
		csv_end(&csv);
	}
}

int report_mpi(struct style *style, const struct report_options *options, const struct profile *profile)
{
	switch (options->output) {
	case REPORT_JSON:
		return put_json(&style->json, options, profile);
	case REPORT_CSV:
		put_csv(style->out, profile);
		return 0;
	case REPORT_TEXT:
		break;
	}
	return put_text(style, options, profile);
}
