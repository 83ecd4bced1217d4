/* The view --unmatched: sends and receives that have no other end, receives before their send. */
#include <inttypes.h>

#include "quality/matching.h"
#include "report.h"

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
	style_put(style, INK_DIM, "\n%7s %7s %10s %10s %13s  call, communicator: why it is alone\n", "rank",
		"peer", "tag", "bytes", "began (s)");
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
	style_put(style, INK_DIM, "\n%7s %7s %10s %10s %13s  received before they were sent, by so much\n",
		"rank", "peer", "tag", "bytes", "began (s)");
	for (size_t i = 0; i < m->reversed_count; i++) {
		char by[FIGURE_SIZE];

		put_end(out, &m->reversed[i].send, true, start);
		fprintf(out, ": %s\n", figure_duration(m->reversed[i].by, by));
	}
}

static void put_text(const struct style *style, const struct quality_match *m)
{
	const struct hyb_totals *t = &m->matching.totals;
	uint64_t all, start;
	char n[FIGURE_SIZE];

	if (!m->experiment) /* the quality block has the reason */
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
		json_row(json);
		json_text(json, "kind", m->lone[i].is_send ? "send" : "receive");
		json_text(json, "reason", word_key(&matching_reasons, m->lone[i].why));
		json_message_end(json, &m->lone[i].end);
		json_end(json);
	}
}

static void json_reversed(struct json *json, const struct matching *m)
{
	for (size_t i = 0; i < m->reversed_count; i++) {
		json_row(json);
		json_number(json, "by_ns", m->reversed[i].by);
		json_message_end(json, &m->reversed[i].send);
		json_end(json);
	}
}

static void put_json(struct json *json, const struct quality_matching *m)
{
	json_list(json, "unmatched");
	for (size_t e = 0; e < m->count; e++)
		json_lone(json, &m->items[e].matching);
	json_end(json);
	json_list(json, "reversed");
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

static void put_csv(FILE *out, const struct quality_matching *m)
{
	struct csv csv = {.out = out};

	csv_plain(&csv, "kind,reason,world,rank,pid,tid,function,communicator,peer,tag,bytes,time_ns");
	csv_end(&csv);
	for (size_t e = 0; e < m->count; e++)
		for (size_t i = 0; i < m->items[e].matching.lone_count; i++)
			csv_lone(&csv, &m->items[e].matching.lone[i]);
}

void report_unmatched(
	struct style *style, const struct report_options *options, const struct quality *quality)
{
	const struct quality_matching *m = quality->matching;

	if (options->output == REPORT_JSON)
		put_json(&style->json, m);
	else if (options->output == REPORT_CSV)
		put_csv(style->out, m);
	else if (m->state == QUALITY_MATCHED_NONE)
		fputs("\nno rank of MPI was seen\n", style->out);
	for (size_t i = 0; options->output == REPORT_TEXT && i < m->count; i++)
		put_text(style, &m->items[i]);
}
