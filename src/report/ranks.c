/* A row for each rank of MPI. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
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

static void put_json(FILE *out, const struct profile *profile)
{
	size_t count;
	const struct profile_rank *rows = profile_ranks(profile, &count);
	const char *comma = "";

	fputs(",\n\"ranks\":[", out);
	for (size_t i = 0; i < count; i++) {
		const struct profile_rank *r = &rows[i];

		if (!r->selected)
			continue;
		fprintf(out,
			"%s\n{\"world\":\"%016" PRIx64 "\",\"rank\":%" PRIu32 ",\"size\":%" PRIu32
			",\"host\":",
			comma, r->world, r->rank, r->size);
		json_string(out, r->host);
		fprintf(out,
			",\"pid\":%" PRIu32 ",\"threads\":%" PRIu64
			",\"thread_level\":%u,\"wall_ns\":%" PRIu64 ",\"thread_wall_ns\":%" PRIu64
			",\"cpu_ns\":%" PRIu64 ",\"blocked_ns\":%" PRIu64 ",\"mpi_calls\":%" PRIu64
			",\"mpi_ns\":%" PRIu64,
			r->pid, r->threads, r->thread_level, r->wall, r->thread_wall, r->cpu, r->blocked,
			r->mpi_calls, r->mpi_time);
		fprintf(out,
			",\"messages_sent\":%" PRIu64 ",\"messages_received\":%" PRIu64
			",\"sent_bytes\":%" PRIu64 ",\"received_bytes\":%" PRIu64 ",\"errors\":%" PRIu64
			",\"clock_shift_start_ns\":%" PRId64 ",\"clock_shift_end_ns\":%" PRId64
			",\"clock_error_ns\":%" PRIu64 "}",
			r->messages_sent, r->messages_received, r->sent, r->received, r->errors,
			r->clock_shift_start, r->clock_shift_end, r->clock_error);
		comma = ",";
	}
	fputc(']', out);
}

static void put_csv(FILE *out, const struct profile *profile)
{
	size_t count;
	const struct profile_rank *rows = profile_ranks(profile, &count);

	fputs("world,rank,host,pid,threads,wall_ns,thread_wall_ns,cpu_ns,blocked_ns,mpi_calls,mpi_ns,"
	      "messages_sent,messages_received,sent_bytes,received_bytes,errors\n",
		out);
	for (size_t i = 0; i < count; i++) {
		const struct profile_rank *r = &rows[i];

		if (!r->selected)
			continue;
		fprintf(out, "%016" PRIx64 ",%" PRIu32 ",", r->world, r->rank);
		csv_string(out, r->host);
		fprintf(out,
			",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
			r->pid, r->threads, r->wall, r->thread_wall, r->cpu, r->blocked, r->mpi_calls,
			r->mpi_time, r->messages_sent, r->messages_received, r->sent, r->received, r->errors);
	}
}

int report_ranks(struct style *style, const struct report_options *options, const struct profile *profile)
{
	switch (options->output) {
	case REPORT_JSON:
		put_json(style->out, profile);
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
