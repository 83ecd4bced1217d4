/*
 * OTF2's readers want a receive for each send. The n-th send of a rank to another with one communicator and
 * tag is got by the n-th such receive: so counting is enough, and what is more on one side is left out there.
 * Memory grows with the different triples only.
 */
#include <stddef.h>

#include "converters/otf2/state.h"

/* NULL: who or on what is not known, or (*ret_known) memory is out. */
static struct otf2_channel *channel_of(struct otf2 *o, const struct otf2_process *process,
	const struct otf2_handle *comm, const struct hyb_event *event, bool *ret_known)
{
	uint32_t self = otf2_rank_in(o, process, comm, process->info->rank);
	uint32_t peer = otf2_rank_in(o, process, comm, event->peer);
	bool is_send = event->message == HYB_SEND;
	struct otf2_channel key = {.comm = comm->identity, .tag = (uint32_t)event->tag};

	*ret_known = self != NO_REF && peer != NO_REF;
	if (!*ret_known)
		return NULL;
	key.from = is_send ? self : peer;
	key.to = is_send ? peer : self;
	if (comm->self) /* in which all are rank 0 */
		key.from = key.to = process->number;
	return table_row(&o->channels, &key);
}

static int count(struct otf2 *o, struct otf2_process *process, const struct hyb_event *event)
{
	const struct otf2_handle *comm = otf2_handle_of(o, process, event->handle, HYB_COMM);
	struct otf2_channel *channel;
	bool known = false;

	channel = comm ? channel_of(o, process, comm, event, &known) : NULL;
	if (!channel)
		return known ? HYB_ENOMEM : 0;
	channel->sends += event->message == HYB_SEND;
	channel->receives += event->message != HYB_SEND;
	return 0;
}

static int count_location(struct otf2 *o, struct otf2_location *location, struct hyb_error *err)
{
	struct hyb_events *events = hyb_events_open(o->job->experiment, location->info, false, err);
	struct hyb_event event;
	int r = 0, result = 0;
	unsigned n = 0;

	if (!events)
		return err->code;
	while (!r && (result = hyb_events_next(events, &event)) > 0) {
		if (event.kind == HYB_EVENT_MESSAGE && event.message <= HYB_RECV)
			r = count(o, location->process, &event);
		if (!(++n & 0xffff) && *o->job->stop)
			break;
	}
	hyb_events_close(events);
	return r ? r : result < 0 ? result : 0;
}

int otf2_match(struct otf2 *o, struct hyb_error *err)
{
	int r = 0;

	o->channels = (struct table){
		.row_size = sizeof(struct otf2_channel), .key_size = offsetof(struct otf2_channel, sends)};
	for (size_t i = 0; !r && i < o->location_count && !*o->job->stop; i++)
		if (o->locations[i].process->number != NO_REF)
			r = count_location(o, &o->locations[i], err);
	for (size_t i = 0; i < o->channels.count; i++) {
		struct otf2_channel *channel = &((struct otf2_channel *)o->channels.rows)[i];
		uint64_t both = channel->sends < channel->receives ? channel->sends : channel->receives;

		channel->sends = channel->receives = both;
	}
	return r;
}

bool otf2_match_take(struct otf2 *o, const struct otf2_process *process, const struct otf2_handle *comm,
	const struct hyb_event *event)
{
	struct otf2_channel *channel;
	uint64_t *left;
	bool taken, known;

	pthread_mutex_lock(&o->lock);
	channel = channel_of(o, process, comm, event, &known);
	left = !channel ? NULL : event->message == HYB_SEND ? &channel->sends : &channel->receives;
	taken = left && *left;
	if (taken)
		--*left;
	pthread_mutex_unlock(&o->lock);
	return taken;
}
