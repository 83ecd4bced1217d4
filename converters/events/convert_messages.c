/* Messages of MPI, as the event model matches them. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "converters/events/convert_events.h"
#include "converters/formats.h"

/* Locations by their address. */
struct finder {
	const struct events_location **sorted;
	size_t count;
};

static int compare(const void *pa, const void *pb)
{
	const struct events_location *a = *(const struct events_location *const *)pa;
	const struct events_location *b = *(const struct events_location *const *)pb;

	return (a->info > b->info) - (a->info < b->info);
}

/* NULL: it takes no part. */
static const struct events_location *find(const struct finder *finder, const struct hyb_location_info *info)
{
	struct events_location key = {.info = info};
	const struct events_location *at = &key, *const * found;

	found = bsearch(&at, finder->sorted, finder->count, sizeof(at), compare);
	return found ? *found : NULL;
}

struct matching_pass {
	struct events_walk *walk;
	struct finder finder;
	const struct events_sink *sink;
	struct hyb_error *err;
};

static int hand_on(struct matching_pass *pass, const struct hyb_step *step)
{
	struct events_walk *walk = pass->walk;
	const struct finder *finder = &pass->finder;
	const struct hyb_moment *sent = &step->send->started, *got = &step->recv->completed;
	uint64_t from = sent->call.time != HYB_TIME_UNKNOWN ? sent->call.time : sent->time;
	struct events_message message = {.from = find(finder, sent->location),
		.to = find(finder, got->location),
		.bytes = step->send->bytes,
		.tag = step->send->tag};

	if (!message.from || !message.to) {
		walk->left_out++;
		return 0;
	}
	message.sent = from > message.from->origin ? from - message.from->origin : 0;
	message.received = got->time > message.to->origin ? got->time - message.to->origin : 0;
	/* The record has the time of its call's leave; the moment before is inside the call. */
	if (message.received > message.sent && got->time > got->call.time)
		message.received--;
	if (!events_in_window(&walk->job->bounds, message.sent) ||
		!events_in_window(&walk->job->bounds, message.received)) {
		walk->left_out++;
		return 0;
	}
	return pass->sink->message(pass->sink->data, &message);
}

static int take(void *data, const struct hyb_step *step)
{
	struct matching_pass *pass = data;

	return step->kind == HYB_STEP_MATCH ? hand_on(pass, step)
					    : events_walk_progress(pass->walk, pass->err);
}

static const struct analysis messages = {
	.name = "messages",
	.steps = ANALYSIS_STEP(HYB_STEP_MATCH) | ANALYSIS_STEP(HYB_STEP_EVENT),
	.step = take,
};

bool events_walk_has_messages(const struct events_walk *walk)
{
	for (size_t i = 0; i < walk->location_count; i++)
		if (walk->locations[i].info->process->world && walk->locations[i].info->process->trace_events)
			return true;
	return false;
}

int events_walk_messages(struct events_walk *walk, const struct events_sink *sink, struct hyb_error *err)
{
	struct matching_pass pass = {walk, {.count = walk->location_count}, sink, err};
	struct finder *finder = &pass.finder;
	int r;

	finder->sorted = malloc((finder->count + 1) * sizeof(*finder->sorted));
	if (!finder->sorted)
		return HYB_ENOMEM;
	for (size_t i = 0; i < finder->count; i++)
		finder->sorted[i] = &walk->locations[i];
	qsort(finder->sorted, finder->count, sizeof(*finder->sorted), compare);
	r = analysis_run(walk->job->experiment, &(struct analysis_item){&messages, &pass}, 1, NULL, err);
	free(finder->sorted);
	return r;
}
