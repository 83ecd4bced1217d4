/*
 * Finds the send that each receive got.
 *
 * MPI does not report it, but its rules of order determine it. Of two messages with the same communicator,
 * source, destination and tag any receive that takes one would have taken the other. So the one whose sending
 * began first goes to the receive that was posted first among those that got one of the two: had a later one
 * got it, the earlier one would have been waiting for it at that time. This holds for wild cards too, and is
 * independent of the order in which receives were complete. So: queues by envelope (as the status resolved
 * it), sends in the order in which their calls began, receives in the order in which the calls began that
 * posted them.
 *
 * Where threads of a process call at the same time, calls have no such order: see overlap.c.
 *
 * Messages of a pause have their places in the queues, too, but no step is made of them.
 *
 * Of a receive that is under way it is not known which envelope it gets. What its process received with
 * later ones waits for it, in a list by start, unless too much waits. What was cancelled is in no queue.
 */
#include <stdlib.h>

#include "analysis/model/state.h"
#include "base/array.h"

#define HELD_MAX (1u << 18) /* receives that wait for pending ones, in all processes */

static struct op *new_op(struct hyb_model *model, struct rank *rank, const struct hyb_moment *started)
{
	struct op *op = pool_take(model, &model->ops, sizeof(*op));

	if (!op)
		return NULL;
	op->self = rank;
	op->unmeasured = model->unmeasured;
	op->end.started = *started;
	op->end.peer = HYB_RANK_NONE;
	return op;
}

/* The message of the last event. */
static void describe(struct hyb_model *model, struct op *op)
{
	const struct hyb_event *event = &model->event;

	op->unmeasured = model->unmeasured;
	op->end.handle = event->handle;
	op->end.peer = event->peer;
	op->end.tag = event->tag;
	op->end.bytes = op->is_send ? event->sent : event->received;
	op->end.request = event->request;
	op->peer = event->handle ? who_is_peer(model, op->self, event->handle, event->peer) : NULL;
	op->end.partner = op->peer ? op->peer->info : NULL;
}

static struct map_key envelope(const struct op *op)
{
	uint64_t self = op->self->number, peer = op->peer->number;

	return (struct map_key){op->end.handle->identity, op->is_send ? self << 32 | peer : peer << 32 | self,
		(uint32_t)op->end.tag};
}

/* -------------------------------------------------------------- channels */

static struct channel *new_channel(struct hyb_model *model, const struct map_key *key)
{
	struct channel *channel = pool_take(model, &model->channel_pool, sizeof(*channel));

	if (!channel)
		return NULL;
	channel->key = *key;
	if (map_put(&model->channels, key, channel))
		return channel;
	pool_give(&model->channel_pool, channel);
	model->failed = true;
	return NULL;
}

static void close_channel(struct hyb_model *model, struct channel *channel)
{
	if (channel->count || channel->receive_count)
		return;
	map_remove(&model->channels, &channel->key);
	pool_give(&model->channel_pool, channel);
}

/*
 * A process of another world that is not there left no file; unless each world has an identity of its own for
 * the communicator, as after MPI_Comm_spawn: then it may well be there.
 */
static bool is_nameless(const struct hyb_model *model, const struct op *op)
{
	return !op->peer &&
	       (op->end.peer == HYB_RANK_NONE || (op->end.peer & HYB_RANK_FOREIGN && model->worlds_differ &&
							 !who_shares(model, op->end.handle)));
}

/* True: no partner can be known. */
static bool is_lone(struct hyb_model *model, struct op *op)
{
	const struct rank *peer = op->peer;
	uint64_t began = op->end.started.call.time;

	if (!op->end.handle || is_nameless(model, op)) {
		message_without(model, op, HYB_LONE_UNKNOWN);
		return true;
	}
	if (!peer || peer->why == HYB_LONE_ABSENT) {
		message_without(model, op, HYB_LONE_ABSENT);
		return true;
	}
	if (!op->is_send || peer->until == UINT64_MAX || began == HYB_TIME_UNKNOWN || began <= peer->until ||
		began - peer->until <= clock_doubt(op->self, peer))
		return false;
	message_without(model, op, peer->why);
	return true;
}

static void join_channel(struct channel *channel, struct op *op)
{
	bool receives = channel->overlaps && !op->is_send;

	op_insert(receives ? &channel->receives : &channel->ops, op);
	receives ? channel->receive_count++ : channel->count++;
}

static void place(struct hyb_model *model, struct op *op)
{
	struct channel *channel;
	struct op *other;
	struct map_key key;

	if (is_lone(model, op))
		return;
	key = envelope(op);
	channel = map_get(&model->channels, &key);
	if (!channel)
		channel = new_channel(model, &key);
	if (!channel) {
		pool_give(&model->ops, op);
		return;
	}
	if (op->self->parallel || op->peer->parallel) {
		channel->overlaps = true;
		join_channel(channel, op);
		overlap_settle(model, channel);
		close_channel(model, channel);
		return;
	}
	other = channel->ops.first;
	if (!other || other->is_send == op->is_send) {
		join_channel(channel, op);
		return;
	}
	message_leaves(channel, other);
	close_channel(model, channel);
	message_matched(model, op->is_send ? op : other, op->is_send ? other : op);
}

/* -------------------------------------------------------------- receives */

/* Moves receives that wait for nothing any more to their channels. */
static void release(struct hyb_model *model, struct rank *rank)
{
	struct op *op;

	while ((op = rank->receives.first)) {
		if (op->pending) {
			if (model->held <= HELD_MAX)
				return;
			op->late = true;
			rank->overtaken++;
			op_unlink(&rank->receives, op);
			continue;
		}
		op_unlink(&rank->receives, op);
		model->held--;
		op->late = rank->overtaken > 0;
		place(model, op);
	}
}

static void drop_pending(struct hyb_model *model, struct op *op)
{
	if (op->late)
		op->self->overtaken--;
	else
		op_unlink(&op->self->receives, op);
	op->pending = false;
	release(model, op->self);
}

void message_posted(struct hyb_model *model, struct rank *rank, const struct hyb_moment *moment)
{
	struct op *op = new_op(model, rank, moment);

	if (!op)
		return;
	op->pending = true;
	op->end.request = model->event.request;
	op_insert(&rank->receives, op);
	request_begin(model, rank, model->event.request, moment, op, NULL);
}

void message_given_up(struct hyb_model *model, struct track *track)
{
	struct op *op = track->waiting;

	track->waiting = NULL;
	if (!op)
		return;
	drop_pending(model, op);
	pool_give(&model->ops, op);
}

void message_awaited(
	struct hyb_model *model, struct rank *rank, struct track *track, const struct hyb_moment *moment)
{
	struct op *op = new_op(model, rank, moment);

	if (!op)
		return;
	message_given_up(model, track);
	op->pending = true;
	op_insert(&rank->receives, op);
	track->waiting = op;
}

/* The operation that the last event completes, pending no more; in its rank's list unless it is late. */
static struct op *finished(
	struct hyb_model *model, struct rank *rank, struct track *track, const struct hyb_moment *moment)
{
	struct request *request = request_find(model, rank, model->event.request, true);
	struct op *op = request ? request->recv : NULL;

	if (request) {
		model->began = request->started;
		request_end(model, request);
	} else if (!model->event.request && track->waiting) {
		op = track->waiting;
		op->end.started = *moment; /* the same call, so the same place in the list */
		track->waiting = NULL;
	}
	if (!op) {
		op = new_op(model, rank, moment);
		if (op)
			op_insert(&rank->receives, op);
	}
	if (op)
		op->pending = false;
	return op;
}

void message_received(
	struct hyb_model *model, struct rank *rank, struct track *track, const struct hyb_moment *moment)
{
	struct op *op = finished(model, rank, track, moment);

	if (!op)
		return;
	op->end.completed = *moment;
	describe(model, op);
	if (op->late) {
		rank->overtaken--;
		place(model, op);
		return;
	}
	model->held++;
	release(model, rank);
}

/* ----------------------------------------------------------------- sends */

void message_sent(struct hyb_model *model, struct rank *rank, const struct hyb_moment *moment)
{
	struct op *op = new_op(model, rank, moment);
	struct map_key key = {0};

	if (!op)
		return;
	op->is_send = true;
	describe(model, op);
	if (op->end.handle && op->peer)
		key = envelope(op);
	if (model->event.request)
		request_begin(model, rank, model->event.request, moment, NULL, &key);
	else
		op->end.completed = *moment;
	place(model, op);
}

static void cancel_send(struct hyb_model *model, const struct request *request)
{
	struct channel *channel = map_get(&model->channels, &request->channel);
	struct op *op = channel ? channel->ops.first : NULL;

	while (op && !(op->is_send && op->end.started.pos == request->started.pos))
		op = op->next;
	if (!op)
		return;
	message_leaves(channel, op);
	close_channel(model, channel);
	message_without(model, op, HYB_LONE_CANCELLED);
}

void message_cancelled(struct hyb_model *model, struct request *request)
{
	struct op *op = request->recv;

	if (op) {
		drop_pending(model, op);
		message_without(model, op, HYB_LONE_CANCELLED);
	} else {
		cancel_send(model, request);
	}
	request_end(model, request);
}

/* ------------------------------------------------------------------- end */

static int by_start(const void *a, const void *b)
{
	const struct op *x = *(struct op *const *)a, *y = *(struct op *const *)b;

	return moment_before(&x->end.started, &y->end.started) ? -1 : 1;
}

/* The sends that a receive may get, or NULL. */
static struct channel *sends_for(const struct hyb_model *model, const struct op *op)
{
	struct map_key key;
	struct channel *channel;

	if (op->pending || !op->end.handle || !op->peer)
		return NULL;
	key = envelope(op);
	channel = map_get(&model->channels, &key);
	return channel && channel->ops.first && channel->ops.first->is_send ? channel : NULL;
}

/*
 * Receives behind one that stays pending to the end. The pending one may have got a message without the
 * program asking; if its envelope was that of a later receive, one send of that envelope is left over.
 */
static void flush_receives(struct hyb_model *model, struct rank *rank)
{
	struct channel *sends;

	for (struct op *op = rank->receives.first; op; op = op->next)
		if ((sends = sends_for(model, op)))
			sends->wanted++;
	for (struct op *op = rank->receives.first, *next; op; op = next) {
		next = op->next;
		op_unlink(&rank->receives, op);
		sends = sends_for(model, op);
		if (sends) {
			op->late = sends->count > sends->wanted + sends->receive_count || op->peer->why;
			sends->wanted--;
		}
		rank->unseen |= op->pending;
		if (!op->pending)
			place(model, op);
		else if (op->end.request)
			message_without(model, op, HYB_LONE_PENDING);
		else /* a thread is still in the call */
			pool_give(&model->ops, op);
	}
}

static void add_op(struct hyb_model *model, struct op ***all, size_t *count, struct op *op)
{
	if (array_room(all, *count, sizeof(**all)))
		(*all)[(*count)++] = op;
	else
		model->failed = true;
}

/* All of the channels, which are empty then. */
static struct op **take_all(struct hyb_model *model, size_t *ret_count)
{
	struct op **all = NULL;
	size_t count = 0;

	for (size_t i = 0; i < model->channels.room; i++) {
		struct channel *channel = model->channels.slots[i].item;

		if (channel && channel->overlaps)
			overlap_flush(model, channel);
		for (struct op *op = channel ? channel->ops.first : NULL; op; op = op->next)
			add_op(model, &all, &count, op);
		for (struct op *op = channel ? channel->receives.first : NULL; op; op = op->next)
			add_op(model, &all, &count, op);
	}
	map_release(&model->channels);
	*ret_count = count;
	return all;
}

void messages_flush(struct hyb_model *model)
{
	struct op **all;
	size_t count;

	for (struct request *r = model->oldest_request; r; r = r->newer)
		if (r->recv && r->recv->late) {
			r->recv->self->unseen = true;
			message_without(model, r->recv, HYB_LONE_PENDING);
		}
	for (size_t i = 0; i < model->rank_count; i++)
		flush_receives(model, &model->ranks[i]);
	all = take_all(model, &count);
	if (count)
		qsort(all, count, sizeof(struct op *), by_start);
	for (size_t i = 0; i < count; i++)
		message_alone(model, all[i]);
	free(all);
}
