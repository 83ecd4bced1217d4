/* The queue of steps: kept until hyb_model_next() returns them, with the memory that they need. */
#include <stdlib.h>
#include <string.h>

#include "analysis/model/state.h"
#include "base/array.h"

void *pool_take(struct hyb_model *model, struct pool *pool, size_t size)
{
	void *item = pool->spare;

	if (!item) {
		item = arena_alloc(&pool->arena, size);
		model->failed |= !item;
		return item;
	}
	memcpy(&pool->spare, item, sizeof(pool->spare));
	return memset(item, 0, size);
}

void pool_give(struct pool *pool, void *item)
{
	memcpy(item, &pool->spare, sizeof(pool->spare));
	pool->spare = item;
}

void collective_release(struct instance *instance)
{
	free(instance->members);
	free(instance);
}

static void free_answer(struct hyb_model *model, struct answer *answer)
{
	if (answer->send)
		pool_give(&model->ops, answer->send);
	if (answer->recv)
		pool_give(&model->ops, answer->recv);
	if (answer->instance)
		collective_release(answer->instance);
	*answer = (struct answer){0};
}

void model_emit(struct hyb_model *model, const struct answer *answer)
{
	struct answer lost = *answer;

	if (ARRAY_ROOM(model->answers, model->answer_count)) {
		model->answers[model->answer_count++] = *answer;
		return;
	}
	model->failed = true;
	free_answer(model, &lost);
}

bool model_answer(struct hyb_model *model)
{
	struct answer *emitted = &model->emitted;

	free_answer(model, emitted);
	if (model->answer_next == model->answer_count) {
		model->answer_next = model->answer_count = 0;
		return false;
	}
	*emitted = model->answers[model->answer_next++];
	model->step = (struct hyb_step){
		.kind = emitted->kind,
		.pos = model->pos,
		.send = emitted->send ? &emitted->send->end : NULL,
		.recv = emitted->recv ? &emitted->recv->end : NULL,
		.lone = emitted->lone,
		.unsure = emitted->unsure,
		.reversed = emitted->reversed,
		.collective = emitted->instance ? &emitted->instance->public : NULL,
	};
	return true;
}
