/*
 * The profile format of callgrind, for KCachegrind: what each line of a function spent, and what each of its
 * calls carried. Frames have no number of calls: a call that only samples saw was called once, since readers
 * take what stands behind 0 calls for the function's own.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converters/profile/call_graph.h"
#include "converters/formats.h"

/* A file or object that was named before, or a function: a row of a table. */
struct named {
	const char *text; /* key */
	uint64_t done; /* its name stands in the file */
};

/* Rows of a table in the order of their functions: those of function f from starts[f] to starts[f + 1]. */
struct by_function {
	uint32_t *rows;
	size_t *starts;
};

struct callgrind {
	const struct convert_job *job;
	struct convert_profile p;
	struct call_graph graph;
	struct row_map files, objects;
	bool *function_done;
	struct by_function lines, edges;
	size_t first; /* the cost that stands in front */
	struct blob text;
	bool failed; /* memory was out */
};

static void put_text(struct callgrind *o, const char *text)
{
	o->text.size = 0;
	convert_put_line(&o->text, *text ? text : "???", 0, 0);
	o->failed |= o->text.failed;
	fwrite(o->text.data, 1, o->text.size, o->job->file);
}

/* "fl=(3) name", the name only once. */
static void put_named(struct callgrind *o, const char *what, struct row_map *table, const char *text)
{
	struct named *row = row_map_row(table, &text);

	o->failed |= !row;
	if (!row)
		return;
	fprintf(o->job->file, "%s=(%zu)", what, (size_t)(row - (struct named *)table->rows) + 1);
	if (!row->done) {
		fputc(' ', o->job->file);
		put_text(o, text);
	}
	row->done = true;
	fputc('\n', o->job->file);
}

/* Object, file and function; `call`: those of what is called. */
static void put_function(struct callgrind *o, uint32_t number, bool call)
{
	const struct call_function *f = (const struct call_function *)o->graph.functions.rows + number;

	put_named(o, call ? "cob" : "ob", &o->objects, f->object);
	put_named(o, call ? "cfi" : "fl", &o->files, f->file);
	fprintf(o->job->file, "%s=(%" PRIu32 ")", call ? "cfn" : "fn", number + 1);
	if (!o->function_done[number]) {
		fputc(' ', o->job->file);
		put_text(o, f->name);
	}
	o->function_done[number] = true;
	fputc('\n', o->job->file);
}

/* The cost that weighs stands in front: viewers begin with it. */
static size_t cost_at(const struct callgrind *o, size_t place)
{
	return !place ? o->first : place <= o->first ? place - 1 : place;
}

static void put_costs(const struct callgrind *o, const uint64_t *costs)
{
	for (size_t i = 0; i < o->graph.width; i++)
		fprintf(o->job->file, " %" PRIu64, costs[cost_at(o, i)]);
	fputc('\n', o->job->file);
}

static void put_calls(struct callgrind *o, uint32_t row)
{
	const struct call_edge *edge = (const struct call_edge *)o->graph.edges.rows + row;
	const struct call_function *to = (const struct call_function *)o->graph.functions.rows + edge->to;

	put_function(o, edge->to, true);
	fprintf(o->job->file, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32, edge->calls ? edge->calls : 1,
		to->line, edge->line);
	put_costs(o, &o->graph.carried[row * o->graph.width]);
}

static int put_functions(struct callgrind *o, struct hyb_error *err)
{
	const struct call_line *lines = o->graph.lines.rows;

	for (uint32_t f = 0; f < o->graph.functions.count; f++) {
		fputc('\n', o->job->file);
		put_function(o, f, false);
		for (size_t i = o->lines.starts[f]; i < o->lines.starts[f + 1]; i++) {
			fprintf(o->job->file, "%" PRIu32, lines[o->lines.rows[i]].line);
			put_costs(o, &o->graph.spent[o->lines.rows[i] * o->graph.width]);
		}
		for (size_t i = o->edges.starts[f]; i < o->edges.starts[f + 1]; i++)
			put_calls(o, o->edges.rows[i]);
		if (o->failed)
			return convert_no_memory(err);
		if (f % 1024 == 0 && convert_check(o->job, err))
			return err->code;
	}
	return HYB_OK;
}

/* Names of events are words. */
static void put_event(const struct callgrind *o, size_t cost)
{
	const char *name = cost ? "Samples" : "Time_ns";

	if (cost >= 2)
		name = o->p.metrics[o->graph.metrics[cost]].name;
	fputc(' ', o->job->file);
	for (; *name; name++)
		fputc(isalnum((unsigned char)*name) ? *name : '_', o->job->file);
}

static void put_note(struct callgrind *o, const char *text)
{
	fputs("\ndesc: Note: ", o->job->file);
	put_text(o, text);
}

static void put_header(struct callgrind *o)
{
	const char *command = hyb_experiment_value(o->job->experiment, "command");

	fputs("# callgrind format\nversion: 1\ncreator: hybrid-convert\ncmd: ", o->job->file);
	put_text(o, command ? command : hyb_experiment_path(o->job->experiment));
	for (size_t i = 0; o->job->notes && i < o->job->notes->count; i++)
		put_note(o, o->job->notes->lines[i]);
	fputs("\npositions: line\nevents:", o->job->file);
	for (size_t i = 0; i < o->graph.width; i++)
		put_event(o, cost_at(o, i));
	fputs("\nsummary:", o->job->file);
	put_costs(o, o->graph.total);
}

/* Which metrics have no place, as they go up and down. */
static void note_levels(const struct callgrind *o)
{
	for (size_t k = 0; o->p.values && k < o->p.metric_count; k++)
		if (o->p.metrics[k].level)
			convert_note(o->job,
				"metric %.200s goes up and down, for which callgrind has no place: it is "
				"left out",
				o->p.metrics[k].name);
}

/* Sorts rows by the function whose number stands `offset` bytes behind their beginning. */
static int sort_rows(struct by_function *ret, const struct row_map *table, size_t offset, size_t functions)
{
	const char *rows = table->rows;
	uint32_t f;

	ret->rows = calloc(table->count + 1, sizeof(*ret->rows));
	ret->starts = calloc(functions + 2, sizeof(*ret->starts));
	if (!ret->rows || !ret->starts)
		return HYB_ENOMEM;
	for (size_t i = 0; i < table->count; i++) {
		memcpy(&f, rows + i * table->row_size + offset, sizeof(f));
		ret->starts[f + 2]++;
	}
	for (size_t i = 2; i < functions + 2; i++)
		ret->starts[i] += ret->starts[i - 1];
	for (size_t i = 0; i < table->count; i++) {
		memcpy(&f, rows + i * table->row_size + offset, sizeof(f));
		ret->rows[ret->starts[f + 1]++] = (uint32_t)i;
	}
	return HYB_OK;
}

static int write_all(struct callgrind *o, struct hyb_error *err)
{
	size_t functions;

	if (call_graph_make(&o->graph, &o->p))
		return convert_no_memory(err);
	functions = o->graph.functions.count;
	o->function_done = calloc(functions, sizeof(*o->function_done));
	if (!o->function_done ||
		sort_rows(&o->lines, &o->graph.lines, offsetof(struct call_line, function), functions) ||
		sort_rows(&o->edges, &o->graph.edges, offsetof(struct call_edge, from), functions))
		return convert_no_memory(err);
	o->first = call_graph_weight(&o->graph, &o->p, err);
	if (o->first == SIZE_MAX)
		return err->code;
	note_levels(o);
	put_header(o);
	return put_functions(o, err);
}

int callgrind_write(const struct convert_job *job, struct hyb_error *err)
{
	struct convert_job lines = *job;
	struct callgrind o = {.job = &lines,
		.files = {.row_size = sizeof(struct named), .key_size = sizeof(const char *)},
		.objects = {.row_size = sizeof(struct named), .key_size = sizeof(const char *)}};
	int r;

	lines.mode = PROFILE_CALLSITE;
	r = convert_profile_make(&lines, &o.p, err);
	if (r)
		return r;
	r = write_all(&o, err);
	free(o.function_done);
	free(o.lines.rows);
	free(o.lines.starts);
	free(o.edges.rows);
	free(o.edges.starts);
	row_map_release(&o.files);
	row_map_release(&o.objects);
	blob_release(&o.text);
	call_graph_release(&o.graph);
	convert_profile_release(&o.p);
	return r;
}
