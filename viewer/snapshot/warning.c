/* The warnings of the quality block, in one line. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "quality/facts.h"
#include "viewer/snapshot/make.h"

#define ROOM sizeof(((struct snapshot *)0)->warning)

static const char *plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

/* One thing more; what does not fit is cut. */
static __attribute__((format(printf, 2, 3))) void warn(struct snapshot *s, const char *format, ...)
{
	size_t used = strnlen(s->warning, ROOM);
	va_list args;

	if (used)
		used += (size_t)snprintf(s->warning + used, ROOM - used, "; ");
	if (used >= ROOM)
		return;
	va_start(args, format);
	vsnprintf(s->warning + used, ROOM - used, format, args);
	va_end(args);
}

static void warn_of_ranks(struct snapshot *s, const struct profile *profile)
{
	size_t count;
	const struct profile_rank *rows = profile_ranks(profile, &count);
	uint64_t wanted = 0;
	char n[FIGURE_SIZE], m[FIGURE_SIZE];

	for (size_t i = 0, next; i < count; i = next) {
		uint32_t size = 0;

		for (next = i; next < count && rows[next].world == rows[i].world; next++)
			size = rows[next].size > size ? rows[next].size : size;
		wanted += size;
	}
	if (wanted > count)
		warn(s, "%s of %s ranks %s missing", figure_number(wanted - count, n),
			figure_number(wanted, m), plural(wanted - count, "is", "are"));
}

static void warn_of_names(struct snapshot *s, const struct profile *profile)
{
	size_t count;
	const struct profile_unresolved *rows = profile_unresolved(profile, &count);
	uint64_t addresses = 0, samples = 0;
	char n[FIGURE_SIZE];

	for (size_t i = 0; i < count; i++) {
		addresses += rows[i].addresses;
		samples += rows[i].samples;
	}
	/* fewer are in nearly every program; the quality pane has them, too */
	if (samples * 100 >= profile_quality(profile)->samples && samples)
		warn(s, "%s code address%s without a name (%.0f %% of the samples)",
			figure_number(addresses, n), plural(addresses, "", "es"),
			(double)samples * 100 / (double)profile_quality(profile)->samples);
}

static void warn_of_processes(struct snapshot *s, const struct facts *facts)
{
	char n[FIGURE_SIZE], killed[FACTS_KILLED_SIZE];

	if (facts->killed)
		warn(s, "%s %s", figure_number(facts->killed, n),
			facts_killed(facts, plural(facts->killed, "process", "processes"), killed));
	if (facts->replaced)
		warn(s, "%s process%s became %s not measured (exec)", figure_number(facts->replaced, n),
			plural(facts->replaced, "", "es"),
			plural(facts->replaced, "a program that was", "programs that were"));
	if (facts->stopped)
		warn(s, "%s measurement%s ended before %s", figure_number(facts->stopped, n),
			plural(facts->stopped, "", "s"),
			plural(facts->stopped, "its program", "their programs"));
}

static void warn_of_files(struct snapshot *s, const struct facts *facts)
{
	size_t places = 0;
	const char *first = NULL;
	char n[FIGURE_SIZE];

	for (size_t e = 0; e < facts->experiment_count; e++) {
		places += facts->damage[e].count;
		if (!first && facts->damage[e].text_count)
			first = facts->damage[e].texts[0];
	}
	if (first)
		warn(s, "damage: %.200s", first);
	if (places > 1)
		warn(s, "%s more place%s damaged", figure_number(places - 1, n),
			plural(places - 1, " is", "s are"));
}

static void warn_of_code(struct snapshot *s, const char *what, const struct fact_list *paths)
{
	if (!paths->count)
		return;
	warn(s, "%s: %.100s", what, paths->list[0].text);
	if (paths->count > 1)
		warn(s, "%zu more", paths->count - 1);
}

static void warn_of_notes(struct snapshot *s, const struct facts *facts)
{
	for (size_t i = 0; i < facts->notes.count; i++)
		if (facts->notes.list[i].severity > HYB_NOTE_INFO)
			warn(s, "%.200s", facts->notes.list[i].text);
}

/* One side of a comparison. */
static int warn_of_side(struct snapshot *s, const struct selection *part, size_t from, size_t to,
	const struct profile *profile)
{
	const struct quality quality = {.items = s->opened + from, .count = to - from, .part = part};
	struct facts *facts;
	char n[FIGURE_SIZE];

	facts = facts_gather(&quality);
	if (!facts)
		return HYB_ENOMEM;
	warn_of_files(s, facts);
	warn_of_processes(s, facts);
	warn_of_ranks(s, profile);
	if (profile_quality(profile)->threads_lost)
		warn(s, "%s thread%s could not be measured",
			figure_number(profile_quality(profile)->threads_lost, n),
			plural(profile_quality(profile)->threads_lost, "", "s"));
	warn_of_notes(s, facts);
	warn_of_code(s, FACTS_CHANGED, &facts->changed);
	warn_of_code(s, FACTS_GONE, &facts->gone);
	warn_of_names(s, profile);
	facts_free(facts);
	return 0;
}

int snapshot_warn(struct snapshot *s, const struct view_options *o)
{
	int r = warn_of_side(s, &o->look.part, 0, s->base_from, s->profile);
	size_t used = strnlen(s->warning, ROOM);

	if (r || !s->base)
		return r;
	r = warn_of_side(s, &o->look.part, s->base_from, s->opened_count, s->base);
	/* which of the two it is said of */
	if (s->warning[used] && used + sizeof("base: ") < ROOM) {
		size_t at = used ? used + 2 : 0;

		memmove(s->warning + at + 6, s->warning + at, ROOM - at - 6);
		memcpy(s->warning + at, "base: ", 6);
		s->warning[ROOM - 1] = 0;
	}
	return r;
}
