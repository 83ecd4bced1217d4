/* Findings about what could not be measured, from the notes of the measurement. */
#include <stdio.h>
#include <string.h>

#include "analysis/finding.h"
#include "format/format.h"
#include "profile/metrics/figures.h"

static const struct finding_kind note_kind = {
	.key = "not-measured",
	.name = "something was not measured",
	.meaning = "A part of the program, or a metric, could not be measured as it was asked for.",
	.computed = "What the measurement noted in a process, as a warning or an error.",
	.advice = "Read the note; what it names is missing from all figures.",
};

static const struct finding_kind cut_kind = {
	.key = "trace-cut",
	.name = "records are missing from the trace",
	.meaning = "The trace does not hold all that happened, so that nothing is known of the rest.",
	.computed = "Records that a thread could not store, and traces that ended before their process.",
	.advice = "Give the trace more room (hybrid-run --trace-limit), or trace less of the run (--filter).",
};

static const struct hyb_location_info *next_process(
	const struct analysis_input *input, const struct profile_part *parts, size_t count, size_t *at)
{
	for (; *at < count; ++*at) {
		const struct hyb_location_info *l = parts[*at].location;

		if (l->process->experiment != input->experiment ||
			(*at && parts[*at - 1].location->process == l->process))
			continue;
		++*at;
		return l;
	}
	return NULL;
}

/* The note that has the text, or a new one; NULL: memory is out. */
static struct finding *note_of(struct findings *findings, size_t first, const char *text)
{
	struct finding *f;

	for (size_t i = first; i < findings->count; i++)
		if (findings->items[i].kind == &note_kind &&
			!strncmp(findings->items[i].text, text, sizeof(f->text) - 1))
			return &findings->items[i];
	f = findings_add(findings, &note_kind);
	if (f)
		snprintf(f->text, sizeof(f->text), "%s", text);
	return f;
}

static int find_notes(struct findings *findings, size_t first, const struct hyb_location_info *location)
{
	const struct hyb_process *process = location->process;

	for (size_t n = 0; n < process->note_count; n++) {
		struct finding *f;

		if (process->notes[n].severity < HYB_NOTE_WARNING)
			continue;
		f = note_of(findings, first, process->notes[n].text);
		if (!f)
			return HYB_ENOMEM;
		f->count++;
		if (f->who_count && f->who[f->who_count - 1].location == location)
			continue;
		if (!finding_add_who(f, location, 0) ||
			!finding_add_instance(
				f, &(struct finding_instance){location, process->notes[n].time, 0, 0}))
			return HYB_ENOMEM;
	}
	return 0;
}

static uint64_t lost_of(const struct hyb_process *process)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < process->location_count; i++)
		lost += process->locations[i].events_lost;
	return lost;
}

static int find_cut(struct findings *findings, struct finding **cut, const struct hyb_location_info *location)
{
	uint64_t lost = lost_of(location->process);
	char n[FIGURE_SIZE];

	if (!lost && !location->process->trace_stopped)
		return 0;
	*cut = *cut ? *cut : findings_add(findings, &cut_kind);
	if (!*cut || !finding_add_who(*cut, location, 0))
		return HYB_ENOMEM;
	(*cut)->count += lost;
	snprintf((*cut)->text, sizeof((*cut)->text),
		"the trace of %zu process%s is not whole: %s records are known to be lost", (*cut)->who_count,
		(*cut)->who_count == 1 ? "" : "es", figure_number((*cut)->count, n));
	return 0;
}

static int find(void *data, const struct analysis_input *input, struct findings *findings)
{
	size_t count, at = 0, first = findings->count;
	const struct profile_part *parts = profile_parts(input->profile, &count);
	const struct hyb_location_info *location;
	struct finding *cut = NULL;
	int r = 0;

	while (!r && (location = next_process(input, parts, count, &at)))
		r = find_cut(findings, &cut, location);
	at = 0;
	while (!r && (location = next_process(input, parts, count, &at)))
		r = find_notes(findings, first, location);
	return r;
}

const struct analysis notes_analysis = {.name = "notes", .find = find};
