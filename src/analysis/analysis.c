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
	unsigned steps; /* that anybody wants */
	unsigned look; /* steps so far */
	bool *out; /* by item: leaves this location out */
};

static bool takes_part(const struct pass *p, size_t i)
{
	return p->items[i].analysis->steps && p->items[i].analysis->apart == p->apart && !p->out[i];
}

static int begin(struct pass *p, struct hyb_experiment *experiment, const struct hyb_location_info *location)
{
	p->steps = 0;
	for (size_t i = 0; i < p->count; i++) {
		const struct analysis *a = p->items[i].analysis;
		int r;

		p->out[i] = false;
		if (!takes_part(p, i))
			continue;
		r = a->begin ? a->begin(p->items[i].data, experiment, location) : 0;
		if (r < 0)
			return r;
		p->out[i] = r > 0;
		p->steps |= r ? 0 : a->steps;
	}
	return 0;
}

static int step(struct pass *p, const struct hyb_step *step)
{
	unsigned kind = ANALYSIS_STEP(step->kind);
	int r = 0;

	if (p->look++ % LOOK == 0 && p->watch && p->watch->stop(p->watch->data))
		return ANALYSIS_STOPPED;
	for (size_t i = 0; kind & p->steps && i < p->count && !r; i++)
		if (kind & p->items[i].analysis->steps && takes_part(p, i))
			r = p->items[i].analysis->step(p->items[i].data, step);
	return r;
}

static int end(const struct pass *p, const struct hyb_totals *totals)
{
	int r = 0;

	for (size_t i = 0; i < p->count && !r; i++)
		if (takes_part(p, i) && p->items[i].analysis->end)
			r = p->items[i].analysis->end(p->items[i].data, totals);
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

	if (r || !p->steps)
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
	struct pass pass = {.items = items, .count = count, .watch = watch, .out = calloc(count + 1, 1)};
	bool together = false, apart = false;
	int r = 0;

	err->code = 0;
	if (!pass.out)
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
	free(pass.out);
	return r;
}
