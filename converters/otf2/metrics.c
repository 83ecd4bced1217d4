/* Metric classes of what was read, of what the program counted, and what interrupted it. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "launch/metrics.h"
#include "converters/otf2/state.h"
#include "format/format.h"

/* The definition of a metric; NO_REF when memory is out. */
static uint32_t member_of(struct otf2 *o, const struct hyb_metric *metric)
{
	bool rate = o->job->counters == CONVERT_RATE && !metric->level;
	struct otf2_member key = {.name = strings_get(&o->strings, metric->name),
		.unit = strings_get(&o->strings, metric->unit),
		.text = strings_get(&o->strings, metric->description),
		.level = metric->level,
		.kind = metric_kind(metric->name),
		.real = rate};

	return key.name && key.unit && key.text ? row_map_number(&o->members, &key) : NO_REF;
}

static int add_metrics(struct otf2 *o, struct otf2_process *process)
{
	const struct hyb_process *info = process->info;

	for (size_t i = 0; i < info->metric_count && i < 16; i++) {
		const struct hyb_metric *metric = &info->metrics[i];
		struct otf2_metrics *set = &process->metrics[metric->process_wide];
		uint32_t n = set->count++;

		set->index[n] = (uint8_t)i;
		set->level[n] = metric->level;
		set->type[n] = o->job->counters == CONVERT_RATE && !metric->level ? OTF2_TYPE_DOUBLE
										  : OTF2_TYPE_INT64;
		set->member[n] = member_of(o, metric);
		if (set->member[n] == NO_REF)
			return HYB_ENOMEM;
	}
	return 0;
}

/* Processes with the same metrics share classes. */
static void number_classes(struct otf2 *o)
{
	for (size_t i = 0; i < o->process_count; i++)
		for (unsigned set = 0; set < 2; set++) {
			struct otf2_metrics *own = &o->processes[i].metrics[set];
			const struct otf2_metrics *before = i ? &o->processes[i - 1].metrics[set] : NULL;

			own->class_ref = NO_REF;
			if (!own->count)
				continue;
			if (before && before->count == own->count &&
				!memcmp(before->member, own->member, own->count * sizeof(*own->member)))
				own->class_ref = before->class_ref;
			else
				own->class_ref = o->metric_count++;
		}
	for (size_t i = 0; i < o->location_count; i++)
		o->locations[i].shared_metrics =
			o->locations[i].process->metrics[1].count ? o->metric_count++ : NO_REF;
}

static uint32_t generator_of(struct otf2 *o, const char *name, uint64_t period, bool count)
{
	struct otf2_generator key = {strings_get(&o->strings, name), period, count};

	return key.name ? row_map_number(&o->generators, &key) : NO_REF;
}

static int add_generators(struct otf2 *o, struct otf2_process *process)
{
	const struct hyb_process *info = process->info;
	const char *clock = info->source == HYB_SOURCE_WALL || info->source == HYB_SOURCE_TIMER
				    ? "wall clock time"
				    : "CPU time";
	uint64_t period = info->rate ? 1000000000u / info->rate : 0;

	if (!info->rate && info->location_count)
		period = info->locations[0].period;
	process->generator[0] = generator_of(o, clock, period, false);
	if (process->generator[0] == NO_REF)
		return HYB_ENOMEM;
	for (size_t i = 0; i < info->metric_count && i < 16; i++) {
		const struct hyb_metric *metric = &info->metrics[i];

		process->generator[i + 1] = process->generator[0];
		if (metric->period)
			process->generator[i + 1] = generator_of(o, metric->name, metric->period, true);
		if (process->generator[i + 1] == NO_REF)
			return HYB_ENOMEM;
	}
	return 0;
}

int otf2_metrics_make(struct otf2 *o)
{
	int r = 0;

	o->members.row_size = o->members.key_size = sizeof(struct otf2_member);
	o->generators.row_size = o->generators.key_size = sizeof(struct otf2_generator);
	o->counters.row_size = o->counters.key_size = sizeof(struct otf2_counter);
	for (size_t i = 0; !r && i < o->process_count; i++) {
		r = add_metrics(o, &o->processes[i]);
		if (!r)
			r = add_generators(o, &o->processes[i]);
	}
	if (!r)
		number_classes(o);
	return r;
}

uint32_t otf2_counter_ref(struct otf2 *o, const char *name, const char *unit, bool real)
{
	struct otf2_counter key = {.real = real};
	uint32_t ref = NO_REF;

	pthread_mutex_lock(&o->lock);
	key.name = strings_get(&o->strings, name);
	key.unit = strings_get(&o->strings, unit);
	if (key.name && key.unit)
		ref = row_map_number(&o->counters, &key);
	pthread_mutex_unlock(&o->lock);
	return ref == NO_REF ? NO_REF : o->metric_count + ref;
}
