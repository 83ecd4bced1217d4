#include <inttypes.h>

#include "base/json.h"
#include "format/words.h"
#include "profile/metrics/figures.h"
#include "account.h"
#include "text.h"

#define LISTED 5 /* programs with a line of their own */

static void add_part(struct text *text, const char **comma, uint64_t ns, const char *what)
{
	char figure[FIGURE_SIZE];

	if (!ns)
		return;
	text_add(text, "%s %s %s", *comma, figure_duration(ns, figure), what);
	*comma = ",";
}

static void put_program(const struct style *style, const struct account_program *program)
{
	struct text text = text_begin();
	char cpu[FIGURE_SIZE], n[FIGURE_SIZE];

	text_add(&text, "%s of CPU in ", figure_duration(program->cpu, cpu));
	if (program->processes > 1)
		text_add(&text, "%s processes of ", figure_number(program->processes, n));
	text_add(&text, "%s, not measured: %s",
		program->path ? program->path : "a program whose name is not known",
		word_text(&words_unmeasured, program->why));
	text_line(style, INK_BOLD, "missing", &text);
}

void report_quality_account(const struct style *style, const struct account *a)
{
	struct text text = text_begin();
	char total[FIGURE_SIZE], rest[FIGURE_SIZE];
	const char *comma = ":";
	uint64_t counted = a->total + a->unwaited, other = counted > a->threads ? counted - a->threads : 0;

	if (!a->known)
		return;
	if (other > a->total / 50) {
		text_add(&text, "%s of the %s of CPU that the kernel counts", figure_duration(other, rest),
			figure_duration(a->total, total));
		add_part(&text, &comma, a->before, "loading programs, and before measurements");
		add_part(&text, &comma, a->beginning, "beginning measurements, which is a cost");
		add_part(&text, &comma, a->others, "in threads that were not measured");
		add_part(&text, &comma, a->after, "ending processes");
		add_part(&text, &comma, a->unmeasured, "in programs that were not measured");
		add_part(&text, &comma, a->unseen, "of children that nobody measured waited for");
		text_line(style, INK_BOLD, "outside", &text);
	}
	if (a->unwaited > a->total / 50) {
		struct text more = text_begin();

		text_add(&more,
			"%s of CPU in processes for which nobody waited: the kernel's count is without them",
			figure_duration(a->unwaited, rest));
		text_line(style, INK_BOLD, "beside", &more);
	}
	for (size_t i = 0; i < a->program_count && i < LISTED; i++)
		put_program(style, &a->programs[i]);
	if (a->program_count > LISTED) {
		struct text more = text_begin();

		text_add(&more, "%zu more programs that were not measured", a->program_count - LISTED);
		text_line(style, INK_BOLD, "missing", &more);
	}
}

void report_json_account(FILE *out, const struct account *a)
{
	if (!a->known)
		return;
	fprintf(out,
		",\"account\":{\"cpu_ns\":%" PRIu64 ",\"threads_ns\":%" PRIu64 ",\"before_ns\":%" PRIu64
		",\"beginning_ns\":%" PRIu64 ",\"others_ns\":%" PRIu64 ",\"after_ns\":%" PRIu64
		",\"unmeasured_ns\":%" PRIu64 ",\"unseen_ns\":%" PRIu64 ",\"unwaited_ns\":%" PRIu64
		",\"unmeasured\":[",
		a->total, a->threads, a->before, a->beginning, a->others, a->after, a->unmeasured, a->unseen,
		a->unwaited);
	for (size_t i = 0; i < a->program_count; i++) {
		const struct account_program *program = &a->programs[i];

		fprintf(out, "%s{\"program\":", i ? "," : "");
		if (program->path)
			json_string(out, program->path);
		else
			fputs("null", out);
		fprintf(out, ",\"why\":\"%s\",\"processes\":%zu,\"cpu_ns\":%" PRIu64 "}",
			word_key(&words_unmeasured, program->why), program->processes, program->cpu);
	}
	fputs("]}", out);
}
