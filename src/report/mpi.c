/* Time in MPI: by function, and by call path. */
#include <inttypes.h>

#include "base/json.h"
#include "table.h"

#define WIDE 116u /* columns from which the table of functions is whole */

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
	fprintf(out, "%*s %6s%8s%8s%8s  call path to MPI (%s, bytes)\n", t->width + 1, "time", "%", "calls",
		"sent", "recvd", t->style->unit_name);
	style_ink(t->style, INK_PLAIN);
}

static int path_cells(const struct table *t, const struct profile_node *n)
{
	int used = table_time(t, n->inclusive, false, n->mpi);

	used += table_percent(t, n->inclusive);
	used += table_count(t, n->calls);
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

static void json_functions(FILE *out, const struct profile *profile)
{
	size_t count;
	const struct profile_function *functions = profile_functions(profile, &count);

	fputs(",\n\"functions\":[", out);
	for (size_t i = 0; i < count; i++) {
		const struct profile_function *f = &functions[i];

		fprintf(out, "%s\n{\"name\":", i ? "," : "");
		json_string(out, f->name);
		fprintf(out,
			",\"calls\":%" PRIu64 ",\"time_ns\":%" PRIu64 ",\"messages\":%" PRIu64
			",\"sent_bytes\":%" PRIu64 ",\"received_bytes\":%" PRIu64,
			f->calls, f->time, f->messages, f->sent, f->received);
		report_json_spread(out, &f->spread, profile_quality(profile)->ranks, "_ns");
		fputc('}', out);
	}
	fputc(']', out);
}

static int put_json(FILE *out, const struct report_options *options, const struct profile *profile)
{
	struct profile_tree tree;
	int r;

	json_functions(out, profile);
	if (profile_mpi_tree(profile, &tree))
		return HYB_ENOMEM;
	r = report_json_tree(out, options, tree.nodes, NULL, NULL);
	profile_tree_release(&tree);
	return r;
}

static void put_csv(FILE *out, const struct profile *profile)
{
	size_t count;
	const struct profile_function *functions = profile_functions(profile, &count);
	uint64_t ranks = profile_quality(profile)->ranks;

	fputs("name,calls,time_ns,messages,sent_bytes,received_bytes," REPORT_CSV_SPREAD("_ns") "\n", out);
	for (size_t i = 0; i < count; i++) {
		const struct profile_function *f = &functions[i];

		csv_string(out, f->name);
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, f->calls, f->time,
			f->messages, f->sent, f->received);
		report_csv_spread(out, &f->spread, ranks);
		fputc('\n', out);
	}
}

int report_mpi(struct style *style, const struct report_options *options, const struct profile *profile)
{
	switch (options->output) {
	case REPORT_JSON:
		return put_json(style->out, options, profile);
	case REPORT_CSV:
		put_csv(style->out, profile);
		return 0;
	case REPORT_TEXT:
		break;
	}
	return put_text(style, options, profile);
}
