/* A model over an experiment. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/model/state.h"

static void set_error(
	struct hyb_error *err, int code, const struct hyb_experiment *experiment, const char *what)
{
	err->code = code;
	snprintf(err->text, sizeof(err->text), "%s: %s", hyb_experiment_path(experiment), what);
}

static bool has_regions(struct hyb_experiment *experiment)
{
	for (size_t i = 0; i < hyb_process_count(experiment); i++)
		if (hyb_process_at(experiment, i)->trace_events)
			return true;
	return false;
}

static int start(struct hyb_model *model)
{
	size_t count = hyb_process_count(model->experiment);
	struct hyb_process **processes = calloc(count + 1, sizeof(*processes));
	int error = HYB_ENOMEM;

	for (size_t i = 0; processes && i < count; i++)
		processes[i] = hyb_process_at(model->experiment, i);
	if (processes)
		error = who_gather(model, processes, count);
	free(processes);
	return error;
}

struct hyb_model *hyb_model_open(struct hyb_experiment *experiment, struct hyb_error *err)
{
	struct hyb_model *model;

	if (!has_regions(experiment)) {
		set_error(err, HYB_EEMPTY, experiment,
			"there is no trace with regions in it; measure with hybrid-run --trace");
		return NULL;
	}
	model = calloc(1, sizeof(*model));
	if (model) {
		model->experiment = experiment;
		if (!start(model)) {
			model->events = hyb_events_open(experiment, NULL, false, err);
			if (model->events)
				return model;
			hyb_model_close(model);
			return NULL;
		}
	}
	hyb_model_close(model);
	set_error(err, HYB_ENOMEM, experiment, "out of memory");
	return NULL;
}

/* Resets the model to its state at the start. */
static int begin_again(struct hyb_model *model)
{
	struct hyb_error err = {.code = HYB_ENOMEM};
	struct hyb_model *fresh = hyb_model_open(model->experiment, &err), old = *model;

	if (!fresh)
		return err.code;
	*model = *fresh;
	*fresh = old;
	hyb_model_close(fresh);
	return HYB_OK;
}

int hyb_model_seek(struct hyb_model *model, uint64_t pos, const struct hyb_step **ret_step)
{
	int result = pos <= model->pos ? begin_again(model) : HYB_OK;

	if (result)
		return result;
	do
		result = hyb_model_next(model, ret_step);
	while (result > 0 && ((*ret_step)->kind != HYB_STEP_EVENT || (*ret_step)->pos < pos));
	return result;
}

void hyb_model_close(struct hyb_model *model)
{
	if (!model)
		return;
	hyb_events_close(model->events);
	model_release(model);
	free(model);
}
