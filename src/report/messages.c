/* What was communicated: who sent how much to whom, of what sizes, and by which communicator. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/words.h"
#include "profile/mpi/traffic.h"
#include "sheet.h"

#define PIPE_COLUMNS 16u /* of a matrix that is not for a terminal */
#define ROWS_MAX 12u /* of pairs, and of communicators */

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
	char label[FIGURE_SIZE];

	style_put(style, INK_DIM, "\n%s from rank (row) to rank (column)%s%s%s\n", metrics[metric],
		metric == 2 ? ", " : "", metric == 2 ? style->unit_name : "",
		m->block > 1 ? ", in blocks of ranks" : "");
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

static const struct profile_flow *flow_of(const struct field_row *row)
{
	return row->thing;
}

static const char *kind_of_flow(const struct field_row *row)
{
	return traffic_kind_name(flow_of(row)->kind);
}

static double messages_of_flow(const struct field_row *row)
{
	return (double)traffic_of(flow_of(row)).messages;
}

static double bytes_of_flow(const struct field_row *row)
{
	return (double)traffic_of(flow_of(row)).bytes;
}

static double mean_of_flow(const struct field_row *row)
{
	struct profile_side side = traffic_of(flow_of(row));

	return (double)(side.messages ? side.bytes / side.messages : 0);
}

/* clang-format off */
#define FLOW(member) FIELD_OF(struct profile_flow, member)

static const struct field_column flow_columns[] = {
	COLUMN(FIELD(.key = "world", .form = FIELD_ID, FLOW(world))),
	COLUMN(FIELD(.key = "kind", .form = FIELD_TEXT, .word = kind_of_flow)),
	COLUMN(FIELD(.name = "from", .key = "from", .form = FIELD_RANK, .width = 8, .unknown = "?", FLOW(from))),
	COLUMN(FIELD(.name = "to", .key = "to", .form = FIELD_RANK, .width = 8, .unknown = "?", FLOW(to))),
	COLUMN(FIELD(.name = "msgs", .form = FIELD_COUNT, .width = 8, .value = messages_of_flow)),
	COLUMN(FIELD(.name = "bytes", .form = FIELD_COUNT, .width = 8, .value = bytes_of_flow)),
	COLUMN(FIELD(.name = "mean", .form = FIELD_COUNT, .width = 8, .value = mean_of_flow)),
	COLUMN(FIELD(.group = "sent", .key = "messages", .form = FIELD_COUNT, FLOW(sent.messages))),
	COLUMN(FIELD(.group = "sent", .key = "bytes", .form = FIELD_COUNT, FLOW(sent.bytes))),
	COLUMN(FIELD(.name = "sending", .group = "sent", .key = "time_ns", .form = FIELD_DURATION, .width = 12,
		.least = 1, FLOW(sent.time))),
	COLUMN(FIELD(.group = "received", .key = "messages", .form = FIELD_COUNT, FLOW(received.messages))),
	COLUMN(FIELD(.group = "received", .key = "bytes", .form = FIELD_COUNT, FLOW(received.bytes))),
	COLUMN(FIELD(.name = "receiving", .group = "received", .key = "time_ns", .form = FIELD_DURATION, .width = 12,
		.least = 1, FLOW(received.time))),
	{0}};
/* clang-format on */

static void put_more(const struct style *style, size_t count, const char *what)
{
	if (count > ROWS_MAX)
		style_put(style, INK_DIM, "(%zu more%s)\n", count - ROWS_MAX, what);
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
		list_heading(style, flow_columns, 0, "largest pairs");
	for (size_t i = 0; i < count && i < ROWS_MAX; i++) {
		const struct profile_flow *f = &order[i];

		foreign |= (f->from | f->to) & HYB_RANK_FOREIGN && f->from != HYB_RANK_NONE &&
			   f->to != HYB_RANK_NONE;
		list_cells(style, flow_columns, 0, &(struct field_row){.thing = f});
		fputs(f->kind == PROFILE_ONE_SIDED ? "  one-sided\n" : "\n", style->out);
	}
	put_more(style, count, " pairs");
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
	style_put(style, INK_DIM, "\nsizes of messages: how many, and bytes\n");
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

static double ranks_of_handle(const struct field_row *row)
{
	const struct traffic_handle *t = row->thing;

	return t->handle ? t->handle->size : 0;
}

/* clang-format off */
#define USED(member) FIELD_OF(struct traffic_handle, member)

static const struct field_column used_columns[] = {
	COLUMN(FIELD(.name = "msgs", .form = FIELD_COUNT, .width = 8, USED(messages))),
	COLUMN(FIELD(.name = "sent", .form = FIELD_COUNT, .width = 8, USED(sent))),
	COLUMN(FIELD(.name = "recvd", .form = FIELD_COUNT, .width = 8, USED(received))),
	COLUMN(FIELD(.name = "time", .form = FIELD_DURATION, .width = 12, USED(time))),
	COLUMN(FIELD(.name = "ranks", .form = FIELD_COUNT, .width = 8, .value = ranks_of_handle)),
	{0}};
/* clang-format on */

static void put_handle(struct style *style, const struct profile *profile, const struct traffic_handle *t)
{
	const struct profile_handle *h = t->handle, *parent = h ? parent_of(profile, h) : NULL;
	const char *type = word_key(&words_handle, h ? h->type : 0);
	char name[128];
	struct label label = {
		.kind = PROFILE_PROBE, .name = h && *h->name ? h->name : name, .file = "", .module = ""};
	int used = list_cells(style, used_columns, 0, &(struct field_row){.thing = t});

	snprintf(name, sizeof(name), "[%s%s%s%s]", h ? "" : "unknown ", type,
		parent && *parent->name ? " of " : "", parent ? parent->name : "");
	used += fprintf(style->out, "  ");
	style_label(style, &label, (unsigned)used);
}

static int put_handles(struct style *style, const struct profile *profile)
{
	size_t count;
	struct traffic_handle *handles = traffic_handles(profile, &count);

	if (!handles)
		return HYB_ENOMEM;
	if (count)
		list_heading(style, used_columns, 0, "communicator, window or file");
	for (size_t i = 0; i < count && i < ROWS_MAX; i++)
		put_handle(style, profile, &handles[i]);
	put_more(style, count, "");
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

static const char *operation_of(const struct field_row *row)
{
	return word_key(&words_message, ((const struct profile_volume *)row->thing)->message);
}

static double least_bytes(const struct field_row *row)
{
	const struct profile_volume *v = row->thing;

	return v->size_class ? (double)((uint64_t)1 << (v->size_class - 1)) : 0;
}

static double most_bytes(const struct field_row *row)
{
	double least = least_bytes(row);

	return least > 0 ? 2 * least - 1 : 0;
}

static const char *type_of(const struct field_row *row)
{
	return word_key(&words_handle, ((const struct profile_handle *)row->thing)->type);
}

/* clang-format off */
#define VOLUME(member) FIELD_OF(struct profile_volume, member)
#define HANDLE(member) FIELD_OF(struct profile_handle, member)

static const struct field_column volume_columns[] = {
	COLUMN(FIELD(.key = "world", .form = FIELD_ID, VOLUME(world))),
	COLUMN(FIELD(.key = "handle", .form = FIELD_ID, VOLUME(handle))),
	COLUMN(FIELD(.key = "operation", .form = FIELD_TEXT, .word = operation_of)),
	COLUMN(FIELD(.key = "least_bytes", .form = FIELD_COUNT, .value = least_bytes)),
	COLUMN(FIELD(.key = "most_bytes", .form = FIELD_COUNT, .value = most_bytes)),
	COLUMN(FIELD(.key = "messages", .form = FIELD_COUNT, VOLUME(messages))),
	COLUMN(FIELD(.key = "sent_bytes", .form = FIELD_COUNT, VOLUME(sent))),
	COLUMN(FIELD(.key = "received_bytes", .form = FIELD_COUNT, VOLUME(received))),
	COLUMN(FIELD(.key = "time_ns", .form = FIELD_TIME, VOLUME(time))),
	{0}};

static const struct field_column handle_columns[] = {
	COLUMN(FIELD(.key = "world", .form = FIELD_ID, HANDLE(world))),
	COLUMN(FIELD(.key = "handle", .form = FIELD_ID, HANDLE(identity))),
	COLUMN(FIELD(.key = "parent", .form = FIELD_ID, HANDLE(parent))),
	COLUMN(FIELD(.key = "type", .form = FIELD_TEXT, .word = type_of)),
	COLUMN(FIELD(.key = "name", .form = FIELD_TEXT, HANDLE(name))),
	COLUMN(FIELD(.key = "size", .form = FIELD_COUNT, HANDLE(size))),
	COLUMN(FIELD(.key = "members", .form = FIELD_COUNT, HANDLE(members))),
	{0}};
/* clang-format on */

static void put_json(struct json *json, const struct profile *profile)
{
	size_t flow_count, volume_count, handle_count;
	const struct profile_flow *flows = profile_flows(profile, &flow_count);
	const struct profile_volume *volumes = profile_volumes(profile, &volume_count);
	const struct profile_handle *handles = profile_handles(profile, &handle_count);

	field_list_json_rows(json, "flows", flow_columns, flows, sizeof(*flows), flow_count);
	field_list_json_rows(json, "sizes", volume_columns, volumes, sizeof(*volumes), volume_count);
	field_list_json_rows(json, "handles", handle_columns, handles, sizeof(*handles), handle_count);
}

static void put_csv(FILE *out, const struct profile *profile)
{
	size_t count;
	const struct profile_flow *flows = profile_flows(profile, &count);
	struct csv csv = {.out = out};

	field_list_csv_heading(&csv, flow_columns);
	for (size_t i = 0; i < count; i++)
		field_list_csv(&csv, flow_columns, &(struct field_row){.thing = &flows[i]});
}

int report_messages(struct style *style, const struct report_options *options, const struct profile *profile)
{
	switch (options->output) {
	case REPORT_JSON:
		put_json(&style->json, profile);
		return 0;
	case REPORT_CSV:
		put_csv(style->out, profile);
		return 0;
	case REPORT_TEXT:
		break;
	}
	return put_text(style, profile);
}
