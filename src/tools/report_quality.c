/* The quality block: what is said about a measurement before its results. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "tools/report_facts.h"

#define LABEL_WIDTH 9
#define LIST_MAX 3 /* names of a list that are printed */
#define NO_BREAK "\1" /* a space at which no line is broken */
#define HOT_MAX 5u /* functions in the line of hot spots, */
#define HOT_SHARE 100u /* each with at least 1/100 of the time, */
#define HOT_NAME 40 /* and so much of their names */
#define WIDEST 100u /* longer lines are hard to read */

/* Text that grows; what did not fit into memory is missing. */
struct text {
	char *bytes;
	size_t size;
	FILE *stream;
};

static struct text text_begin(void)
{
	return (struct text){0};
}

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text, const char *format, ...)
{
	va_list arguments;

	if (!text->stream)
		text->stream = open_memstream(&text->bytes, &text->size);
	if (!text->stream)
		return;
	va_start(arguments, format);
	vfprintf(text->stream, format, arguments);
	va_end(arguments);
}

/* Prints a word; what a program put into it cannot steer the terminal. */
static void put_word(const struct style *style, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		fputc(word[i] == *NO_BREAK                                 ? ' '
			: (unsigned char)word[i] < 0x20 || word[i] == 0x7f ? '?'
									   : word[i],
			style->out);
}

/* Prints the text behind its label, broken between words, and frees it. */
static void put_line(const struct style *style, enum ink ink, const char *label, struct text *text)
{
	unsigned width = style->width < WIDEST ? style->width : WIDEST, column = LABEL_WIDTH;
	const char *p;

	if (!text->stream)
		return;
	fclose(text->stream);
	style_ink(style, ink);
	fprintf(style->out, "%-*s", LABEL_WIDTH - 1, label);
	style_ink(style, INK_PLAIN);
	for (p = text->bytes; p && *p;) {
		size_t length = strcspn(p, " ");

		if (column > LABEL_WIDTH && column + 1 + length > width) {
			fprintf(style->out, "\n%*s", LABEL_WIDTH - 1, "");
			column = LABEL_WIDTH;
		}
		fputc(' ', style->out);
		put_word(style, p, length);
		column += (unsigned)length + 1;
		p += length + (p[length] == ' ');
	}
	fputc('\n', style->out);
	free(text->bytes);
	*text = (struct text){0};
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* "12 %", "0.37 %": as many digits as say something; the space in it does not break. */
static const char *percent(uint64_t part, uint64_t whole, char text[COUNT_SIZE])
{
	double p = whole ? (double)part * 100 / (double)whole : 0;

	snprintf(text, COUNT_SIZE, "%.*f" NO_BREAK "%%",
		p >= 9.95     ? 0
		: p >= 0.995  ? 1
		: p >= 0.0995 ? 2
			      : 3,
		p);
	return text;
}

static uint64_t sum(const uint64_t *values, size_t count)
{
	uint64_t s = 0;

	for (size_t i = 0; i < count; i++)
		s += values[i];
	return s;
}

/* ": 10 so, 2 so" for all that are not 0; without the number if it is only one. */
static void add_reasons(
	struct text *text, const uint64_t *counts, size_t count, const char *(*name)(unsigned reason))
{
	const char *comma = ": ";
	uint64_t all = sum(counts, count);
	char number[COUNT_SIZE];

	for (size_t i = 0; i < count; i++) {
		if (!counts[i])
			continue;
		text_add(text, "%s%s%s%s", comma, counts[i] == all ? "" : style_number(counts[i], number),
			counts[i] == all ? "" : " ", name((unsigned)i));
		comma = ", ";
	}
}

static void put_commands(const struct style *style, const struct report_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++) {
		struct hyb_experiment *e = inputs->items[i].experiment;
		const char *command = hyb_experiment_value(e, "command");
		const char *status = hyb_experiment_value(e, "status");
		struct text text = text_begin();

		text_add(&text, "%s", command ? command : hyb_experiment_path(e));
		if (status && strcmp(status, "exit 0"))
			text_add(&text, " (%s)", status);
		put_line(style, INK_BOLD, "command", &text);
	}
}

static void put_times(const struct style *style, const struct profile_quality *q)
{
	struct text text = text_begin();
	char wall[COUNT_SIZE], cpu[COUNT_SIZE], n[COUNT_SIZE];

	text_add(&text, "%s wall, %s CPU;", style_duration(q->wall, wall), style_duration(q->cpu, cpu));
	if (q->experiments > 1)
		text_add(&text, " %zu experiments,", q->experiments);
	text_add(&text, " %s process%s", style_number(q->processes, n), q->processes == 1 ? "" : "es");
	if (q->programs != q->processes)
		text_add(&text, " (%s programs)", style_number(q->programs, n));
	text_add(&text, ", %s thread%s", style_number(q->locations, n), plural(q->locations));
	put_line(style, INK_BOLD, "time", &text);
}

static void add_sources(struct text *text, unsigned used)
{
	const char *comma = "";

	for (unsigned s = 0; s < 32; s++) {
		if (!(used & (1u << s)) || (s == HYB_SOURCE_NONE && used != 1))
			continue;
		text_add(text, "%s%s", comma, facts_source_text(s));
		comma = ", ";
	}
}

static void put_samples(const struct style *style, const struct profile_quality *q)
{
	struct text text = text_begin();
	uint64_t dropped = sum(q->dropped, 16);
	char n[COUNT_SIZE];

	text_add(&text, "%s taken", style_number(q->samples, n));
	if (q->rate || q->samples) {
		text_add(&text, " (%.0f a second of %s, %u wanted; ", q->achieved,
			q->sources & (1u << HYB_SOURCE_WALL) ? "wall time" : "CPU", q->rate);
		add_sources(&text, q->sources);
		text_add(&text, ")");
	} else {
		text_add(&text, " (no sampling)");
	}
	text_add(&text, "; %s dropped", style_number(dropped, n));
	if (dropped) {
		text_add(&text, " (%s)", percent(dropped, dropped + q->samples, n));
		add_reasons(&text, q->dropped, 16, facts_drop_text);
	}
	put_line(style, INK_BOLD, "samples", &text);
}

static void put_paths(const struct style *style, const struct profile_quality *q)
{
	struct text text = text_begin();
	uint64_t partial = sum(q->partial, 8);
	char n[COUNT_SIZE], m[COUNT_SIZE];

	if (partial) {
		text_add(&text, "%s incomplete (%s)", style_number(partial, n),
			percent(partial, q->samples, m));
		add_reasons(&text, q->partial, 8, facts_partial_text);
	}
	if (q->guessed)
		text_add(&text, "%s%s of %s frames found by a guess", partial ? "; " : "",
			style_number(q->guessed, n), style_number(q->frames, m));
	put_line(style, INK_BOLD, "paths", &text);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_unresolved(const struct style *style, const struct profile *profile)
{
	size_t count;
	const struct profile_unresolved *rows = profile_unresolved(profile, &count);
	struct text text = text_begin();
	uint64_t addresses = 0, samples = 0;
	char a[COUNT_SIZE], b[COUNT_SIZE];

	for (size_t i = 0; i < count; i++) {
		addresses += rows[i].addresses;
		samples += rows[i].samples;
	}
	/* A few that hardly a sample met are in nearly every program. */
	if (samples * 1000 <= profile_quality(profile)->samples)
		return;
	text_add(&text, "%s code address%s without a name (%s of the samples):", style_number(addresses, a),
		addresses == 1 ? "" : "es", percent(samples, profile_quality(profile)->samples, b));
	for (size_t i = 0; i < count && i < LIST_MAX; i++)
		text_add(&text, "%s %s %s", i ? "," : "", style_number(rows[i].addresses, a),
			*rows[i].module ? base_name(rows[i].module) : "in no module");
	if (count > LIST_MAX)
		text_add(&text, ", and in %zu more", count - LIST_MAX);
	put_line(style, INK_BOLD, "names", &text);
}

static void put_cost(const struct style *style, const struct profile_quality *q)
{
	struct text text = text_begin();
	char handler[COUNT_SIZE], probes[COUNT_SIZE], n[COUNT_SIZE];

	if (q->handler_time || q->probe_calls) {
		text_add(&text, "%s of CPU:", percent(q->handler_time + q->probe_time, q->cpu, n));
		text_add(&text, " %s taking samples", style_duration(q->handler_time, handler));
	}
	if (q->probe_calls)
		text_add(&text, ", about %s in %s probe call%s", style_duration(q->probe_time, probes),
			style_number(q->probe_calls, n), plural(q->probe_calls));
	if (q->slowed)
		text_add(&text, "; the rate was lowered %s time%s to stay within the budget",
			style_number(q->slowed, n), plural(q->slowed));
	put_line(style, INK_BOLD, "cost", &text);
}

static void add_bytes(struct text *text, uint64_t bytes)
{
	if (bytes >= 10 << 20)
		text_add(text, "%.1f MiB", (double)bytes / (1 << 20));
	else
		text_add(text, "%" PRIu64 " KiB", (bytes + 1023) >> 10);
}

static void put_trace(const struct style *style, const struct profile_quality *q)
{
	struct text text = text_begin();
	char n[COUNT_SIZE];

	if (q->trace_bytes) {
		add_bytes(&text, q->trace_bytes);
		text_add(&text, ", %s record%s", style_number(q->events, n), plural(q->events));
	}
	if (q->trace_stopped || q->events_lost)
		text_add(&text, "%s%s records lost", q->trace_bytes ? "; " : "",
			style_number(q->events_lost, n));
	if (q->trace_stopped)
		text_add(&text, ", at its limit from %s on; the profile is whole",
			style_duration(q->trace_stopped, n));
	put_line(style, INK_BOLD, "trace", &text);
}

static void put_probes(const struct style *style, const struct profile_quality *q)
{
	struct text text = text_begin();
	uint64_t wrong = sum(q->faults, 8);
	const char *also = "";
	char n[COUNT_SIZE], m[COUNT_SIZE];

	if (q->demoted_nodes) {
		text_add(&text, "%s demoted: %s calls were only counted", style_number(q->demoted_nodes, n),
			style_number(q->skipped_calls, m));
		also = "; ";
	}
	if (wrong) {
		text_add(&text, "%s%s fault%s", also, style_number(wrong, n), plural(wrong));
		add_reasons(&text, q->faults, 8, facts_fault_text);
		also = "; ";
	}
	if (q->open_regions) {
		text_add(&text, "%s%s open at the end", also, style_number(q->open_regions, n));
		also = "; ";
	}
	if (q->regions_lost) {
		text_add(&text, "%s%s names came after the table was full", also,
			style_number(q->regions_lost, n));
		also = "; ";
	}
	if (q->names_cut)
		text_add(&text, "%s%s names cut", also, style_number(q->names_cut, n));
	put_line(style, INK_BOLD, "probes", &text);
}

/* One line of its own for what a count of processes says. */
static void put_warning(const struct style *style, uint64_t count, const char *one, const char *many)
{
	struct text text = text_begin();
	char n[COUNT_SIZE];

	if (!count)
		return;
	text_add(&text, "%s %s", style_number(count, n), count == 1 ? one : many);
	put_line(style, INK_WARN, "note", &text);
}

static void put_changed(const struct style *style, const struct facts *facts)
{
	struct text text = text_begin();

	if (!facts->changed_count)
		return;
	text_add(&text, "changed since the run, names may be wrong:");
	for (size_t i = 0; i < facts->changed_count && i < LIST_MAX; i++)
		text_add(&text, "%s %s", i ? "," : "", facts->changed[i]);
	if (facts->changed_count > LIST_MAX)
		text_add(&text, ", %zu more", facts->changed_count - LIST_MAX);
	put_line(style, INK_WARN, "note", &text);
}

static void put_damage(const struct style *style, const struct report_inputs *inputs)
{
	for (size_t e = 0; e < inputs->count; e++) {
		struct hyb_experiment *experiment = inputs->items[e].experiment;
		size_t count = hyb_damage_count(experiment);
		const char *damage;

		for (size_t i = 0; i < LIST_MAX && (damage = hyb_damage_text(experiment, i)); i++) {
			struct text text = text_begin();

			text_add(&text, "damage: %s", damage);
			put_line(style, INK_WARN, "note", &text);
		}
		if (count > LIST_MAX)
			put_warning(
				style, count - LIST_MAX, "more place is damaged", "more places are damaged");
	}
}

/* What the runtime said: "note" for information, "warning" and "error" by their names. */
static void put_note(const struct style *style, const struct fact_note *note)
{
	bool grave = note->note->severity > HYB_NOTE_INFO;
	struct text text = text_begin();
	char n[COUNT_SIZE];

	text_add(&text, "%s", note->note->text);
	if (note->processes > 1)
		text_add(&text, " (%s processes)", style_number(note->processes, n));
	put_line(style, grave ? INK_WARN : INK_BOLD,
		grave ? facts_severity_key(note->note->severity) : "note", &text);
}

static void put_python(const struct style *style, const struct facts *facts, const struct profile_quality *q)
{
	struct text text = text_begin();
	char n[COUNT_SIZE], wait[COUNT_SIZE];

	if (!facts->python_count)
		return;
	for (size_t i = 0; i < facts->python_count; i++) {
		text_add(&text, "%s%s", i ? "; " : "", facts->pythons[i].text);
		if (facts->pythons[i].programs > 1)
			text_add(&text, " (%s programs)", style_number(facts->pythons[i].programs, n));
	}
	for (unsigned i = 0; i < HYB_PYTHON_COUNT; i++)
		if (q->python[i] || i == HYB_PYTHON_WOVEN)
			text_add(&text, "%s %s%s %s", i ? "," : ";", style_number(q->python[i], n),
				i ? "" : " samples", facts_python_text(i));
	put_line(style, INK_BOLD, "python", &text);
	if (!q->gil_waits)
		return;
	text_add(&text, "%s waiting for the GIL in %s call%s", style_duration(q->gil_wait, wait),
		style_number(q->gil_waits, n), plural(q->gil_waits));
	if (!(q->sources & (1u << HYB_SOURCE_WALL))) /* its samples know on which line */
		text_add(&text, "; %s blocked elsewhere", style_duration(q->blocked, wait));
	put_line(style, INK_BOLD, "waiting", &text);
}

static void put_facts(
	const struct style *style, const struct report_inputs *inputs, const struct profile_quality *q)
{
	struct facts facts;

	if (facts_gather(inputs, &facts))
		return;
	put_python(style, &facts, q);
	put_warning(style, facts.killed, "process ended without a word (killed?): all until then is here",
		"processes ended without a word (killed?): all until then is here");
	put_warning(style, facts.running, "process is still running: this is how far it is",
		"processes are still running: this is how far they are");
	put_warning(style, facts.replaced, "process became a program that was not measured (exec)",
		"processes became programs that were not measured (exec)");
	put_warning(style, facts.stopped, "measurement ended before its program",
		"measurements ended before their programs");
	put_warning(style, q->threads_lost, "thread could not be measured", "threads could not be measured");
	for (size_t i = 0; i < facts.note_count; i++)
		put_note(style, &facts.notes[i]);
	put_changed(style, &facts);
	facts_release(&facts);
}

void report_quality(struct style *style, const struct report_inputs *inputs, const struct profile *profile)
{
	const struct profile_quality *q = profile_quality(profile);

	put_commands(style, inputs);
	put_times(style, q);
	put_samples(style, q);
	put_paths(style, q);
	put_unresolved(style, profile);
	put_cost(style, q);
	put_trace(style, q);
	put_probes(style, q);
	put_facts(style, inputs, q);
	put_damage(style, inputs);
}

/* ------------------------------------------------------------- hot spots */

/* The row that ran longest among those that ran less than the one before it, or the same behind it. */
static const struct profile_row *next_hot(const struct profile_flat *flat, const struct profile_row *before)
{
	const struct profile_row *next = NULL;

	for (size_t i = 0; i < flat->count; i++) {
		const struct profile_row *r = &flat->rows[i];

		if (r->kind == PROFILE_ROOT ||
			(before && (r->exclusive > before->exclusive ||
					   (r->exclusive == before->exclusive && r <= before))))
			continue;
		if (!next || r->exclusive > next->exclusive)
			next = r;
	}
	return next;
}

int report_hot(const struct style *style, const struct profile *profile)
{
	const struct profile_row *row = NULL;
	struct text text = text_begin();
	struct profile_flat flat;
	uint64_t ran = 0;
	char n[COUNT_SIZE];

	if (!profile_quality(profile)->samples)
		return 0;
	if (profile_flat(profile, PROFILE_BY_FUNCTION, PROFILE_SORT_EXCLUSIVE, &flat))
		return HYB_ENOMEM;
	for (size_t i = 0; i < flat.count; i++)
		ran += flat.rows[i].exclusive;
	for (unsigned i = 0; i < HOT_MAX && (row = next_hot(&flat, row)); i++) {
		int length = (int)strnlen(row->name, HOT_NAME);

		if (!row->exclusive || row->exclusive < ran / HOT_SHARE)
			break;
		while (length && ((unsigned char)row->name[length] & 0xc0) == 0x80)
			length--; /* not in the middle of a UTF-8 character */
		text_add(&text, "%s%.*s%s", i ? ", " : "", length, row->name, row->name[length] ? "..." : "");
		if (row->guess) /* says little without the module */
			text_add(&text, "~ (%s)", base_name(row->module));
		text_add(&text, " %s", percent(row->exclusive, ran, n));
	}
	if (text.stream)
		text_add(&text,
			profile_quality(profile)->sources & (1u << HYB_SOURCE_WALL) ? " of time" : " of CPU");
	put_line(style, INK_HOT, "hot", &text);
	profile_flat_release(&flat);
	return 0;
}
