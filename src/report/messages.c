/* What was communicated: who sent how much to whom, of what sizes, and by which communicator. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/words.h"
#include "profile/mpi/traffic.h"
#include "table.h"

#define PIPE_COLUMNS 16u /* of a matrix that is not for a terminal */
#define ROWS_MAX 12u /* of pairs, and of communicators */

static void put_title(const struct style *style, const char *title)
{
	style_ink(style, INK_DIM);
	fprintf(style->out, "\n%s\n", title);
	style_ink(style, INK_PLAIN);
}

/* ---------------------------------------------------------------- matrix */

static const char *const metrics[] = {"messages", "bytes", "time"};

static int block_label(const struct matrix *m, size_t i, char text[FIGURE_SIZE])
{
	uint32_t first = m->first + (uint32_t)i * m->block;
	uint32_t last = first + m->block - 1 < m->last ? first + m->block - 1 : m->last;

	if (first == last)
		return snprintf(text, FIGURE_SIZE, "%" PRIu32, first);
	return snprintf(text, FIGURE_SIZE, "%" PRIu32 "-%" PRIu32, first, last);
}

static uint64_t cell_value(const struct profile_side *cell, unsigned metric)
{
	return metric == 0 ? cell->messages : metric == 1 ? cell->bytes : cell->time;
}

static void put_value(const struct style *style, const struct profile_side *cell, unsigned metric, int width)
{
	uint64_t value = cell_value(cell, metric);
	char text[FIGURE_SIZE] = ".";

	if (value && metric == 2)
		snprintf(text, sizeof(text), "%.3f", (double)value / style->unit);
	else if (value)
		figure_count(value, text);
	fprintf(style->out, "%*s", width, text);
}

static void put_metric(const struct style *style, const struct matrix *m, unsigned metric, int width)
{
	char label[FIGURE_SIZE], title[128];

	snprintf(title, sizeof(title), "%s from rank (row) to rank (column)%s%s%s", metrics[metric],
		metric == 2 ? ", " : "", metric == 2 ? style->unit_name : "",
		m->block > 1 ? ", in blocks of ranks" : "");
	put_title(style, title);
	fprintf(style->out, "%*s", width, "");
	for (size_t c = 0; c < m->side; c++) {
		block_label(m, c, label);
		fprintf(style->out, "%*s", width, label);
	}
	fputc('\n', style->out);
	for (size_t r = 0; r < m->side; r++) {
		block_label(m, r, label);
		fprintf(style->out, "%*s", width, label);
		for (size_t c = 0; c < m->side; c++)
			put_value(style, &m->cells[r * m->side + c], metric, width);
		fputc('\n', style->out);
	}
}

/* How many columns of how many characters there is room for. */
static size_t fit_columns(const struct style *style, const struct matrix *m, int *ret_width)
{
	char label[FIGURE_SIZE];
	int width = snprintf(label, sizeof(label), "%" PRIu32 "-%" PRIu32, m->last, m->last) + 1;
	uint32_t ranks = m->last - m->first + 1;
	size_t columns;

	*ret_width = 8;
	columns = style->cut ? (style->width - 8) / 8 : PIPE_COLUMNS;
	if (ranks > columns && width > 8) {
		*ret_width = width;
		columns = style->cut ? (style->width - (unsigned)width) / (unsigned)width : PIPE_COLUMNS;
	}
	return columns ? columns : 1;
}

static int put_matrix(struct style *style, const struct profile *profile, uint64_t world)
{
	struct matrix m;
	uint64_t most = 0;
	size_t columns;
	int width;

	if (!matrix_range(&m, profile, world))
		return 0;
	columns = fit_columns(style, &m, &width);
	if (matrix_fill(&m, profile, world, columns))
		return HYB_ENOMEM;
	for (size_t i = 0; i < m.side * m.side; i++)
		most = m.cells[i].time > most ? m.cells[i].time : most;
	put_metric(style, &m, 0, width);
	put_metric(style, &m, 1, width);
	if (most) {
		style_set_unit(style, most);
		put_metric(style, &m, 2, width);
	}
	free(m.cells);
	return 0;
}

/* ----------------------------------------------------------------- pairs */

static const char *time_name(uint64_t ns, char text[FIGURE_SIZE])
{
	return ns ? figure_duration(ns, text) : "";
}

static const char *rank_name(uint32_t rank, char text[FIGURE_SIZE])
{
	if (rank == HYB_RANK_NONE)
		snprintf(text, FIGURE_SIZE, "?");
	else if (rank & HYB_RANK_FOREIGN)
		snprintf(text, FIGURE_SIZE, "%" PRIu32 "'", rank & ~HYB_RANK_FOREIGN);
	else
		snprintf(text, FIGURE_SIZE, "%" PRIu32, rank);
	return text;
}

static int put_pairs(const struct style *style, const struct profile *profile)
{
	size_t count;
	const struct profile_flow *flows = profile_flows(profile, &count);
	struct profile_flow *order = traffic_largest(flows, count);
	bool foreign = false;

	if (!order)
		return HYB_ENOMEM;
	if (count)
		put_title(style,
			"    from      to    msgs   bytes    mean     sending   receiving  largest pairs");
	for (size_t i = 0; i < count && i < ROWS_MAX; i++) {
		const struct profile_flow *f = &order[i];
		struct profile_side side = traffic_of(f);
		char a[FIGURE_SIZE], b[FIGURE_SIZE], n[FIGURE_SIZE], bytes[FIGURE_SIZE], mean[FIGURE_SIZE];
		char sending[FIGURE_SIZE], receiving[FIGURE_SIZE];

		foreign |= (f->from | f->to) & HYB_RANK_FOREIGN && f->from != HYB_RANK_NONE &&
			   f->to != HYB_RANK_NONE;
		fprintf(style->out, "%8s%8s%8s%8s%8s%12s%12s%s\n", rank_name(f->from, a), rank_name(f->to, b),
			figure_count(side.messages, n), figure_count(side.bytes, bytes),
			figure_count(side.messages ? side.bytes / side.messages : 0, mean),
			time_name(f->sent.time, sending), time_name(f->received.time, receiving),
			f->kind == PROFILE_ONE_SIDED ? "  one-sided" : "");
	}
	if (count > ROWS_MAX) {
		style_ink(style, INK_DIM);
		fprintf(style->out, "(%zu more pairs)\n", count - ROWS_MAX);
		style_ink(style, INK_PLAIN);
	}
	if (foreign)
		fputs("5': rank 5 of a communicator with another MPI_COMM_WORLD\n", style->out);
	free(order);
	return 0;
}

/* ----------------------------------------------------------------- sizes */

static void put_sizes(const struct style *style, const struct profile *profile)
{
	static const char *const names[TRAFFIC_GROUPS] = {
		"sent", "received", "collective", "one-sided", "read", "written"};
	struct traffic_sizes sizes;
	char a[FIGURE_SIZE], b[FIGURE_SIZE];

	traffic_sum_sizes(profile, &sizes);
	if (sizes.first > sizes.last)
		return;
	put_title(style, "sizes of messages: how many, and bytes");
	fprintf(style->out, "%8s", "size");
	for (unsigned g = 0; g < TRAFFIC_GROUPS; g++)
		if (sizes.sums[g].messages)
			fprintf(style->out, "%16s", names[g]);
	fputc('\n', style->out);
	for (unsigned c = sizes.first; c <= sizes.last; c++) {
		fprintf(style->out, "%8s", traffic_size_name(c, a));
		for (unsigned g = 0; g < TRAFFIC_GROUPS; g++) {
			const struct profile_side *s = &sizes.classes[c][g];

			if (sizes.sums[g].messages)
				fprintf(style->out, "%8s%8s",
					s->messages ? figure_count(s->messages, a) : ".",
					s->messages ? figure_count(s->bytes, b) : "");
		}
		fputc('\n', style->out);
	}
}

/* --------------------------------------------------------------- handles */

/* What it was made of; NULL: not known. */
static const struct profile_handle *parent_of(
	const struct profile *profile, const struct profile_handle *child)
{
	size_t count;
	const struct profile_handle *handles = profile_handles(profile, &count);

	for (size_t i = 0; i < count; i++)
		if (handles[i].world == child->world && handles[i].identity == child->parent)
			return &handles[i];
	return NULL;
}

static void put_handle(
	const struct style *style, const struct profile *profile, const struct traffic_handle *t)
{
	const struct profile_handle *h = t->handle;
	char n[FIGURE_SIZE], sent[FIGURE_SIZE], received[FIGURE_SIZE], time[FIGURE_SIZE], name[128];
	const struct profile_handle *parent = h ? parent_of(profile, h) : NULL;
	const char *type = word_key(&words_handle, h ? h->type : 0);
	struct label label = {
		.kind = PROFILE_PROBE, .name = h && *h->name ? h->name : name, .file = "", .module = ""};
	int used;

	snprintf(name, sizeof(name), "[%s%s%s%s]", h ? "" : "unknown ", type,
		parent && *parent->name ? " of " : "", parent ? parent->name : "");
	used = fprintf(style->out, "%8s%8s%8s%12s%8" PRIu32 "  ", figure_count(t->messages, n),
		figure_count(t->sent, sent), figure_count(t->received, received),
		figure_duration(t->time, time), h ? h->size : 0);
	style_label((struct style *)style, &label, (unsigned)used);
}

static int put_handles(const struct style *style, const struct profile *profile)
{
	size_t count;
	struct traffic_handle *handles = traffic_handles(profile, &count);

	if (!handles)
		return HYB_ENOMEM;
	if (count)
		put_title(
			style, "    msgs    sent   recvd        time   ranks  communicator, window or file");
	for (size_t i = 0; i < count && i < ROWS_MAX; i++)
		put_handle(style, profile, &handles[i]);
	if (count > ROWS_MAX) {
		style_ink(style, INK_DIM);
		fprintf(style->out, "(%zu more)\n", count - ROWS_MAX);
		style_ink(style, INK_PLAIN);
	}
	free(handles);
	return 0;
}

static int put_text(struct style *style, const struct profile *profile)
{
	size_t count, i = 0;
	const struct profile_rank *ranks = profile_ranks(profile, &count);
	size_t flows, volumes;
	int r = 0;

	profile_flows(profile, &flows);
	profile_volumes(profile, &volumes);
	if (!flows && !volumes) {
		fputs("\nno message of MPI was seen\n", style->out);
		return 0;
	}
	for (; !r && i < count; i++)
		if (!i || ranks[i].world != ranks[i - 1].world)
			r = put_matrix(style, profile, ranks[i].world);
	if (!r)
		r = put_pairs(style, profile);
	if (!r)
		put_sizes(style, profile);
	return r ? r : put_handles(style, profile);
}

/* ------------------------------------------------------------- machines */

static void json_rank(struct json *json, const char *key, uint32_t rank)
{
	if (rank == HYB_RANK_NONE) {
		json_null(json, key);
	} else if (rank & HYB_RANK_FOREIGN) {
		json_object(json, key);
		json_number(json, "foreign", rank & ~HYB_RANK_FOREIGN);
		json_end(json);
	} else {
		json_number(json, key, rank);
	}
}

static void json_side(struct json *json, const char *key, const struct profile_side *side)
{
	json_object(json, key);
	json_number(json, "messages", side->messages);
	json_number(json, "bytes", side->bytes);
	json_number(json, "time_ns", side->time);
	json_end(json);
}

static void json_flows(struct json *json, const struct profile *profile)
{
	size_t count;
	const struct profile_flow *flows = profile_flows(profile, &count);

	json_line(json);
	json_array(json, "flows");
	for (size_t i = 0; i < count; i++) {
		json_line(json);
		json_object(json, NULL);
		json_id(json, "world", flows[i].world);
		json_text(json, "kind", traffic_kind_name(flows[i].kind));
		json_rank(json, "from", flows[i].from);
		json_rank(json, "to", flows[i].to);
		json_side(json, "sent", &flows[i].sent);
		json_side(json, "received", &flows[i].received);
		json_end(json);
	}
	json_end(json);
}

static void json_sizes(struct json *json, const struct profile *profile)
{
	size_t count;
	const struct profile_volume *volumes = profile_volumes(profile, &count);

	json_line(json);
	json_array(json, "sizes");
	for (size_t i = 0; i < count; i++) {
		const struct profile_volume *v = &volumes[i];
		uint64_t least = v->size_class ? (uint64_t)1 << (v->size_class - 1) : 0;

		json_line(json);
		json_object(json, NULL);
		json_id(json, "world", v->world);
		json_id(json, "handle", v->handle);
		json_text(json, "operation", word_key(&words_message, v->message));
		json_number(json, "least_bytes", least);
		json_number(json, "most_bytes", least ? 2 * least - 1 : 0);
		json_number(json, "messages", v->messages);
		json_number(json, "sent_bytes", v->sent);
		json_number(json, "received_bytes", v->received);
		json_number(json, "time_ns", v->time);
		json_end(json);
	}
	json_end(json);
}

static void json_handles(struct json *json, const struct profile *profile)
{
	size_t count;
	const struct profile_handle *handles = profile_handles(profile, &count);

	json_line(json);
	json_array(json, "handles");
	for (size_t i = 0; i < count; i++) {
		const struct profile_handle *h = &handles[i];

		json_line(json);
		json_object(json, NULL);
		json_id(json, "world", h->world);
		json_id(json, "handle", h->identity);
		json_id(json, "parent", h->parent);
		json_text(json, "type", word_key(&words_handle, h->type));
		json_text(json, "name", h->name);
		json_number(json, "size", h->size);
		json_number(json, "members", h->members);
		json_end(json);
	}
	json_end(json);
}

static void csv_side(struct csv *csv, const struct profile_side *side)
{
	csv_number(csv, side->messages);
	csv_number(csv, side->bytes);
	csv_number(csv, side->time);
}

static void put_csv(FILE *out, const struct profile *profile)
{
	size_t count;
	const struct profile_flow *flows = profile_flows(profile, &count);
	struct csv csv = {.out = out};
	char text[FIGURE_SIZE];

	csv_plain(&csv, "world,kind,from,to,sent_messages,sent_bytes,sent_time_ns,"
			"received_messages,received_bytes,received_time_ns");
	csv_end(&csv);
	for (size_t i = 0; i < count; i++) {
		csv_id(&csv, flows[i].world);
		csv_plain(&csv, traffic_kind_name(flows[i].kind));
		csv_plain(&csv, flows[i].from == HYB_RANK_NONE ? "" : rank_name(flows[i].from, text));
		csv_plain(&csv, flows[i].to == HYB_RANK_NONE ? "" : rank_name(flows[i].to, text));
		csv_side(&csv, &flows[i].sent);
		csv_side(&csv, &flows[i].received);
		csv_end(&csv);
	}
}

int report_messages(struct style *style, const struct report_options *options, const struct profile *profile)
{
	switch (options->output) {
	case REPORT_JSON:
		json_flows(&style->json, profile);
		json_sizes(&style->json, profile);
		json_handles(&style->json, profile);
		return 0;
	case REPORT_CSV:
		put_csv(style->out, profile);
		return 0;
	case REPORT_TEXT:
		break;
	}
	return put_text(style, profile);
}
