#include "analysis/model/matching.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LOOK 4096u /* steps between two looks at whether to stop */

static int keep_lone(struct matching *m, const struct hyb_step *step)
{
	struct matching_lone lone = {
		.end = step->send ? *step->send : *step->recv, .is_send = step->send, .why = step->lone};

	if (step->lone == HYB_LONE_CANCELLED || m->lone_count == MATCHING_LIST)
		return HYB_OK;
	if (!ARRAY_ROOM(m->lone, m->lone_count))
		return HYB_ENOMEM;
	m->lone[m->lone_count++] = lone;
	return HYB_OK;
}

static void keep_reversed(struct matching *m, const struct hyb_step *step)
{
	struct matching_reversed r = {*step->send, *step->recv, 0};
	size_t at = m->reversed_count;

	r.by = r.send.started.call.time - r.recv.completed.time;
	if (at == MATCHING_WORST && m->reversed[--at].by >= r.by)
		return;
	for (; at > 0 && m->reversed[at - 1].by < r.by; at--)
		m->reversed[at] = m->reversed[at - 1];
	m->reversed[at] = r;
	m->reversed_count += m->reversed_count < MATCHING_WORST;
}

static bool is_stopped(const struct matching_stop *stop)
{
	return stop && stop->asked(stop->data);
}

static int walk(struct hyb_model *model, const struct matching_stop *stop, struct matching *m)
{
	const struct hyb_step *step;
	unsigned n = 0;
	int result;

	while ((result = hyb_model_next(model, &step)) > 0) {
		if (n++ % LOOK == 0 && is_stopped(stop))
			return HYB_EIO;
		m->events = step->pos;
		if (step->kind == HYB_STEP_LONE)
			result = keep_lone(m, step);
		else if (step->kind == HYB_STEP_MATCH && step->reversed)
			keep_reversed(m, step);
		if (result < 0)
			break;
	}
	m->totals = *hyb_model_totals(model);
	return result;
}

/* Of two ranks on clocks of their own both may be wrong. */
static uint64_t clock_error(struct hyb_experiment *experiment)
{
	uint64_t worst = 0, second = 0;

	for (size_t i = 0; i < hyb_process_count(experiment); i++) {
		uint64_t error = hyb_process_at(experiment, i)->clock_error;

		if (error == HYB_TIME_UNKNOWN)
			return error;
		if (error > worst) {
			second = worst;
			worst = error;
		} else if (error > second) {
			second = error;
		}
	}
	return worst + second;
}

int matching_make(struct hyb_experiment *experiment, const struct matching_stop *stop, struct matching *ret,
	struct hyb_error *err)
{
	struct hyb_model *model = hyb_model_open(experiment, err);
	struct matching m = {.error = clock_error(experiment)};
	int result;

	if (!model)
		return err->code;
	result = walk(model, stop, &m);
	hyb_model_close(model);
	if (result < 0) {
		matching_release(&m);
		err->code = result;
		snprintf(err->text, sizeof(err->text), "%s: %s", hyb_experiment_path(experiment),
			result == HYB_ENOMEM ? "out of memory"
			: is_stopped(stop)   ? "interrupted"
					     : "its trace cannot be read");
		return result;
	}
	*ret = m;
	return HYB_OK;
}

void matching_release(struct matching *matching)
{
	free(matching->lone);
	*matching = (struct matching){0};
}

const char *matching_function(const struct hyb_end *end)
{
	const struct hyb_moment *m = &end->started;
	const struct hyb_region *region = m->location ? m->location->nodes[m->call.node].region : NULL;

	return region ? region->name : "";
}
