#include "matching.h"

#include <inttypes.h>
#include <stdlib.h>

#include "facts.h"
#include "text.h"

#define UNASKED_MAX (16u << 20) /* bytes of trace that are read though nobody asked */

/* ---------------------------------------------------------------- gathering */

static enum report_matched what_to_do(const struct report_inputs *inputs)
{
	const struct report_options *o = inputs->options;
	bool asked = o->view == REPORT_QUALITY || o->view == REPORT_UNMATCHED;

	if (!inputs->facts->ranks || (o->output == REPORT_CSV && !asked) || o->view == REPORT_FINDINGS)
		return REPORT_MATCH_NONE;
	if (!inputs->facts->traced)
		return REPORT_MATCH_NO_TRACE;
	return asked || inputs->facts->traced_bytes <= UNASKED_MAX ? REPORT_MATCH_DONE : REPORT_MATCH_LARGE;
}

static void match(struct hyb_experiment *experiment, bool partial, const struct analysis_watch *watch,
	struct report_match *ret)
{
	struct hyb_experiment *whole = experiment;

	if (partial && hyb_experiment_open(hyb_experiment_path(experiment), &whole, &ret->error))
		return;
	if (!matching_make(whole, watch, &ret->matching, &ret->error)) {
		ret->experiment = whole;
		ret->own = partial;
	} else if (partial) {
		hyb_experiment_close(whole);
	}
}

struct report_matching *report_matching_make(
	const struct report_inputs *inputs, bool partial, const struct analysis_watch *watch)
{
	struct report_matching *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->state = what_to_do(inputs);
	m->trace_bytes = inputs->facts->traced_bytes;
	if (m->state != REPORT_MATCH_DONE)
		return m;
	m->items = calloc(inputs->count, sizeof(*m->items));
	if (!m->items) {
		free(m);
		return NULL;
	}
	for (; m->count < inputs->count; m->count++)
		match(inputs->items[m->count].experiment, partial, watch, &m->items[m->count]);
	return m;
}

void report_matching_free(struct report_matching *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++) {
		matching_release(&m->items[i].matching);
		if (m->items[i].own)
			hyb_experiment_close(m->items[i].experiment);
	}
	free(m->items);
	free(m);
}

/* ------------------------------------------------------------------ quality */

/* "; 3 sends without a receive: 2 so, 1 so" */
static void add_lone(
	struct text *text, const uint64_t counts[HYB_LONE_COUNT], const char *what, const char *other)
{
	uint64_t without[HYB_LONE_COUNT], all;
	char n[FIGURE_SIZE];

	for (unsigned i = 0; i < HYB_LONE_COUNT; i++)
		without[i] = i == HYB_LONE_CANCELLED ? 0 : counts[i];
	all = text_sum(without, HYB_LONE_COUNT);
	text_add(text, "; %s %s%s without a %s", figure_number(all, n), what, text_plural(all), other);
	if (all > without[HYB_LONE_NONE])
		text_reasons(text, without, HYB_LONE_COUNT, &matching_reasons);
}

static void put_messages(const struct style *style, const struct hyb_totals *t)
{
	uint64_t cancelled = t->sends[HYB_LONE_CANCELLED] + t->receives[HYB_LONE_CANCELLED];
	struct text text = text_begin();
	char n[FIGURE_SIZE];

	text_add(&text, "%s matched", figure_number(t->matched, n));
	if (t->unsure)
		text_add(&text,
			" (%s of them perhaps with another one's partner: threads at the same time, gaps, "
			"pauses, receives never complete)",
			figure_number(t->unsure, n));
	add_lone(&text, t->sends, "send", "receive");
	add_lone(&text, t->receives, "receive", "send");
	if (cancelled)
		text_add(&text, "; %s cancelled", figure_number(cancelled, n));
	if (t->resized)
		text_add(&text, "; %s received with other bytes than sent", figure_number(t->resized, n));
	text_line(style, INK_BOLD, "messages", &text);
}

static void put_order(const struct style *style, const struct matching *m)
{
	const struct hyb_totals *t = &m->totals;
	struct text text = text_begin();
	char n[FIGURE_SIZE];

	text_add(&text, "%s receive%s before %s send", figure_number(t->reversed, n),
		text_plural(t->reversed), t->reversed == 1 ? "its" : "their");
	if (t->reversed)
		text_add(&text, ", the worst by %s", figure_duration(t->worst, n));
	if (m->error && m->error != HYB_TIME_UNKNOWN)
		text_add(&text, "; clocks agree to within %s", figure_duration(m->error, n));
	if (t->unordered)
		text_add(&text, "; %s message%s between clocks that were not compared",
			figure_number(t->unordered, n), text_plural(t->unordered));
	text_line(style, t->reversed ? INK_WARN : INK_BOLD, "order", &text);
}

static void put_collectives(const struct style *style, const struct hyb_totals *t)
{
	struct text text = text_begin();
	char n[FIGURE_SIZE];

	if (t->partial || t->differing)
		text_add(&text, "%s collective call%s", figure_number(t->collectives, n),
			text_plural(t->collectives));
	if (t->partial)
		text_add(&text, "; %s without all members", figure_number(t->partial, n));
	if (t->differing)
		text_add(&text, "; %s where members called different functions",
			figure_number(t->differing, n));
	text_line(style, INK_WARN, "members", &text);
}

static void put_match(const struct style *style, const struct report_match *m)
{
	struct text text = text_begin();

	if (!m->experiment) {
		text_add(&text, "not matched: %s", m->error.text);
		text_line(style, INK_WARN, "messages", &text);
		return;
	}
	put_messages(style, &m->matching.totals);
	put_order(style, &m->matching);
	put_collectives(style, &m->matching.totals);
}

void report_quality_matching(const struct style *style, const struct report_inputs *inputs)
{
	const struct report_matching *m = inputs->matching;
	struct text text = text_begin();

	if (!m || m->state == REPORT_MATCH_NONE)
		return;
	if (m->state == REPORT_MATCH_NO_TRACE)
		text_add(&text, "not matched: there is no trace with regions (hybrid-run --trace)");
	else if (m->state == REPORT_MATCH_LARGE)
		text_add(&text, "not matched here, the trace has %" PRIu64 " MiB; --quality does it",
			m->trace_bytes >> 20);
	text_line(style, INK_BOLD, "messages", &text);
	for (size_t i = 0; i < m->count; i++)
		put_match(style, &m->items[i]);
}

static void json_counts(struct json *json, const char *key, const uint64_t counts[HYB_LONE_COUNT])
{
	json_object(json, key);
	for (unsigned i = 0; i < HYB_LONE_COUNT; i++)
		json_number(json, word_key(&matching_reasons, i), counts[i]);
	json_end(json);
}

static void json_matching(struct json *json, const struct matching *m)
{
	const struct hyb_totals *t = &m->totals;

	json_object(json, NULL);
	json_number(json, "events", m->totals.events);
	json_number(json, "matched", t->matched);
	json_number(json, "unsure", t->unsure);
	json_number(json, "resized", t->resized);
	json_number(json, "reversed", t->reversed);
	json_number(json, "worst_ns", t->worst);
	json_number(json, "unordered", t->unordered);
	if (m->error == HYB_TIME_UNKNOWN)
		json_null(json, "clock_error_ns");
	else
		json_number(json, "clock_error_ns", m->error);
	json_counts(json, "sends", t->sends);
	json_counts(json, "receives", t->receives);
	json_number(json, "collectives", t->collectives);
	json_number(json, "partial", t->partial);
	json_number(json, "differing", t->differing);
	json_end(json);
}

/* One for each experiment; null where nothing was matched. */
void report_json_quality_matching(struct json *json, const struct report_inputs *inputs)
{
	const struct report_matching *m = inputs->matching;

	if (!m || m->state == REPORT_MATCH_NONE)
		return;
	json_array(json, "matching");
	for (size_t i = 0; i < inputs->count; i++)
		if (i < m->count && m->items[i].experiment)
			json_matching(json, &m->items[i].matching);
		else
			json_null(json, NULL);
	json_end(json);
}

/* --------------------------------------------------------------- unmatched */

static const char *comm_name(const struct hyb_end *end)
{
	return !end->handle ? "" : *end->handle->name ? end->handle->name : "unnamed communicator";
}

static uint64_t time_of(const struct hyb_end *end)
{
	return end->started.call.time != HYB_TIME_UNKNOWN ? end->started.call.time : end->started.time;
}

/* "12", "2 of another world", "?" */
static const char *peer_text(uint32_t peer, char text[FIGURE_SIZE])
{
	if (peer == HYB_RANK_NONE)
		return "?";
	snprintf(text, FIGURE_SIZE, peer & HYB_RANK_FOREIGN ? "*%" PRIu32 : "%" PRIu32,
		peer & ~HYB_RANK_FOREIGN);
	return text;
}

static uint64_t first_start(struct hyb_experiment *experiment)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < hyb_process_count(experiment); i++)
		if (hyb_process_at(experiment, i)->start < first)
			first = hyb_process_at(experiment, i)->start;
	return first;
}

/* Seconds, as clocks that were not compared can be before the start. */
static double seconds(uint64_t time, uint64_t start)
{
	return (double)(int64_t)(time - start) / 1e9;
}

/* A name of the program's or of a file cannot steer the terminal. */
static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name, out);
}

static void put_end(FILE *out, const struct hyb_end *end, bool known, uint64_t start)
{
	char peer[FIGURE_SIZE];

	fprintf(out, "%7" PRIu32 " %7s", end->started.location->process->rank, peer_text(end->peer, peer));
	if (known)
		fprintf(out, " %10" PRId32 " %10" PRIu64, end->tag, end->bytes);
	else
		fprintf(out, " %10s %10s", "?", "?");
	fprintf(out, " %13.6f  ", seconds(time_of(end), start));
	put_name(out, matching_function(end));
}

static void put_lone_rows(const struct style *style, const struct matching *m, uint64_t start)
{
	FILE *out = style->out;

	if (!m->lone_count)
		return;
	style_ink(style, INK_DIM);
	fprintf(out, "\n%7s %7s %10s %10s %13s  call, communicator: why it is alone\n", "rank", "peer", "tag",
		"bytes", "began (s)");
	style_ink(style, INK_PLAIN);
	for (size_t i = 0; i < m->lone_count; i++) {
		const struct matching_lone *l = &m->lone[i];

		put_end(out, &l->end, l->why != HYB_LONE_PENDING, start);
		fputs(*comm_name(&l->end) ? ", " : "", out);
		put_name(out, comm_name(&l->end));
		fprintf(out, ": %s\n", word_text(&matching_reasons, l->why));
	}
}

static void put_reversed_rows(const struct style *style, const struct matching *m, uint64_t start)
{
	FILE *out = style->out;

	if (!m->reversed_count)
		return;
	style_ink(style, INK_DIM);
	fprintf(out, "\n%7s %7s %10s %10s %13s  received before they were sent, by so much\n", "rank", "peer",
		"tag", "bytes", "began (s)");
	style_ink(style, INK_PLAIN);
	for (size_t i = 0; i < m->reversed_count; i++) {
		char by[FIGURE_SIZE];

		put_end(out, &m->reversed[i].send, true, start);
		fprintf(out, ": %s\n", figure_duration(m->reversed[i].by, by));
	}
}

static void put_text(const struct style *style, const struct report_match *m)
{
	const struct hyb_totals *t = &m->matching.totals;
	uint64_t all, start;
	char n[FIGURE_SIZE];

	if (!m->experiment) /* the quality block said why */
		return;
	start = first_start(m->experiment);
	put_lone_rows(style, &m->matching, start);
	all = text_sum(t->sends, HYB_LONE_COUNT) + text_sum(t->receives, HYB_LONE_COUNT) -
	      t->sends[HYB_LONE_CANCELLED] - t->receives[HYB_LONE_CANCELLED];
	if (!all)
		fputs("\nevery send has its receive\n", style->out);
	else if (all > m->matching.lone_count)
		fprintf(style->out, "(and %s more)\n", figure_number(all - m->matching.lone_count, n));
	put_reversed_rows(style, &m->matching, start);
}

/* Members: one end of a message. */
static void json_message_end(struct json *json, const struct hyb_end *end)
{
	const struct hyb_process *p = end->started.location->process;

	json_id(json, "world", p->world);
	json_number(json, "rank", p->rank);
	json_number(json, "pid", p->pid);
	json_number(json, "tid", end->started.location->tid);
	json_text(json, "function", matching_function(end));
	json_text(json, "communicator", comm_name(end));
	if (end->peer == HYB_RANK_NONE)
		json_null(json, "peer");
	else
		json_number(json, "peer", end->peer & ~HYB_RANK_FOREIGN);
	json_bool(json, "foreign", end->peer != HYB_RANK_NONE && end->peer & HYB_RANK_FOREIGN);
	json_signed(json, "tag", end->tag);
	json_number(json, "bytes", end->bytes);
	json_number(json, "time_ns", time_of(end));
}

static void json_lone(struct json *json, const struct matching *m)
{
	for (size_t i = 0; i < m->lone_count; i++) {
		json_line(json);
		json_object(json, NULL);
		json_text(json, "kind", m->lone[i].is_send ? "send" : "receive");
		json_text(json, "reason", word_key(&matching_reasons, m->lone[i].why));
		json_message_end(json, &m->lone[i].end);
		json_end(json);
	}
}

static void json_reversed(struct json *json, const struct matching *m)
{
	for (size_t i = 0; i < m->reversed_count; i++) {
		json_line(json);
		json_object(json, NULL);
		json_number(json, "by_ns", m->reversed[i].by);
		json_message_end(json, &m->reversed[i].send);
		json_end(json);
	}
}

static void put_json(struct json *json, const struct report_matching *m)
{
	json_line(json);
	json_array(json, "unmatched");
	for (size_t e = 0; e < m->count; e++)
		json_lone(json, &m->items[e].matching);
	json_end(json);
	json_line(json);
	json_array(json, "reversed");
	for (size_t e = 0; e < m->count; e++)
		json_reversed(json, &m->items[e].matching);
	json_end(json);
}

static void csv_lone(struct csv *csv, const struct matching_lone *lone)
{
	const struct hyb_end *end = &lone->end;
	const struct hyb_process *p = end->started.location->process;
	char peer[FIGURE_SIZE];

	csv_plain(csv, lone->is_send ? "send" : "receive");
	csv_plain(csv, word_key(&matching_reasons, lone->why));
	csv_id(csv, p->world);
	csv_number(csv, p->rank);
	csv_number(csv, p->pid);
	csv_number(csv, end->started.location->tid);
	csv_text(csv, matching_function(end));
	csv_text(csv, comm_name(end));
	csv_plain(csv, peer_text(end->peer, peer));
	csv_signed(csv, end->tag);
	csv_number(csv, end->bytes);
	csv_number(csv, time_of(end));
	csv_end(csv);
}

static void put_csv(FILE *out, const struct report_matching *m)
{
	struct csv csv = {.out = out};

	csv_plain(&csv, "kind,reason,world,rank,pid,tid,function,communicator,peer,tag,bytes,time_ns");
	csv_end(&csv);
	for (size_t e = 0; e < m->count; e++)
		for (size_t i = 0; i < m->items[e].matching.lone_count; i++)
			csv_lone(&csv, &m->items[e].matching.lone[i]);
}

void report_unmatched(
	struct style *style, const struct report_options *options, const struct report_inputs *inputs)
{
	const struct report_matching *m = inputs->matching;

	if (options->output == REPORT_JSON)
		put_json(&style->json, m);
	else if (options->output == REPORT_CSV)
		put_csv(style->out, m);
	else if (m->state == REPORT_MATCH_NONE)
		fputs("\nno rank of MPI was seen\n", style->out);
	for (size_t i = 0; options->output == REPORT_TEXT && i < m->count; i++)
		put_text(style, &m->items[i]);
}
