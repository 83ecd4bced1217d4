/* Ends of messages: the lists that hold them, and the steps made of them. */
#include "analysis/model/state.h"

void op_unlink(struct op_list *list, struct op *op)
{
	*(op->prev ? &op->prev->next : &list->first) = op->next;
	*(op->next ? &op->next->prev : &list->last) = op->prev;
	op->prev = op->next = NULL;
}

/* Nearly always behind the last. */
void op_insert(struct op_list *list, struct op *op)
{
	struct op *before = list->last;

	while (before && moment_before(&op->end.started, &before->end.started))
		before = before->prev;
	op->prev = before;
	op->next = before ? before->next : list->first;
	*(op->prev ? &op->prev->next : &list->first) = op;
	*(op->next ? &op->next->prev : &list->last) = op;
}

void message_leaves(struct channel *channel, struct op *op)
{
	bool receives = channel->overlaps && !op->is_send;

	op_unlink(receives ? &channel->receives : &channel->ops, op);
	receives ? channel->receive_count-- : channel->count--;
}

/* --------------------------------------------------------------- answers */

void message_without(struct hyb_model *model, struct op *op, enum hyb_lone why)
{
	uint64_t *counts = op->is_send ? model->totals.sends : model->totals.receives;

	if (op->unmeasured) {
		pool_give(&model->ops, op);
		return;
	}
	counts[why]++;
	model_emit(model, &(struct answer){.kind = HYB_STEP_LONE,
				  .lone = why,
				  .send = op->is_send ? op : NULL,
				  .recv = op->is_send ? NULL : op});
}

uint64_t clock_doubt(const struct rank *a, const struct rank *b)
{
	if (a->info->clock_domain && a->info->clock_domain == b->info->clock_domain)
		return 0;
	if (a->info->clock_error == HYB_TIME_UNKNOWN || b->info->clock_error == HYB_TIME_UNKNOWN)
		return HYB_TIME_UNKNOWN;
	return a->info->clock_error + b->info->clock_error;
}

/* By how much it was received before the call began that sent it, ns. */
static uint64_t time_before(const struct op *send, const struct op *recv)
{
	uint64_t sent = send->end.started.call.time, received = recv->end.completed.time;

	return sent == HYB_TIME_UNKNOWN || received >= sent ? 0 : sent - received;
}

bool message_is_reversed(const struct op *send, const struct op *recv)
{
	return time_before(send, recv) > clock_doubt(send->self, recv->self);
}

static bool count_reversed(struct hyb_totals *totals, const struct op *send, const struct op *recv)
{
	uint64_t by = time_before(send, recv);

	if (clock_doubt(send->self, recv->self) == HYB_TIME_UNKNOWN) {
		totals->unordered++;
		return false;
	}
	totals->reversed += by > 0;
	if (by > totals->worst)
		totals->worst = by;
	return by > 0;
}

void message_matched(struct hyb_model *model, struct op *send, struct op *recv)
{
	struct hyb_totals *totals = &model->totals;
	bool unsure = send->self->broken || recv->self->broken || recv->late;

	if (send->unmeasured || recv->unmeasured) {
		message_without(model, send, HYB_LONE_CUT);
		message_without(model, recv, HYB_LONE_CUT);
		return;
	}
	totals->matched++;
	totals->unsure += unsure;
	totals->resized += send->end.bytes != recv->end.bytes;
	model_emit(model, &(struct answer){.kind = HYB_STEP_MATCH,
				  .unsure = unsure,
				  .reversed = count_reversed(totals, send, recv),
				  .send = send,
				  .recv = recv});
}

static enum hyb_lone why_alone(const struct op *op)
{
	if (op->self->broken || op->peer->broken)
		return HYB_LONE_CUT;
	return !op->peer->why && op->is_send && op->peer->unseen ? HYB_LONE_UNSEEN : op->peer->why;
}

void message_alone(struct hyb_model *model, struct op *op)
{
	message_without(model, op, why_alone(op));
}
