/*
 * Finds the members of each instance of a collective call. All members make the collective calls on a
 * communicator in the same order (the order of the starts, for non-blocking ones), so the n-th calls of all
 * members belong together.
 */
#include <stdlib.h>

#include "analysis/model/state.h"
#include "base/array.h"

#define GATHERED_MAX (1u << 20) /* members in instances; beyond that the oldest goes out incomplete */

static void unlink_instance(struct hyb_model *model, struct instance *instance)
{
	struct map_key key = {instance->public.identity, instance->public.number, 0};

	map_remove(&model->instances, &key);
	*(instance->older ? &instance->older->newer : &model->oldest) = instance->newer;
	*(instance->newer ? &instance->newer->older : &model->newest) = instance->older;
	model->gathered -= instance->public.count;
}

/* MPI never matches a blocking call with a non-blocking one. */
static bool belong_together(const struct hyb_member *a, const struct hyb_member *b)
{
	return (a->collective == b->collective || !a->collective || !b->collective) &&
	       !a->request == !b->request;
}

static void emit_instance(struct hyb_model *model, struct instance *instance)
{
	struct hyb_collective *public = &instance->public;

	unlink_instance(model, instance);
	if (!public->count) { /* all of it was in pauses */
		collective_release(instance);
		return;
	}
	public->members = instance->members;
	public->missing = instance->comm->size > public->count ? instance->comm->size - public->count : 0;
	model->totals.collectives++;
	model->totals.partial += public->missing > 0;
	model->totals.differing += public->differ;
	model_emit(model, &(struct answer){.kind = HYB_STEP_COLLECTIVE, .instance = instance});
}

static struct instance *instance_of(struct hyb_model *model, uint64_t identity, uint64_t number)
{
	struct map_key key = {identity, number, 0}, comm = {.a = identity};
	struct instance *instance = map_get(&model->instances, &key);

	if (instance)
		return instance;
	instance = calloc(1, sizeof(*instance));
	if (!instance || !map_put(&model->instances, &key, instance)) {
		free(instance);
		return NULL;
	}
	instance->public.identity = identity;
	instance->public.number = number;
	instance->comm = map_get(&model->comms, &comm);
	instance->expected = instance->comm->expected;
	instance->older = model->newest;
	*(instance->older ? &instance->older->newer : &model->oldest) = instance;
	model->newest = instance;
	return instance;
}

static bool add_member(struct hyb_model *model, struct instance *instance, const struct hyb_moment *moment)
{
	struct hyb_collective *public = &instance->public;
	const struct hyb_event *event = &model->event;

	if (!ARRAY_ROOM(instance->members, public->count))
		return false;
	instance->members[public->count++] = (struct hyb_member){
		.moment = *moment,
		.handle = event->handle,
		.root = event->peer,
		.collective = event->collective,
		.sent = event->sent,
		.received = event->received,
		.request = event->request,
	};
	public->differ |= !belong_together(&instance->members[0], &instance->members[public->count - 1]);
	model->gathered++;
	return true;
}

static struct turn *turn_of(
	const struct hyb_model *model, const struct rank *rank, const struct hyb_handle *handle)
{
	struct map_key key = {handle->identity, rank->number, 0};

	return handle->type == HYB_COMM ? map_get(&model->turns, &key) : NULL;
}

void collective_joined(struct hyb_model *model, struct rank *rank, const struct hyb_moment *moment)
{
	const struct hyb_handle *handle = model->event.handle;
	struct turn *turn = handle ? turn_of(model, rank, handle) : NULL;
	struct instance *instance;

	if (model->event.request)
		request_begin(model, rank, model->event.request, moment, NULL, NULL);
	if (!turn || turn->out)
		return;
	instance = instance_of(model, handle->identity, turn->count);
	if (instance && model->unmeasured) {
		instance->expected--;
	} else if (!instance || !add_member(model, instance, moment)) {
		model->failed = true;
		return;
	}
	turn->count++;
	if (instance->public.count >= instance->expected)
		emit_instance(model, instance);
	else if (model->gathered > GATHERED_MAX)
		emit_instance(model, model->oldest);
}

/* The instances that wait for this member wait for one less. */
static void expect_less(struct hyb_model *model, const struct comm *comm, uint64_t from)
{
	for (struct instance *instance = model->oldest, *next; instance; instance = next) {
		next = instance->newer;
		if (instance->comm != comm || instance->public.number < from)
			continue;
		instance->expected--;
		if (instance->public.count >= instance->expected)
			emit_instance(model, instance);
	}
}

void collectives_break(struct hyb_model *model, const struct rank *rank)
{
	for (size_t i = 0; i < rank->info->handle_count; i++) {
		const struct hyb_handle *handle = &rank->info->handles[i];
		struct turn *turn = turn_of(model, rank, handle);
		struct map_key key = {.a = handle->identity};
		struct comm *comm = map_get(&model->comms, &key);

		if (!turn || turn->out)
			continue;
		turn->out = true;
		comm->expected--;
		expect_less(model, comm, turn->count);
	}
}

void collectives_flush(struct hyb_model *model)
{
	while (model->oldest)
		emit_instance(model, model->oldest);
}
