#include "analysis/matching/matching.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

static int keep_lone(struct matching *m, const struct hyb_step *step)
{
	struct matching_lone lone = {
		.end = step->send ? *step->send : *step->recv, .is_send = step->send, .why = step->lone};

	if (step->lone == HYB_LONE_CANCELLED || m->lone_count == MATCHING_LIST)
		return HYB_OK;
	return ARRAY_ADD(m->lone, m->lone_count, lone) ? HYB_OK : HYB_ENOMEM;
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

static int take(void *data, const struct hyb_step *step)
{
	struct matching *m = data;

	if (step->kind == HYB_STEP_LONE)
		return keep_lone(m, step);
	if (step->reversed)
		keep_reversed(m, step);
	return 0;
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

static int begin(void *data, struct hyb_experiment *experiment, const struct hyb_location_info *location)
{
	struct matching *m = data;

	m->error = clock_error(experiment);
	return 0;
}

static int end(void *data, const struct hyb_totals *totals)
{
	struct matching *m = data;

	m->totals = *totals;
	return 0;
}

static void release(void *data)
{
	matching_release(data);
}

const struct analysis matching_analysis = {
	.name = "matching",
	.steps = ANALYSIS_STEP(HYB_STEP_MATCH) | ANALYSIS_STEP(HYB_STEP_LONE),
	.begin = begin,
	.step = take,
	.end = end,
	.size = sizeof(struct matching),
	.find = matching_find,
	.release = release,
};

int matching_make(struct hyb_experiment *experiment, const struct analysis_watch *watch, struct matching *ret,
	struct hyb_error *err)
{
	struct matching m = {0};
	int r = analysis_run(experiment, &(struct analysis_item){&matching_analysis, &m}, 1, watch, err);

	if (!r) {
		*ret = m;
		return HYB_OK;
	}
	matching_release(&m);
	if (r == ANALYSIS_STOPPED)
		return error_set(err, HYB_EIO, "%s: interrupted", hyb_experiment_path(experiment));
	return err->code ? r : error_set(err, r, "%s: out of memory", hyb_experiment_path(experiment));
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
