#include "format/words.h"
#include "profile/metrics/figures.h"
#include "quality/account.h"
#include "quality/quality.h"

#define LISTED 5 /* programs with a line of their own */

static void add_part(struct text *text, const char **comma, uint64_t ns, const char *what)
{
	char figure[FIGURE_SIZE];

	if (!ns)
		return;
	text_add(text, "%s %s %s", *comma, figure_duration(ns, figure), what);
	*comma = ",";
}

static void put_program(struct remarks *remarks, const struct account_program *program)
{
	struct text text = text_begin();
	char cpu[FIGURE_SIZE], n[FIGURE_SIZE];

	text_add(&text, "%s of CPU in ", figure_duration(program->cpu, cpu));
	if (program->processes > 1)
		text_add(&text, "%s processes of ", figure_number(program->processes, n));
	text_add(&text, "%s, not measured: %s",
		program->path ? program->path : "a program whose name is not known",
		word_text(&words_unmeasured, program->why));
	remarks_add(remarks, false, "missing", &text);
}

void quality_account(struct remarks *remarks, const struct account *a)
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
		add_part(&text, &comma, a->after,
			"ending processes, or after the last samples of those cut off");
		add_part(&text, &comma, a->unmeasured, "in programs that were not measured");
		add_part(&text, &comma, a->unseen, "of children for which no measured process waited");
		remarks_add(remarks, false, "outside", &text);
	}
	if (a->unwaited > a->total / 50) {
		struct text more = text_begin();

		text_add(&more,
			"%s of CPU in processes for which nobody waited: the kernel's count is without them",
			figure_duration(a->unwaited, rest));
		remarks_add(remarks, false, "beside", &more);
	}
	for (size_t i = 0; i < a->program_count && i < LISTED; i++)
		put_program(remarks, &a->programs[i]);
	if (a->program_count > LISTED) {
		struct text more = text_begin();

		text_add(&more, "%zu more programs that were not measured", a->program_count - LISTED);
		remarks_add(remarks, false, "missing", &more);
	}
}

void quality_json_account(struct json *json, const struct account *a)
{
	if (!a->known)
		return;
	json_object(json, "account");
	json_number(json, "cpu_ns", a->total);
	json_number(json, "threads_ns", a->threads);
	json_number(json, "before_ns", a->before);
	json_number(json, "beginning_ns", a->beginning);
	json_number(json, "others_ns", a->others);
	json_number(json, "after_ns", a->after);
	json_number(json, "unmeasured_ns", a->unmeasured);
	json_number(json, "unseen_ns", a->unseen);
	json_number(json, "unwaited_ns", a->unwaited);
	json_array(json, "unmeasured");
	for (size_t i = 0; i < a->program_count; i++) {
		const struct account_program *program = &a->programs[i];

		json_object(json, NULL);
		json_text(json, "program", program->path);
		json_text(json, "why", word_key(&words_unmeasured, program->why));
		json_number(json, "processes", program->processes);
		json_number(json, "cpu_ns", program->cpu);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}
