/* A row for each rank of MPI. */
#include <inttypes.h>

#include "sheet.h"

#define ROOM 104u /* columns of a terminal from which all stand there */

static double percent_of_wall(const struct field_row *row)
{
	const struct profile_rank *r = row->thing;

	return r->wall ? (double)r->mpi_time * 100 / (double)r->wall : 0;
}

#define AT(member) FIELD_OF(struct profile_rank, member)

static const struct field_column columns[] = {COLUMN(FIELD(.key = "world", .form = FIELD_ID, AT(world))),
	COLUMN(FIELD(.name = "rank", .key = "rank", .form = FIELD_RANK, .width = 7, .unknown = "all",
		AT(rank))),
	COLUMN(FIELD(.key = "size", .form = FIELD_COUNT, .json_only = true, AT(size))),
	COLUMN(FIELD(.key = "host", .form = FIELD_TEXT, AT(host))),
	COLUMN(FIELD(.key = "pid", .form = FIELD_COUNT, AT(pid))),
	COLUMN(FIELD(.name = "thr", .key = "threads", .form = FIELD_COUNT, .width = 4, AT(threads)),
		.room = ROOM),
	COLUMN(FIELD(.key = "thread_level", .form = FIELD_COUNT, .json_only = true, AT(thread_level))),
	COLUMN(FIELD(.name = "wall", .key = "wall_ns", .form = FIELD_TIME, AT(wall))),
	COLUMN(FIELD(.key = "thread_wall_ns", .form = FIELD_TIME, AT(thread_wall))),
	COLUMN(FIELD(.name = "CPU", .key = "cpu_ns", .form = FIELD_TIME, AT(cpu))),
	COLUMN(FIELD(.name = "MPI", .form = FIELD_TIME, AT(mpi_time))),
	COLUMN(FIELD(.name = "%", .form = FIELD_SHARE, .width = 7, .value = percent_of_wall)),
	COLUMN(FIELD(.name = "blocked", .key = "blocked_ns", .form = FIELD_TIME, .least = 1, AT(blocked))),
	COLUMN(FIELD(.key = "mpi_calls", .form = FIELD_COUNT, AT(mpi_calls))),
	COLUMN(FIELD(.key = "mpi_ns", .form = FIELD_TIME, AT(mpi_time))),
	COLUMN(FIELD(.name = "msgs", .key = "messages_sent", .form = FIELD_COUNT, .width = 8, .least = 1,
		AT(messages_sent))),
	COLUMN(FIELD(.key = "messages_received", .form = FIELD_COUNT, AT(messages_received))),
	COLUMN(FIELD(.name = "sent", .key = "sent_bytes", .form = FIELD_COUNT, .width = 8, .least = 1,
		AT(sent))),
	COLUMN(FIELD(.name = "recvd", .key = "received_bytes", .form = FIELD_COUNT, .width = 8, .least = 1,
		       AT(received)),
		.room = ROOM),
	COLUMN(FIELD(.key = "errors", .form = FIELD_COUNT, AT(errors))),
	COLUMN(FIELD(.key = "clock_shift_start_ns", .form = FIELD_SIGNED, .json_only = true,
		AT(clock_shift_start))),
	COLUMN(FIELD(.key = "clock_shift_end_ns", .form = FIELD_SIGNED, .json_only = true,
		AT(clock_shift_end))),
	COLUMN(FIELD(.key = "clock_error_ns", .form = FIELD_TIME, .json_only = true, AT(clock_error))), {0}};

static void put_rank(struct style *style, const struct profile_rank *r, int time_width)
{
	const struct field_row row = {.thing = r};
	char process[128] = "";
	const struct label label = {.kind = PROFILE_LEAF, .name = process, .file = "", .module = ""};
	int used = list_cells(style, columns, time_width, &row);

	if (r->host)
		snprintf(process, sizeof(process), "  %.80s %" PRIu32, r->host, r->pid);
	style_label(style, &label, (unsigned)used);
}

static void add(struct profile_rank *sum, const struct profile_rank *r)
{
	sum->selected++;
	sum->threads += r->threads;
	sum->wall += r->wall;
	sum->thread_wall += r->thread_wall;
	sum->cpu += r->cpu;
	sum->blocked += r->blocked;
	sum->mpi_time += r->mpi_time;
	sum->messages_sent += r->messages_sent;
	sum->sent += r->sent;
	sum->received += r->received;
}

static void put_text(struct style *style, const struct profile_rank *rows, size_t count)
{
	struct profile_rank sum = {.rank = HYB_RANK_NONE};
	char heading[32];
	uint64_t world = 0;
	int time_width;

	for (size_t i = 0; i < count; i++)
		if (rows[i].selected)
			add(&sum, &rows[i]);
	if (!sum.selected) {
		fputs("\nno rank of MPI was seen\n", style->out);
		return;
	}
	time_width = style_times(style, sum.thread_wall);
	snprintf(heading, sizeof(heading), "process (%s)", style->unit_name);
	list_heading(style, columns, time_width, heading);
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].selected)
			continue;
		if (world && rows[i].world != world)
			fputs("another MPI_COMM_WORLD:\n", style->out);
		world = rows[i].world;
		put_rank(style, &rows[i], time_width);
	}
	style_ink(style, INK_DIM);
	if (sum.selected > 1)
		put_rank(style, &sum, time_width);
	style_ink(style, INK_PLAIN);
}

static void put_json(struct json *json, const struct profile_rank *rows, size_t count)
{
	json_list(json, "ranks");
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].selected)
			continue;
		json_row(json);
		field_list_json(json, columns, &(struct field_row){.thing = &rows[i]});
		json_end(json);
	}
	json_end(json);
}

static void put_csv(FILE *out, const struct profile_rank *rows, size_t count)
{
	struct csv csv = {.out = out};

	field_list_csv_heading(&csv, columns);
	for (size_t i = 0; i < count; i++)
		if (rows[i].selected)
			field_list_csv(&csv, columns, &(struct field_row){.thing = &rows[i]});
}

int report_ranks(struct style *style, const struct report_options *options, const struct profile *profile)
{
	size_t count;
	const struct profile_rank *rows = profile_ranks(profile, &count);

	switch (options->output) {
	case REPORT_JSON:
		put_json(&style->json, rows, count);
		break;
	case REPORT_CSV:
		put_csv(style->out, rows, count);
		break;
	case REPORT_TEXT:
		put_text(style, rows, count);
		break;
	}
	return 0;
}
