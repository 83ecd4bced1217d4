/*
 * Channels of processes with several threads in MPI at the same time. Calls that overlap have no order: of
 * such sends any may be the first, and of such receives. A call that is over before another begins is in
 * front of it.
 *
 * So an end has a range of places in its queue: behind those that are surely in front, before those that
 * surely are not. A send and a receive may be one message if they may have the same place, have as many
 * bytes, and the receive was not complete before the sending began. An end that is left with one candidate is
 * matched with that one; the others are paired somehow and marked unsure. Where all of the first k of both
 * queues are in front of all others, they are settled: a part.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/model/state.h"
#include "base/search.h"
#include "format/format.h"

#define PART_MAX 4096u /* ends of a queue that wait for such a place; then they are taken as they are */
#define TRY_FIRST 64u

/* One end of a part. */
struct place {
	struct op *op;
	uint64_t begin, end; /* of its call, pos */
	size_t least, most; /* places that it may have */
	size_t reach; /* the largest `most` up to here */
	size_t count; /* candidates */
	struct place *partner;
	struct place *asked; /* a receive: the send on the way to it, while a way is looked for */
	bool unsure;
};

struct part {
	struct place *sends, *receives;
	size_t send_count, receive_count;
	struct place **queue; /* with one candidate; sends on ways that are looked for */
	size_t queued;
};

static uint64_t begin_of(const struct op *op)
{
	const struct hyb_moment *started = &op->end.started;

	return started->call.pos ? started->call.pos : started->pos;
}

/* In a pause it may be: calls are not recorded there. */
static bool is_in_mpi(const struct hyb_location_info *location, const struct track *track)
{
	const struct hyb_region *region =
		track->depth ? location->nodes[track->stack[track->depth - 1].node].region : NULL;

	return region && (region->mpi || region->kind == HYB_REGION_PAUSED);
}

/* Sends, or receives, of the rank that are not in the channel yet are of calls that began there or later. */
static uint64_t horizon(const struct hyb_model *model, const struct rank *rank, bool of_sends)
{
	uint64_t first = model->pos + 1;

	if (!of_sends && rank->receives.first && begin_of(rank->receives.first) < first)
		first = begin_of(rank->receives.first);
	for (size_t i = 0; i < rank->info->location_count && !model->flushed; i++) {
		const struct hyb_location_info *location = &rank->info->locations[i];
		const struct track *track = &rank->tracks[i];

		if (location != model->event.location && is_in_mpi(location, track) &&
			track->stack[track->depth - 1].pos < first)
			first = track->stack[track->depth - 1].pos;
	}
	return first;
}

/* ---------------------------------------------------------------- places */

static bool find_places(struct place *places, size_t count, size_t missing)
{
	uint64_t *ends = malloc((count + 1) * sizeof(*ends));
	size_t reach = 0, behind = 0;

	if (!ends)
		return false;
	for (size_t i = 0; i < count; i++)
		ends[i] = places[i].end;
	qsort(ends, count, sizeof(*ends), compare_u64);
	for (size_t i = 0; i < count; i++)
		places[i].least = SEARCH(k, count, ends[k] < places[i].begin);
	/* They are sorted by begin, so the ends take the same way. */
	for (size_t i = 0; i < count; i++) {
		for (behind = i + 1; behind < count && places[behind].begin < places[i].end;)
			behind++;
		places[i].most = behind - 1 + missing;
		reach = places[i].most > reach ? places[i].most : reach;
		places[i].reach = reach;
	}
	free(ends);
	return true;
}

static bool may_be_one(const struct place *send, const struct place *receive)
{
	return send->least <= receive->most && receive->least <= send->most &&
	       send->op->end.bytes == receive->op->end.bytes && !message_is_reversed(send->op, receive->op);
}

/* The first of `others` that may have a place of this one or a later one. */
static size_t first_candidate(const struct place *place, const struct place *others, size_t count)
{
	return SEARCH(i, count, others[i].reach < place->least);
}

/* The next one from `*at` on that may be the other end, has it one or not; NULL: no more. */
static struct place *next_other(const struct part *part, struct place *place, size_t *at)
{
	bool is_send = place->op->is_send;
	struct place *others = is_send ? part->receives : part->sends;
	size_t count = is_send ? part->receive_count : part->send_count;

	for (size_t i = *at; i < count && others[i].least <= place->most; i++)
		if (is_send ? may_be_one(place, &others[i]) : may_be_one(&others[i], place)) {
			*at = i + 1;
			return &others[i];
		}
	return NULL;
}

static struct place *next_candidate(const struct part *part, struct place *place, size_t *at)
{
	struct place *other;

	while ((other = next_other(part, place, at)) && other->partner)
		;
	return other;
}

static size_t start_of(const struct part *part, const struct place *place)
{
	return place->op->is_send ? first_candidate(place, part->receives, part->receive_count)
				  : first_candidate(place, part->sends, part->send_count);
}

static void count_candidates(struct part *part, struct place *place)
{
	size_t at = start_of(part, place);

	while (next_candidate(part, place, &at))
		place->count++;
	if (place->count == 1)
		part->queue[part->queued++] = place;
}

/* Takes this end out of the candidates of the others. */
static void take_from_others(struct part *part, struct place *place)
{
	size_t at = start_of(part, place);
	struct place *other;

	while ((other = next_candidate(part, place, &at)))
		if (--other->count == 1)
			part->queue[part->queued++] = other;
}

static void join(struct part *part, struct place *place, struct place *other, bool unsure)
{
	take_from_others(part, place);
	take_from_others(part, other);
	place->partner = other;
	other->partner = place;
	place->unsure = other->unsure = unsure;
}

/* Those with one candidate, and whom that leaves with one. */
static void join_sure(struct part *part, bool unsure)
{
	for (size_t i = 0; i < part->queued; i++) {
		struct place *place = part->queue[i], *other;
		size_t at = start_of(part, place);

		if (!place->partner && (other = next_candidate(part, place, &at)))
			join(part, place, other, unsure);
	}
	part->queued = 0;
}

/* Each send on the way to `receive` gets the one that it asked for, and gives up its own. */
static void take_way(struct place *receive)
{
	while (receive) {
		struct place *send = receive->asked, *before = send->partner;

		send->partner = receive;
		receive->partner = send;
		send->unsure = receive->unsure = true;
		receive = before;
	}
}

/* A send that found none gets one if others that are unsure can move on. */
static void find_way(struct part *part, struct place *send)
{
	size_t count = 1;

	for (size_t i = 0; i < part->receive_count; i++)
		part->receives[i].asked = NULL;
	part->queue[0] = send;
	for (size_t i = 0; i < count; i++) {
		size_t at = start_of(part, part->queue[i]);
		struct place *other;

		while ((other = next_other(part, part->queue[i], &at))) {
			if (other->asked || (other->partner && !other->unsure))
				continue;
			other->asked = part->queue[i];
			if (!other->partner) {
				take_way(other);
				return;
			}
			part->queue[count++] = other->partner;
		}
	}
}

/* Pairs the rest: each send gets the candidate whose places end first. */
static void join_rest(struct part *part)
{
	for (size_t i = 0; i < part->send_count; i++) {
		struct place *send = &part->sends[i], *other, *best = NULL;
		size_t at = start_of(part, send);

		if (send->partner)
			continue;
		while ((other = next_candidate(part, send, &at)))
			if (!best || other->most < best->most)
				best = other;
		if (!best)
			continue;
		join(part, send, best, true);
		join_sure(part, true);
	}
	for (size_t i = 0; i < part->send_count; i++)
		if (!part->sends[i].partner)
			find_way(part, &part->sends[i]);
}

/* `more`: ends without a partner stay in the queue, for ends that are still to come. */
static void settle_alone(
	struct hyb_model *model, struct channel *channel, const struct place *place, bool more)
{
	if (place->partner || more)
		return;
	message_leaves(channel, place->op);
	message_alone(model, place->op);
}

static void settle_part(struct hyb_model *model, struct channel *channel, const struct part *part, bool more)
{
	for (size_t i = 0; i < part->receive_count; i++)
		settle_alone(model, channel, &part->receives[i], more);
	for (size_t i = 0; i < part->send_count; i++) {
		const struct place *send = &part->sends[i];

		settle_alone(model, channel, send, more);
		if (!send->partner)
			continue;
		message_leaves(channel, send->op);
		message_leaves(channel, send->partner->op);
		send->partner->op->late |= send->unsure;
		message_matched(model, send->op, send->partner->op);
	}
}

/* `missing`: as many of the queue may be unknown. */
static bool take_places(struct op *op, size_t count, size_t missing, struct place **ret)
{
	struct place *places = calloc(count + 1, sizeof(*places));

	*ret = places;
	if (!places)
		return false;
	for (size_t i = 0; i < count; i++, op = op->next)
		places[i] = (struct place){.op = op, .begin = begin_of(op), .end = op->end.started.pos};
	return find_places(places, count, missing);
}

/* ------------------------------------------------------------------ parts */

/* A place of a queue, which may have all that is in front of it in front of all that is behind. */
struct cut {
	const struct op *next;
	size_t at;
	uint64_t end; /* the last of those in front */
	uint64_t horizon;
};

static bool cut_move(struct cut *cut)
{
	if (!cut->next || cut->next->late)
		return false;
	if (cut->next->end.started.pos > cut->end)
		cut->end = cut->next->end.started.pos;
	cut->next = cut->next->next;
	cut->at++;
	return true;
}

static bool is_cut(const struct cut *cut)
{
	uint64_t next = cut->next ? begin_of(cut->next) : UINT64_MAX;

	return cut->end <= next && cut->end < cut->horizon;
}

/* The length of the longest part, or 1 if the first one of both is one; 0: there is none. */
static size_t find_part(const struct hyb_model *model, const struct channel *channel, bool first)
{
	const struct op *send = channel->ops.first, *receive = channel->receives.first;
	struct cut sends = {send, 0, 0, horizon(model, send->self, true)},
		   receives = {receive, 0, 0, horizon(model, receive->self, false)};
	size_t found = 0;

	while (cut_move(&sends) && cut_move(&receives))
		if (is_cut(&sends) && is_cut(&receives)) {
			found = sends.at;
			if (first)
				break;
		} else if (first) {
			break;
		}
	return found;
}

static bool is_torn(const struct channel *channel)
{
	return begin_of(channel->ops.first) < channel->torn ||
	       begin_of(channel->receives.first) < channel->torn;
}

/* What is taken out may stand for others as long as any of it lasted. */
static void tear(struct channel *channel, const struct part *part)
{
	for (size_t i = 0; i < part->send_count; i++)
		if (part->sends[i].end > channel->torn)
			channel->torn = part->sends[i].end;
	for (size_t i = 0; i < part->receive_count; i++)
		if (part->receives[i].end > channel->torn)
			channel->torn = part->receives[i].end;
}

/*
 * Pairs the first ones of both queues. `missing`: so many others may be among them; then nothing is sure.
 * `more`: the rest of their part is still to come, and then is not sure either.
 */
static void settle(struct hyb_model *model, struct channel *channel, size_t sends, size_t receives,
	size_t missing, bool more)
{
	struct part part = {.send_count = sends, .receive_count = receives};
	bool unsure = missing || more || is_torn(channel);

	if (is_torn(channel))
		missing = PART_MAX;
	part.queue = malloc((sends + receives + 1) * sizeof(struct place *));
	if (!take_places(channel->ops.first, sends, missing, &part.sends) ||
		!take_places(channel->receives.first, receives, missing, &part.receives) || !part.queue) {
		model->failed = true;
	} else {
		for (size_t i = 0; i < sends; i++)
			count_candidates(&part, &part.sends[i]);
		for (size_t i = 0; i < receives; i++)
			count_candidates(&part, &part.receives[i]);
		join_sure(&part, unsure);
		join_rest(&part);
		if (more)
			tear(channel, &part);
		settle_part(model, channel, &part, more);
	}
	free(part.sends);
	free(part.receives);
	free(part.queue);
}

static size_t shorter(const struct channel *channel)
{
	return channel->count < channel->receive_count ? channel->count : channel->receive_count;
}

/* What needs no look at others: the first of both, in front of all that follow. */
static void settle_first(struct hyb_model *model, struct channel *channel)
{
	while (shorter(channel) && find_part(model, channel, true)) {
		struct op *send = channel->ops.first, *receive = channel->receives.first;

		receive->late |= is_torn(channel);
		message_leaves(channel, send);
		message_leaves(channel, receive);
		message_matched(model, send, receive);
	}
}

void overlap_settle(struct hyb_model *model, struct channel *channel)
{
	size_t part;

	settle_first(model, channel);
	if (shorter(channel) < TRY_FIRST || shorter(channel) < channel->next_try)
		return;
	part = find_part(model, channel, false);
	if (part)
		settle(model, channel, part, part, 0, false);
	else if (shorter(channel) >= PART_MAX)
		settle(model, channel, PART_MAX / 2, PART_MAX / 2, PART_MAX, true);
	channel->next_try = 2 * shorter(channel);
}

void overlap_flush(struct hyb_model *model, struct channel *channel)
{
	size_t part = shorter(channel) ? find_part(model, channel, false) : 0, missing;

	if (part)
		settle(model, channel, part, part, 0, false);
	if (!shorter(channel))
		return;
	missing = channel->count + channel->receive_count - 2 * shorter(channel);
	for (const struct op *op = channel->receives.first; op; op = op->next)
		if (op->late)
			missing = channel->count + channel->receive_count;
	settle(model, channel, channel->count, channel->receive_count, missing, false);
}
