#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/array.h"
#include "viewer/timeline/read.h"

/* Finds locations of the snapshot by their address. */
struct finder {
	struct place {
		const struct hyb_location_info *location;
		uint32_t index;
	} * places;
	size_t count;
	const uint64_t *origins;
};

static int compare_places(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	return (a->location > b->location) - (a->location < b->location);
}

static int compare_messages(const void *pa, const void *pb)
{
	const struct timeline_message *a = pa, *b = pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static bool find(const struct finder *finder, const struct hyb_location_info *location, uint32_t *ret)
{
	struct place key = {.location = location};
	const struct place *place =
		location ? bsearch(&key, finder->places, finder->count, sizeof(key), compare_places) : NULL;

	if (place)
		*ret = place->index;
	return place;
}

/* When it began to be sent, and was there. */
static bool describe(
	const struct finder *finder, const struct hyb_step *step, struct timeline_message *message)
{
	const struct hyb_moment *sent = &step->send->started, *got = &step->recv->completed;
	uint64_t from = sent->call.time != HYB_TIME_UNKNOWN ? sent->call.time : sent->time;

	if (!find(finder, sent->location, &message->sender) ||
		!find(finder, got->location, &message->receiver))
		return false;
	message->from = from - finder->origins[message->sender];
	message->to = got->time - finder->origins[message->receiver];
	return from >= finder->origins[message->sender] && got->time >= finder->origins[message->receiver];
}

struct reading {
	struct timeline_messages messages;
	struct finder finder;
	struct job *job;
};

static int take(void *data, const struct hyb_step *step)
{
	struct reading *reading = data;
	struct timeline_messages *messages = &reading->messages;
	struct timeline_message message;

	if (!describe(&reading->finder, step, &message))
		return 0;
	if (messages->count == MESSAGES_MOST) {
		messages->left_out++;
		return 0;
	}
	return ARRAY_ADD(messages->items, messages->count, message) ? 0 : HYB_ENOMEM;
}

/* What cannot be read, or has no regions in its trace, has no messages. */
static int read_experiment(struct reading *reading, struct hyb_experiment *experiment)
{
	static const struct analysis messages = {
		.name = "messages", .steps = ANALYSIS_STEP(HYB_STEP_MATCH), .step = take};
	const struct analysis_watch watch = {job_is_stopped, reading->job};
	struct hyb_error err;
	int r = analysis_run(experiment, &(struct analysis_item){&messages, reading}, 1, &watch, &err);

	return r == HYB_ENOMEM ? r : 0;
}

static bool has_ranks(const struct hyb_experiment *experiment)
{
	for (size_t i = 0; i < hyb_process_count(experiment); i++)
		if (hyb_process_at(experiment, i)->world && hyb_process_at(experiment, i)->trace_events)
			return true;
	return false;
}

int timeline_messages_read(const struct timeline_base *base, struct job *job, struct timeline_messages *ret)
{
	const struct snapshot *s = base->snapshot;
	struct reading reading = {
		.finder = {.count = s->location_count, .origins = base->origins}, .job = job};
	struct finder *finder = &reading.finder;
	struct timeline_messages *messages = &reading.messages;
	int r = 0;

	finder->places = malloc((finder->count + 1) * sizeof(*finder->places));
	if (!finder->places)
		return HYB_ENOMEM;
	for (uint32_t i = 0; i < finder->count; i++)
		finder->places[i] = (struct place){s->locations[i], i};
	qsort(finder->places, finder->count, sizeof(*finder->places), compare_places);
	for (size_t i = 0; !r && i < s->base_from && !atomic_load(&job->stop); i++)
		if (has_ranks(s->opened[i].experiment))
			r = read_experiment(&reading, s->opened[i].experiment);
	free(finder->places);
	if (r) {
		timeline_messages_release(messages);
		return r;
	}
	if (messages->count)
		qsort(messages->items, messages->count, sizeof(*messages->items), compare_messages);
	*ret = *messages;
	return 0;
}

void timeline_messages_release(struct timeline_messages *messages)
{
	free(messages->items);
	*messages = (struct timeline_messages){0};
}
