/*
 * OTF2's readers want a receive for each send. The event model finds the messages with one end: these are
 * left out, each identified by the number of sends or receives of its location in front of it. Memory grows
 * with their number only.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "converters/otf2/state.h"
#include "hybrid/model.h"

/* What has no other end, as the model numbers events. */
struct lone {
	uint64_t *pos;
	size_t count;
};

/* A location, by its address, and how many sends and receives of it were met. */
struct tally {
	uint64_t info;
	struct otf2_location *location;
	uint64_t met[2];
};

static int find_lone(struct otf2 *o, struct hyb_model *model, struct lone *lone)
{
	const struct hyb_step *step;
	int more = 0;

	while (!*o->job->stop && (more = hyb_model_next(model, &step)) > 0) {
		uint64_t pos;

		if (step->kind != HYB_STEP_LONE)
			continue;
		pos = step->send ? step->send->started.pos : step->recv->completed.pos;
		if (!pos) /* never received */
			continue;
		if (!ARRAY_ADD(lone->pos, lone->count, pos))
			return HYB_ENOMEM;
	}
	return more < 0 ? more : 0;
}

static int add_number(struct otf2_ends *ends, uint64_t number)
{
	return ARRAY_ADD(ends->lone, ends->count, number) ? 0 : HYB_ENOMEM;
}

static int number_lone(const struct lone *lone, struct hyb_events *events, struct row_map *tallies)
{
	struct hyb_event event;
	int r = 0, more = 0;
	uint64_t pos = 0;

	for (size_t i = 0; !r && i < lone->count && (more = hyb_events_next(events, &event)) > 0;) {
		bool receives = event.message == HYB_RECV;
		struct tally *tally, key = {.info = (uintptr_t)event.location};
		uint64_t number;

		pos++;
		if (event.kind != HYB_EVENT_MESSAGE || event.message > HYB_RECV)
			continue;
		tally = row_map_row(tallies, &key);
		if (!tally)
			return HYB_ENOMEM;
		number = tally->met[receives]++;
		if (pos != lone->pos[i])
			continue;
		r = add_number(&tally->location->ends[receives], number);
		i++;
	}
	return r ? r : more < 0 ? more : 0;
}

static int number_all(struct otf2 *o, struct lone *lone, struct hyb_error *err)
{
	struct row_map tallies = {
		.row_size = sizeof(struct tally), .key_size = offsetof(struct tally, location)};
	struct hyb_events *events = hyb_events_open(o->job->experiment, NULL, false, err);
	int r = events ? 0 : err->code;

	qsort(lone->pos, lone->count, sizeof(*lone->pos), compare_u64);
	for (size_t i = 0; !r && i < o->location_count; i++) {
		struct tally *tally, key = {.info = (uintptr_t)o->locations[i].info};

		tally = row_map_row(&tallies, &key);
		if (tally)
			tally->location = &o->locations[i];
		else
			r = HYB_ENOMEM;
	}
	if (!r)
		r = number_lone(lone, events, &tallies);
	hyb_events_close(events);
	row_map_release(&tallies);
	return r;
}

int otf2_match(struct otf2 *o, struct hyb_error *err)
{
	struct hyb_model *model;
	struct lone lone = {0};
	bool traced = false;
	int r;

	for (size_t i = 0; i < o->process_count; i++)
		traced |= o->processes[i].info->trace_events;
	if (!traced)
		return 0;
	model = hyb_model_open(o->job->experiment, err);
	if (!model)
		return err->code;
	r = find_lone(o, model, &lone);
	hyb_model_close(model);
	if (!r && lone.count)
		r = number_all(o, &lone, err);
	free(lone.pos);
	return r;
}

bool otf2_match_next(const struct otf2_location *location, bool receives, struct otf2_met *met)
{
	const struct otf2_ends *ends = &location->ends[receives];
	bool lone = met->lone < ends->count && ends->lone[met->lone] == met->ends;

	met->ends++;
	met->lone += lone;
	return !lone;
}
