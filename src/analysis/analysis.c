#include "analysis/analysis.h"

#include <stdlib.h>

#include "base/error.h"

#define LOOK 4096u /* steps between two looks at whether to stop */

/* A pass, over the model or over one location. */
struct pass {
	const struct analysis_item *items;
	size_t count;
	const struct analysis_watch *watch;
	bool apart;
	struct analysis_item *active; /* those of the items that take part */
	size_t active_count;
	unsigned steps; /* that any of them wants */
	unsigned look; /* steps so far */
};

static int begin(struct pass *p, struct hyb_experiment *experiment, const struct hyb_location_info *location)
{
	p->steps = 0;
	p->active_count = 0;
	for (size_t i = 0; i < p->count; i++) {
		const struct analysis *a = p->items[i].analysis;
		int r = 0;

		if (!a->steps || a->apart != p->apart)
			continue;
		if (a->begin)
			r = a->begin(p->items[i].data, experiment, location);
		if (r < 0)
			return r;
		if (r)
			continue;
		p->active[p->active_count++] = p->items[i];
		p->steps |= a->steps;
	}
	return 0;
}

static int hand_out(const struct pass *p, const struct hyb_step *step)
{
	int r = 0;

	for (size_t i = 0; i < p->active_count && !r; i++)
		if (ANALYSIS_STEP(step->kind) & p->active[i].analysis->steps)
			r = p->active[i].analysis->step(p->active[i].data, step);
	return r;
}

/* Nearly all the time of a pass goes through here: a step that no analysis wants costs one comparison. */
static inline int step(struct pass *p, const struct hyb_step *step)
{
	if (p->watch && p->look++ % LOOK == 0 && p->watch->stop(p->watch->data))
		return ANALYSIS_STOPPED;
	return ANALYSIS_STEP(step->kind) & p->steps ? hand_out(p, step) : 0;
}

static int end(const struct pass *p, const struct hyb_totals *totals)
{
	int r = 0;

	for (size_t i = 0; i < p->active_count && !r; i++)
		if (p->active[i].analysis->end)
			r = p->active[i].analysis->end(p->active[i].data, totals);
	return r;
}

static int cannot_read(struct hyb_experiment *experiment, int code, struct hyb_error *err)
{
	return error_set(err, code, "%s: %s", hyb_experiment_path(experiment),
		code == HYB_ENOMEM ? "out of memory" : "its trace cannot be read");
}

static int run_model(struct pass *p, struct hyb_experiment *experiment, struct hyb_error *err)
{
	struct hyb_model *model = hyb_model_open(experiment, err);
	const struct hyb_step *next;
	int r, more = 0;

	if (!model)
		return err->code;
	r = begin(p, experiment, NULL);
	while (!r && (more = hyb_model_next(model, &next)) > 0)
		r = step(p, next);
	if (!r)
		r = more ? cannot_read(experiment, more, err) : end(p, hyb_model_totals(model));
	hyb_model_close(model);
	return r;
}

static int run_location(struct pass *p, const struct hyb_location_info *location, struct hyb_error *err)
{
	struct hyb_experiment *experiment = location->process->experiment;
	struct hyb_events *events;
	struct hyb_event event;
	struct hyb_step next = {
		.kind = HYB_STEP_EVENT, .pos = 1, .event = &event, .call = {.time = HYB_TIME_UNKNOWN}};
	int r = begin(p, experiment, location), more = 0;

	if (r || !p->active_count)
		return r;
	events = hyb_events_open(experiment, location, !location->process->trace_events, err);
	if (!events)
		return err->code;
	for (; !r && (more = hyb_events_next(events, &event)) > 0; next.pos++)
		r = step(p, &next);
	if (!r)
		r = more ? cannot_read(experiment, more, err) : end(p, NULL);
	hyb_events_close(events);
	return r;
}

static int run_apart(struct pass *p, struct hyb_experiment *experiment, struct hyb_error *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < hyb_process_count(experiment); i++) {
		const struct hyb_process *process = hyb_process_at(experiment, i);

		for (size_t l = 0; !r && l < process->location_count; l++)
			r = run_location(p, &process->locations[l], err);
	}
	return r;
}

int analysis_run(struct hyb_experiment *experiment, const struct analysis_item *items, size_t count,
	const struct analysis_watch *watch, struct hyb_error *err)
{
	struct pass pass = {
		.items = items, .count = count, .watch = watch, .active = calloc(count + 1, sizeof(*items))};
	bool together = false, apart = false;
	int r = 0;

	err->code = 0;
	if (!pass.active)
		return cannot_read(experiment, HYB_ENOMEM, err);
	for (size_t i = 0; i < count; i++) {
		together |= items[i].analysis->steps && !items[i].analysis->apart;
		apart |= items[i].analysis->steps && items[i].analysis->apart;
	}
	if (together)
		r = run_model(&pass, experiment, err);
	pass.apart = true;
	if (!r && apart)
		r = run_apart(&pass, experiment, err);
	free(pass.active);
	return r;
}
