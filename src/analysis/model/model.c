/* Steps from events: numbering and region stacks. */
#include <stdlib.h>
#include <string.h>

#include "analysis/model/state.h"
#include "base/array.h"
#include "format/format.h"

/* ---------------------------------------------------------------- regions */

static uint32_t probe_above(const struct hyb_location_info *location, uint32_t node)
{
	return node ? location->nodes[location->nodes[node].parent].probe : 0;
}

/*
 * Makes `node` the innermost open region, as the trace has it: where records are missing, enters and leaves
 * of regions were not seen.
 */
static bool open_until(struct track *track, const struct hyb_location_info *location, uint32_t node)
{
	size_t depth = 0;

	if (node == (track->depth ? track->stack[track->depth - 1].node : 0))
		return true;
	for (uint32_t n = node; n; n = probe_above(location, n))
		depth++;
	while (track->room < depth) {
		if (!ARRAY_ROOM(track->stack, track->room))
			return false;
		track->room++;
	}
	for (size_t i = depth; i-- > 0; node = probe_above(location, node))
		if (i >= track->depth || track->stack[i].node != node)
			track->stack[i] = (struct hyb_call){.time = HYB_TIME_UNKNOWN, .node = node};
	track->depth = depth;
	return true;
}

static bool push(struct track *track, const struct hyb_call *call)
{
	if (track->depth == track->room) {
		if (!ARRAY_ROOM(track->stack, track->room))
			return false;
		track->room++;
	}
	track->stack[track->depth++] = *call;
	return true;
}

static struct hyb_call innermost(const struct track *track)
{
	if (track->depth)
		return track->stack[track->depth - 1];
	return (struct hyb_call){.time = HYB_TIME_UNKNOWN};
}

/* ----------------------------------------------------------------- events */

/* From here on nothing is certain. */
static void lose(struct hyb_model *model, struct rank *rank)
{
	if (rank->broken)
		return;
	rank->broken = true;
	collectives_break(model, rank);
}

/* Calls that get in line for messages when they begin. */
static bool receives(const char *name)
{
	return !strncmp(name, "MPI_Recv", 8) || !strncmp(name, "MPI_Sendrecv", 12) ||
	       !strncmp(name, "MPI_Mprobe", 10);
}

/* Calls that may have got a message also where they fail. */
static bool completes(const char *name)
{
	return receives(name) || !strncmp(name, "MPI_Wait", 8) || !strncmp(name, "MPI_Test", 8) ||
	       !strncmp(name, "MPI_Mrecv", 9);
}

static const char *name_of_call(const struct hyb_location_info *location, const struct hyb_call *call)
{
	const struct hyb_region *region = location->nodes[call->node].region;

	return region ? region->name : "";
}

static void enter(struct hyb_model *model, struct rank *rank, struct track *track)
{
	const struct hyb_event *event = &model->event;
	const struct hyb_region *region = event->location->nodes[event->node].region;
	struct hyb_call call = {model->pos, event->time, event->node};

	if (!open_until(track, event->location, probe_above(event->location, event->node))) {
		model->failed = true;
		return;
	}
	model->step.call = innermost(track);
	if (!push(track, &call))
		model->failed = true;
	if (region && region->kind == HYB_REGION_PAUSED && !rank->info->follows_pauses)
		lose(model, rank);
	if (rank->parallel && region && region->mpi && receives(region->name))
		message_awaited(model, rank, track,
			&(struct hyb_moment){event->location, model->pos, event->time, call});
}

static void leave(struct hyb_model *model, struct rank *rank, struct track *track)
{
	if (!open_until(track, model->event.location, model->event.node)) {
		model->failed = true;
		return;
	}
	model->step.call = innermost(track);
	if (track->waiting && track->waiting->end.started.call.pos == model->step.call.pos)
		message_given_up(model, track);
	if (track->depth)
		track->depth--;
}

static void gap(struct hyb_model *model, struct rank *rank, struct track *track)
{
	message_given_up(model, track);
	track->depth = 0;
	lose(model, rank);
}

static void message(
	struct hyb_model *model, struct rank *rank, struct track *track, const struct hyb_moment *moment)
{
	switch ((enum hyb_message_kind)model->event.message) {
	case HYB_SEND:
		message_sent(model, rank, moment);
		return;
	case HYB_RECV:
		message_received(model, rank, track, moment);
		return;
	case HYB_COLLECTIVE:
		collective_joined(model, rank, moment);
		return;
	default:
		if (model->event.request)
			request_begin(model, rank, model->event.request, moment, NULL, NULL);
		return;
	}
}

static void about_request(struct hyb_model *model, struct rank *rank, enum hyb_event_kind kind)
{
	bool tested = kind == HYB_EVENT_TESTED, cancelled = kind == HYB_EVENT_CANCELLED;
	struct request *request = request_find(model, rank, model->event.request, false);

	if (!request && (tested || cancelled))
		request = request_find(model, rank, model->event.request, true);
	if (!request)
		return;
	model->began = request->started;
	if (cancelled)
		message_cancelled(model, request);
	else if (!tested)
		request_end(model, request);
}

static void dispatch(struct hyb_model *model, struct rank *rank, struct track *track)
{
	const struct hyb_event *event = &model->event;
	struct hyb_moment moment = {event->location, model->pos, event->time, innermost(track)};
	enum hyb_event_kind kind = model->unmeasured ? event->unmeasured : event->kind;

	model->step.call = moment.call;
	switch (kind) {
	case HYB_EVENT_ENTER:
		enter(model, rank, track);
		return;
	case HYB_EVENT_LEAVE:
		leave(model, rank, track);
		return;
	case HYB_EVENT_GAP:
		gap(model, rank, track);
		return;
	case HYB_EVENT_MESSAGE:
		message(model, rank, track, &moment);
		return;
	case HYB_EVENT_POSTED:
		message_posted(model, rank, &moment);
		return;
	case HYB_EVENT_FAILED:
		rank->unseen |= model->unmeasured || completes(name_of_call(event->location, &moment.call));
		return;
	case HYB_EVENT_SENT:
	case HYB_EVENT_TESTED:
	case HYB_EVENT_CANCELLED:
	case HYB_EVENT_COLLECTED:
	case HYB_EVENT_DONE:
		about_request(model, rank, kind);
		return;
	default:
		return;
	}
}

void model_feed(struct hyb_model *model, const struct hyb_event *event)
{
	struct rank *rank = who_is(model, event->location->process);
	struct track *track = &rank->tracks[event->location - rank->info->locations];

	model->totals.events = ++model->pos;
	model->event = *event;
	model->unmeasured = event->kind == HYB_EVENT_UNMEASURED;
	model->began.location = NULL;
	model->step = (struct hyb_step){.kind = HYB_STEP_EVENT, .pos = model->pos, .event = &model->event};
	dispatch(model, rank, track);
	if (model->began.location)
		model->step.started = &model->began;
}

void model_flush(struct hyb_model *model)
{
	model->flushed = true;
	messages_flush(model);
	collectives_flush(model);
}

/* ------------------------------------------------------------------ steps */

int hyb_model_next(struct hyb_model *model, const struct hyb_step **ret_step)
{
	struct hyb_event event;
	int result = 1;

	*ret_step = &model->step;
	if (model_answer(model))
		return 1;
	if (model->flushed)
		return 0;
	result = hyb_events_next(model->events, &event);
	if (result < 0)
		return result;
	if (result)
		model_feed(model, &event);
	else
		model_flush(model);
	if (model->failed)
		return HYB_ENOMEM;
	return result || model_answer(model);
}

/* ------------------------------------------------------------------ state */

const struct hyb_call *hyb_model_stack(
	const struct hyb_model *model, const struct hyb_location_info *location, size_t *ret_depth)
{
	struct map_key key = {.a = (uintptr_t)location->process};
	const struct rank *rank = map_get(&model->processes, &key);
	const struct track *track = rank ? &rank->tracks[location - rank->info->locations] : NULL;

	*ret_depth = track ? track->depth : 0;
	return track ? track->stack : NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct hyb_end *x = *(const struct hyb_end *const *)a, *y = *(const struct hyb_end *const *)b;

	return moment_before(&x->started, &y->started) ? -1 : 1;
}

size_t hyb_model_queue(const struct hyb_model *model, const struct hyb_process *from,
	const struct hyb_process *to, const struct hyb_end **ret_sends, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < model->channels.room; i++) {
		const struct channel *channel = model->channels.slots[i].item;
		const struct op *op = channel ? channel->ops.first : NULL;

		if (!op || !op->is_send || (from && op->self->info != from) || (to && op->peer->info != to))
			continue;
		for (; op; op = op->next, count++)
			if (count < room)
				ret_sends[count] = &op->end;
	}
	if (count && room)
		qsort(ret_sends, count < room ? count : room, sizeof(*ret_sends), by_start);
	return count;
}

const struct hyb_totals *hyb_model_totals(const struct hyb_model *model)
{
	return &model->totals;
}

/* --------------------------------------------------------------- lifetime */

void model_release(struct hyb_model *model)
{
	while (model_answer(model))
		;
	for (struct instance *instance = model->oldest, *next; instance; instance = next) {
		next = instance->newer;
		collective_release(instance);
	}
	for (size_t i = 0; i < model->rank_count; i++) {
		struct rank *rank = &model->ranks[i];

		for (size_t k = 0; rank->tracks && k < rank->info->location_count; k++)
			free(rank->tracks[k].stack);
		free(rank->tracks);
	}
	free(model->ranks);
	free(model->answers);
	map_release(&model->processes);
	map_release(&model->worlds);
	map_release(&model->members);
	map_release(&model->comms);
	map_release(&model->turns);
	map_release(&model->channels);
	map_release(&model->requests);
	map_release(&model->instances);
	arena_release(&model->arena);
	arena_release(&model->ops.arena);
	arena_release(&model->channel_pool.arena);
	arena_release(&model->request_pool.arena);
}
