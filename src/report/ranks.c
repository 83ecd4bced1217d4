/* A row for each rank of MPI. */
#include <inttypes.h>
#include <string.h>

#include "table.h"

#define WIDE 104u /* columns from which all stand there */

static void put_heading(const struct table *t, bool wide)
{
	FILE *out = t->style->out;
	int w = t->width + 1;

	fputc('\n', out);
	style_ink(t->style, INK_DIM);
	fprintf(out, "%7s%s%*s%*s%*s %6s%*s%8s%8s%s  process (%s)\n", "rank", wide ? " thr" : "", w, "wall",
		w, "CPU", w, "MPI", "%", w, "blocked", "msgs", "sent", wide ? "   recvd" : "",
		t->style->unit_name);
	style_ink(t->style, INK_PLAIN);
}

/* `name`: what stands in the place of the rank's number. */
static void put_rank(struct table *t, const char *name, const struct profile_rank *r, bool wide)
{
	FILE *out = t->style->out;
	char process[128] = "";
	struct label label = {.kind = PROFILE_LEAF, .name = process, .file = "", .module = ""};
	int used = fprintf(out, "%7s", name);

	if (wide)
		used += fprintf(out, "%4" PRIu64, r->threads);
	used += table_time(t, r->wall, false, false);
	used += table_time(t, r->cpu, false, false);
	used += table_time(t, r->mpi_time, false, false);
	t->whole = r->wall;
	used += table_percent(t, r->mpi_time);
	used += table_time(t, r->blocked, true, false);
	used += table_count(t, r->messages_sent);
	used += table_count(t, r->sent);
	if (wide)
		used += table_count(t, r->received);
	if (r->host)
		snprintf(process, sizeof(process), "  %.80s %" PRIu32, r->host, r->pid);
	style_label(t->style, &label, (unsigned)used);
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

static void put_text(struct style *style, const struct report_options *options, const struct profile *profile)
{
	size_t count;
	const struct profile_rank *rows = profile_ranks(profile, &count);
	struct profile_rank sum = {0};
	struct table table;
	bool wide;
	uint64_t world = 0;
	char number[16];

	for (size_t i = 0; i < count; i++)
		if (rows[i].selected)
			add(&sum, &rows[i]);
	if (!sum.selected) {
		fputs("\nno rank of MPI was seen\n", style->out);
		return;
	}
	table_init(&table, style, options, sum.thread_wall, 0);
	wide = table_has_room(&table, WIDE);
	put_heading(&table, wide);
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].selected)
			continue;
		if (world && rows[i].world != world)
			fputs("another MPI_COMM_WORLD:\n", style->out);
		world = rows[i].world;
		snprintf(number, sizeof(number), "%" PRIu32, rows[i].rank);
		put_rank(&table, number, &rows[i], wide);
	}
	style_ink(style, INK_DIM);
	if (sum.selected > 1)
		put_rank(&table, "all", &sum, wide);
	style_ink(style, INK_PLAIN);
}

static void put_json(struct json *json, const struct profile *profile)
{
	size_t count;
	const struct profile_rank *rows = profile_ranks(profile, &count);

	json_line(json);
	json_array(json, "ranks");
	for (size_t i = 0; i < count; i++) {
		const struct profile_rank *r = &rows[i];

		if (!r->selected)
			continue;
		json_line(json);
		json_object(json, NULL);
		json_id(json, "world", r->world);
		json_number(json, "rank", r->rank);
		json_number(json, "size", r->size);
		json_text(json, "host", r->host);
		json_number(json, "pid", r->pid);
		json_number(json, "threads", r->threads);
		json_number(json, "thread_level", r->thread_level);
		json_number(json, "wall_ns", r->wall);
		json_number(json, "thread_wall_ns", r->thread_wall);
		json_number(json, "cpu_ns", r->cpu);
		json_number(json, "blocked_ns", r->blocked);
		json_number(json, "mpi_calls", r->mpi_calls);
		json_number(json, "mpi_ns", r->mpi_time);
		json_number(json, "messages_sent", r->messages_sent);
		json_number(json, "messages_received", r->messages_received);
		json_number(json, "sent_bytes", r->sent);
		json_number(json, "received_bytes", r->received);
		json_number(json, "errors", r->errors);
		json_signed(json, "clock_shift_start_ns", r->clock_shift_start);
		json_signed(json, "clock_shift_end_ns", r->clock_shift_end);
		json_number(json, "clock_error_ns", r->clock_error);
		json_end(json);
	}
	json_end(json);
}

static void put_csv(FILE *out, const struct profile *profile)
{
	size_t count;
	const struct profile_rank *rows = profile_ranks(profile, &count);
	struct csv csv = {.out = out};

	csv_plain(&csv,
		"world,rank,host,pid,threads,wall_ns,thread_wall_ns,cpu_ns,blocked_ns,mpi_calls,mpi_ns,"
		"messages_sent,messages_received,sent_bytes,received_bytes,errors");
	csv_end(&csv);
	for (size_t i = 0; i < count; i++) {
		const struct profile_rank *r = &rows[i];
		const uint64_t numbers[] = {r->pid, r->threads, r->wall, r->thread_wall, r->cpu, r->blocked,
			r->mpi_calls, r->mpi_time, r->messages_sent, r->messages_received, r->sent,
			r->received, r->errors};

		if (!r->selected)
			continue;
		csv_id(&csv, r->world);
		csv_number(&csv, r->rank);
		csv_text(&csv, r->host);
		for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
			csv_number(&csv, numbers[k]);
		csv_end(&csv);
	}
}

int report_ranks(struct style *style, const struct report_options *options, const struct profile *profile)
{
	switch (options->output) {
	case REPORT_JSON:
		put_json(&style->json, profile);
		break;
	case REPORT_CSV:
		put_csv(style->out, profile);
		break;
	case REPORT_TEXT:
		put_text(style, options, profile);
		break;
	}
	return 0;
}
