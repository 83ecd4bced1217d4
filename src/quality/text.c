/* The quality block: the lines in front of the results about how good the measurement is. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/words.h"
#include "base/path.h"
#include "base/status.h"
#include "format/format.h"
#include "quality/facts.h"
#include "quality/matching.h"
#include "quality/quality.h"

#define LIST_MAX 3 /* names of a list that are printed */
#define FEW 100u /* of what is off the CPU a part of so many is not worth a word */
#define MANY_UNNAMED 100u /* one sample of so many: a warning */

static void put_commands(struct remarks *remarks, const struct quality *quality)
{
	for (size_t i = 0; i < quality->count; i++) {
		struct hyb_experiment *e = quality->items[i].experiment;
		const char *command = hyb_experiment_value(e, "command");
		const char *status = hyb_experiment_value(e, "status");
		struct text text = text_begin();

		text_add(&text, "%s", command ? command : hyb_experiment_path(e));
		if (status && strcmp(status, "exit 0"))
			text_add(&text, " (%s)", status);
		remarks_add(remarks, false, "command", &text);
		quality_died(remarks, e);
	}
}

static void put_times(struct remarks *remarks, const struct profile_quality *q)
{
	struct text text = text_begin();
	char wall[FIGURE_SIZE], cpu[FIGURE_SIZE], n[FIGURE_SIZE];

	text_add(&text, "%s wall, %s CPU;", figure_duration(q->wall, wall), figure_duration(q->cpu, cpu));
	if (q->experiments > 1)
		text_add(&text, " %zu experiments,", q->experiments);
	text_add(&text, " %s process%s", figure_number(q->processes, n), q->processes == 1 ? "" : "es");
	if (q->programs != q->processes)
		text_add(&text, " (%s programs)", figure_number(q->programs, n));
	text_add(&text, ", %s thread%s", figure_number(q->locations, n), text_plural(q->locations));
	remarks_add(remarks, false, "time", &text);
}

static void add_sources(struct text *text, unsigned used)
{
	const char *comma = "";

	for (unsigned s = 0; s < 32; s++) {
		if (!(used & (1u << s)) || (s == HYB_SOURCE_NONE && used != 1))
			continue;
		text_add(text, "%s%s", comma, word_text(&words_source, s));
		comma = ", ";
	}
}

#define MANY_DROPPED 5u /* one of so many, in probes */

static void put_samples(struct remarks *remarks, const struct profile_quality *q)
{
	struct text text = text_begin();
	uint64_t dropped = text_sum(q->dropped, 16);
	char n[FIGURE_SIZE];

	text_add(&text, "%s taken", figure_number(q->taken, n));
	if (q->samples > q->taken)
		text_add(&text, ", standing for %s periods", figure_number(q->samples, n));
	if (q->rate || q->samples) {
		if (q->sources & ~(1u << HYB_SOURCE_EVENT | 1u << HYB_SOURCE_NONE))
			text_add(&text, " (%.0f a second of %s, %u wanted; ", q->achieved,
				q->sources & (1u << HYB_SOURCE_WALL) ? "wall time" : "CPU", q->rate);
		else
			text_add(&text, " (");
		add_sources(&text, q->sources);
		text_add(&text, ")");
	} else {
		text_add(&text, " (no sampling)");
	}
	text_add(&text, "; %s dropped", figure_number(dropped, n));
	if (dropped) {
		text_add(&text, " (%s)", text_percent(dropped, dropped + q->samples, n));
		text_reasons(&text, q->dropped, 16, &words_drop);
	}
	if (q->dropped[HYB_DROP_IN_PROBE] * MANY_DROPPED > dropped + q->samples)
		text_add(&text, "; that much CPU time is the measurement's own: a --filter for what is "
				"called most often, --python=frames or --mpi=off take less");
	remarks_add(remarks, false, "samples", &text);
}

static void put_paths(struct remarks *remarks, const struct profile_quality *q)
{
	struct text text = text_begin();
	uint64_t partial = text_sum(q->partial, 8);
	char n[FIGURE_SIZE], m[FIGURE_SIZE];

	if (partial) {
		text_add(&text, "%s incomplete (%s)", figure_number(partial, n),
			text_percent(partial, q->samples, m));
		text_reasons(&text, q->partial, 8, &words_partial);
	}
	if (q->guessed)
		text_add(&text, "%s%s of %s frames found by a guess", partial ? "; " : "",
			figure_number(q->guessed, n), figure_number(q->frames, m));
	remarks_add(remarks, false, "paths", &text);
}

static void put_unresolved(struct remarks *remarks, const struct profile *profile)
{
	size_t count;
	const struct profile_unresolved *rows = profile_unresolved(profile, &count);
	struct text text = text_begin();
	uint64_t addresses = 0, samples = 0;
	char a[FIGURE_SIZE], b[FIGURE_SIZE];

	for (size_t i = 0; i < count; i++) {
		addresses += rows[i].addresses;
		samples += rows[i].samples;
	}
	/* Nearly every program has a few with hardly any samples. */
	if (samples * 1000 <= profile_quality(profile)->samples)
		return;
	text_add(&text, "%s code address%s without a name (%s of the samples):", figure_number(addresses, a),
		addresses == 1 ? "" : "es", text_percent(samples, profile_quality(profile)->samples, b));
	for (size_t i = 0; i < count && i < LIST_MAX; i++)
		text_add(&text, "%s %s %s", i ? "," : "", figure_number(rows[i].addresses, a),
			*rows[i].module ? path_base(rows[i].module) : "in no module");
	if (count > LIST_MAX)
		text_add(&text, ", and in %zu more", count - LIST_MAX);
	remarks_add(remarks, samples * MANY_UNNAMED >= profile_quality(profile)->samples, "names", &text);
}

static void add_bytes(struct text *text, uint64_t bytes)
{
	if (bytes >= 10 << 20)
		text_add(text, "%.1f MiB", (double)bytes / (1 << 20));
	else
		text_add(text, "%" PRIu64 " KiB", (bytes + 1023) >> 10);
}

static void put_trace(struct remarks *remarks, const struct profile_quality *q)
{
	struct text text = text_begin();
	char n[FIGURE_SIZE];

	if (q->trace_bytes) {
		add_bytes(&text, q->trace_bytes);
		text_add(&text, ", %s record%s", figure_number(q->events, n), text_plural(q->events));
	}
	if (q->trace_stopped || q->events_lost)
		text_add(&text, "%s%s records lost", q->trace_bytes ? "; " : "",
			figure_number(q->events_lost, n));
	if (q->trace_stopped)
		text_add(&text, ", at its limit from %s on; the profile is whole",
			figure_duration(q->trace_stopped, n));
	remarks_add(remarks, false, "trace", &text);
}

static void put_probes(struct remarks *remarks, const struct profile_quality *q)
{
	struct text text = text_begin();
	uint64_t wrong = text_sum(q->faults, 8);
	const char *also = "";
	char n[FIGURE_SIZE], m[FIGURE_SIZE];

	if (q->demoted_nodes) {
		text_add(&text, "%s demoted: %s calls were only counted", figure_number(q->demoted_nodes, n),
			figure_number(q->skipped_calls, m));
		also = "; ";
	}
	if (wrong) {
		text_add(&text, "%s%s fault%s", also, figure_number(wrong, n), text_plural(wrong));
		text_reasons(&text, q->faults, 8, &words_fault);
		also = "; ";
	}
	if (q->open_regions) {
		text_add(&text, "%s%s open at the end", also, figure_number(q->open_regions, n));
		also = "; ";
	}
	if (q->regions_lost) {
		text_add(&text, "%s%s names came after the table was full", also,
			figure_number(q->regions_lost, n));
		also = "; ";
	}
	if (q->names_cut)
		text_add(&text, "%s%s names cut", also, figure_number(q->names_cut, n));
	remarks_add(remarks, false, "probes", &text);
}

/* A line of its own for a count of processes. */
static void put_count(struct remarks *remarks, bool warns, uint64_t count, const char *one, const char *many)
{
	struct text text = text_begin();
	char n[FIGURE_SIZE];

	if (!count)
		return;
	text_add(&text, "%s %s", figure_number(count, n), count == 1 ? one : many);
	remarks_add(remarks, warns, "note", &text);
}

static void put_binaries(struct remarks *remarks, const char *what, const struct fact_list *paths)
{
	struct text text = text_begin();

	if (!paths->count)
		return;
	text_add(&text, "%s:", what);
	for (size_t i = 0; i < paths->count && i < LIST_MAX; i++)
		text_add(&text, "%s %s", i ? "," : "", paths->list[i].text);
	if (paths->count > LIST_MAX)
		text_add(&text, ", %zu more", paths->count - LIST_MAX);
	remarks_add(remarks, true, "note", &text);
}

static void put_damage(struct remarks *remarks, const struct facts *facts)
{
	for (size_t e = 0; e < facts->experiment_count; e++) {
		const struct fact_damage *damage = &facts->damage[e];

		for (size_t i = 0; i < LIST_MAX && i < damage->text_count; i++) {
			struct text text = text_begin();

			text_add(&text, "damage: %s", damage->texts[i]);
			remarks_add(remarks, true, "note", &text);
		}
		if (damage->count > LIST_MAX)
			put_count(remarks, true, damage->count - LIST_MAX, "more place is damaged",
				"more places are damaged");
	}
}

/* Messages of the runtime: "note" for information, "warning" and "error" by their names. */
static void put_note(struct remarks *remarks, const struct fact *note)
{
	bool grave = note->severity > HYB_NOTE_INFO;
	struct text text = text_begin();
	char n[FIGURE_SIZE];

	text_add(&text, "%s", note->text);
	if (note->count > 1)
		text_add(&text, " (%s processes)", figure_number(note->count, n));
	remarks_add(remarks, grave, grave ? word_key(&words_severity, note->severity) : "note", &text);
}

static void put_python(struct remarks *remarks, const struct facts *facts, const struct profile_quality *q)
{
	struct text text = text_begin();
	char n[FIGURE_SIZE];

	if (!facts->pythons.count)
		return;
	for (size_t i = 0; i < facts->pythons.count; i++) {
		text_add(&text, "%s%s", i ? "; " : "", facts->pythons.list[i].text);
		if (facts->pythons.list[i].count > 1)
			text_add(&text, " (%s programs)", figure_number(facts->pythons.list[i].count, n));
	}
	for (unsigned i = 0; i < HYB_PYTHON_COUNT; i++)
		if (q->python[i] || i == HYB_PYTHON_WOVEN)
			text_add(&text, "%s %s%s %s", i ? "," : ";", figure_number(q->python[i], n),
				i ? "" : " samples", word_text(&words_python, i));
	remarks_add(remarks, false, "python", &text);
}

/* For what threads waited, longest first; samples of wall time show that in the tree. */
static void put_waits(struct remarks *remarks, const struct profile_quality *q)
{
	char wait[FIGURE_SIZE], n[FIGURE_SIZE];
	uint64_t left[PROFILE_WAITS], all = q->ready;
	const char *comma = "";
	struct text text;

	memcpy(left, q->waits, sizeof(left));
	if (!left[PROFILE_WAIT_GIL])
		left[PROFILE_WAIT_GIL] = q->gil_wait; /* samples of wall time are in it, too */
	for (unsigned i = 0; i < PROFILE_WAITS; i++)
		all += left[i];
	if (all * FEW <= q->thread_wall)
		return;
	text = text_begin();
	for (;;) {
		unsigned most = 0;

		for (unsigned i = 1; i < PROFILE_WAITS; i++)
			if (left[i] > left[most])
				most = i;
		if (left[most] * FEW <= all)
			break;
		text_add(&text, "%s%s %s", comma, figure_duration(left[most], wait),
			word_text(&profile_wait_words, most));
		if (most == PROFILE_WAIT_GIL)
			text_add(&text, " in %s call%s", figure_number(q->gil_waits, n),
				text_plural(q->gil_waits));
		comma = ", ";
		left[most] = 0;
	}
	if (q->ready * FEW > all)
		text_add(&text, "%s%s ready without a processor", comma, figure_duration(q->ready, wait));
	remarks_add(remarks, false, "waiting", &text);
}

const char *facts_killed(const struct facts *facts, const char *noun, char text[FACTS_KILLED_SIZE])
{
	char status[STATUS_SIZE];
	const char *how = "in an unknown way (killed?)";

	if (facts->signal > 0)
		how = status_text(facts->signal, status); /* as waitpid() has a signal */
	else if (facts->signal < 0)
		how = "signals or in an unknown way";
	snprintf(text, FACTS_KILLED_SIZE, "%s ended %s%s: all until then is here", noun,
		facts->signal ? "by " : "", how);
	return text;
}

static void put_killed(struct remarks *remarks, const struct facts *facts)
{
	char one[FACTS_KILLED_SIZE], many[FACTS_KILLED_SIZE];

	put_count(remarks, true, facts->killed, facts_killed(facts, "process", one),
		facts_killed(facts, "processes", many));
}

static void put_facts(struct remarks *remarks, const struct facts *facts, const struct profile_quality *q)
{
	put_python(remarks, facts, q);
	put_waits(remarks, q);
	put_killed(remarks, facts);
	put_count(remarks, false, facts->running, "process is still running: this is how far it is",
		"processes are still running: this is how far they are");
	put_count(remarks, true, facts->replaced, "process became a program that was not measured (exec)",
		"processes became programs that were not measured (exec)");
	put_count(remarks, true, facts->stopped, "measurement ended before its program",
		"measurements ended before their programs");
	put_count(remarks, true, q->threads_lost, "thread could not be measured",
		"threads could not be measured");
	for (size_t i = 0; i < facts->notes.count; i++)
		put_note(remarks, &facts->notes.list[i]);
	put_binaries(remarks, FACTS_CHANGED, &facts->changed);
	put_binaries(remarks, FACTS_GONE, &facts->gone);
}

void quality_remarks(const struct quality *quality, const struct profile *profile, struct remarks *remarks)
{
	const struct profile_quality *q = profile_quality(profile);

	put_commands(remarks, quality);
	put_times(remarks, q);
	quality_account(remarks, &quality->facts->account);
	put_samples(remarks, q);
	quality_metrics(remarks, profile);
	put_paths(remarks, q);
	put_unresolved(remarks, profile);
	quality_cost(remarks, q);
	put_trace(remarks, q);
	put_probes(remarks, q);
	quality_mpi(remarks, profile);
	quality_matching_lines(remarks, quality);
	put_facts(remarks, quality->facts, q);
	put_damage(remarks, quality->facts);
}
