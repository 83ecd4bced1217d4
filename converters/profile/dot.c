/*
 * A picture of the calls between functions for GraphViz, to be read as those that gprof2dot makes: in each
 * box the share of a function with all that it calls, its own in parentheses, and how often it was called if
 * that was counted; at the arrows what calls carry. Warm colours are where the time is.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "converters/profile/call_graph.h"
#include "converters/formats.h"
#include "profile/metrics/figures.h"

#define NAME_MAX_SHOWN 100u /* characters */
#define DEFAULT_THRESHOLD 0.5 /* percent of functions; */
#define CALL_SHARE 0.2 /* of that for calls, of which a function may have many */

struct dot {
	const struct convert_job *job;
	struct convert_profile p;
	struct call_graph graph;
	size_t cost; /* that weighs */
	double threshold; /* percent */
	struct blob text;
	bool failed; /* memory was out */
};

static uint64_t all_of(const struct dot *o)
{
	return o->cost ? o->graph.total[o->cost] : o->p.whole;
}

static double percent(const struct dot *o, uint64_t cost)
{
	return all_of(o) ? (double)cost * 100 / (double)all_of(o) : 0;
}

/* Of the root without what it waited, which is no part of the whole. */
static uint64_t without_waited(const struct dot *o, uint32_t function, uint64_t cost)
{
	return function ? cost : cost - (o->graph.total[o->cost] - all_of(o));
}

static uint64_t inclusive_of(const struct dot *o, uint32_t function)
{
	return without_waited(o, function, o->graph.inclusive[function * o->graph.width + o->cost]);
}

static uint64_t exclusive_of(const struct dot *o, uint32_t function)
{
	return without_waited(o, function, o->graph.exclusive[function * o->graph.width + o->cost]);
}

static bool is_function_shown(const struct dot *o, uint32_t function)
{
	return !function || percent(o, inclusive_of(o, function)) >= o->threshold;
}

static bool is_call_shown(const struct dot *o, uint32_t row)
{
	const struct call_edge *edge = (const struct call_edge *)o->graph.edges.rows + row;

	return is_function_shown(o, edge->from) && is_function_shown(o, edge->to) &&
	       percent(o, o->graph.carried[row * o->graph.width + o->cost]) >= o->threshold * CALL_SHARE;
}

/* Text inside of "...", where a backslash would begin something; cut behind `most` characters. */
static void put_text(struct dot *o, const char *name, size_t most)
{
	FILE *out = o->job->file;
	const char *text;
	size_t count = 0;

	o->text.size = 0;
	convert_put_line(&o->text, name, 0, 0);
	blob_put_bytes(&o->text, "", 1);
	o->failed |= o->text.failed;
	if (o->text.failed)
		return;
	for (text = (const char *)o->text.data; *text && count < most; text++) {
		count += ((unsigned char)text[1] & 0xc0) != 0x80;
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	if (*text)
		fputs("\xe2\x80\xa6", out);
}

/* From blue, where nothing is, to red. */
static void put_colour(const struct dot *o, const char *what, double share)
{
	fprintf(o->job->file, ",%s=\"%.3f %.3f %.3f\"", what, (1 - share) * 2 / 3, 0.6 + 0.3 * share,
		0.55 + 0.25 * share);
}

static void put_calls(const struct dot *o, uint64_t calls)
{
	char text[FIGURE_SIZE];

	if (calls)
		fprintf(o->job->file, "\\n%s\xc3\x97", figure_number(calls, text));
}

static void put_function(struct dot *o, uint32_t number)
{
	const struct call_function *f = (const struct call_function *)o->graph.functions.rows + number;
	const char *place = *f->file ? f->file : f->object;
	const double all = percent(o, inclusive_of(o, number));
	FILE *out = o->job->file;

	fprintf(out, "\t%" PRIu32 " [label=\"", number);
	put_text(o, f->name, NAME_MAX_SHOWN);
	fputs("\\n", out);
	if (*place) {
		put_text(o, path_base(place), NAME_MAX_SHOWN);
		if (*f->file && f->line)
			fprintf(out, ":%" PRIu32, f->line);
		fputs("\\n", out);
	}
	fprintf(out, "%.2f%%\\n(%.2f%%)", all, percent(o, exclusive_of(o, number)));
	put_calls(o, f->calls);
	fputs("\",tooltip=\"", out);
	put_text(o, *place ? place : f->name, NAME_MAX_SHOWN);
	fputc('"', out);
	put_colour(o, "color", all / 100);
	fputs("];\n", out);
}

static void put_call(const struct dot *o, uint32_t row)
{
	const struct call_edge *edge = (const struct call_edge *)o->graph.edges.rows + row;
	const double share = percent(o, o->graph.carried[row * o->graph.width + o->cost]) / 100;

	fprintf(o->job->file, "\t%" PRIu32 " -> %" PRIu32 " [label=\"%.2f%%", edge->from, edge->to,
		share * 100);
	put_calls(o, edge->calls);
	fprintf(o->job->file, "\",penwidth=%.2f,arrowsize=%.2f", 0.5 + 3.5 * share, 0.4 + 0.8 * sqrt(share));
	put_colour(o, "color", share);
	put_colour(o, "fontcolor", share);
	fputs("];\n", o->job->file);
}

static void put_header(struct dot *o)
{
	fputs("digraph calls {\n\tgraph "
	      "[fontname=\"sans-serif\",nodesep=0.125,ranksep=0.25,labelloc=t];\n\tnode "
	      "[fontname=\"sans-serif\",fontsize=10,fontcolor=white,shape=box,style=filled,"
	      "height=0,width=0];\n\tedge [fontname=\"sans-serif\",fontsize=10];\n",
		o->job->file);
}

/* What stands above the picture, with the notes. */
static void put_label(struct dot *o)
{
	const char *command = hyb_experiment_value(o->job->experiment, "command");
	const struct convert_notes *notes = o->job->notes;

	fputs("\tlabel=\"", o->job->file);
	put_text(o, command ? command : hyb_experiment_path(o->job->experiment), NAME_MAX_SHOWN);
	for (size_t i = 0; notes && i < notes->count; i++) {
		fputs("\\n", o->job->file);
		put_text(o, notes->lines[i], SIZE_MAX);
	}
	fputs("\";\n", o->job->file);
}

static void note_left_out(const struct dot *o, size_t functions, size_t calls)
{
	char counts[4][FIGURE_SIZE];

	if (!functions && !calls)
		return;
	convert_note(o->job,
		"%s of %s functions and %s of %s calls are left out, each below %g %% (calls: %g %%) of all "
		"%s",
		figure_number(functions, counts[0]), figure_number(o->graph.functions.count, counts[1]),
		figure_number(calls, counts[2]), figure_number(o->graph.edges.count, counts[3]), o->threshold,
		o->threshold * CALL_SHARE, o->p.weight == SIZE_MAX ? "time" : o->p.metrics[o->p.weight].name);
}

static int write_all(struct dot *o, struct hyb_error *err)
{
	size_t functions = 0, calls = 0;

	if (call_graph_make(&o->graph, &o->p))
		return convert_no_memory(err);
	o->cost = call_graph_weight(&o->graph, &o->p, err);
	if (o->cost == SIZE_MAX)
		return err->code;
	put_header(o);
	for (uint32_t f = 0; f < o->graph.functions.count; f++) {
		if (is_function_shown(o, f))
			put_function(o, f);
		functions += !is_function_shown(o, f);
		if (f % 4096 == 0 && convert_check(o->job, err))
			return err->code;
	}
	for (uint32_t e = 0; e < o->graph.edges.count; e++) {
		if (is_call_shown(o, e))
			put_call(o, e);
		calls += !is_call_shown(o, e);
	}
	note_left_out(o, functions, calls);
	put_label(o);
	fputs("}\n", o->job->file);
	return o->failed ? convert_no_memory(err) : HYB_OK;
}

int dot_write(const struct convert_job *job, struct hyb_error *err)
{
	struct convert_job whole = *job;
	struct dot o = {.job = &whole,
		.threshold = job->bounds.threshold < 0 ? DEFAULT_THRESHOLD : job->bounds.threshold};
	int r;

	whole.bounds.threshold = 0; /* many small call paths may be one large function */
	whole.mode = PROFILE_FUNCTION;
	r = convert_profile_make(&whole, &o.p, err);
	if (r)
		return r;
	r = write_all(&o, err);
	blob_release(&o.text);
	call_graph_release(&o.graph);
	convert_profile_release(&o.p);
	return r;
}
