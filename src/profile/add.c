#include "base/array.h"
#include "base/error.h"
#include "profile/origin.h"
#include "profile/state.h"

static const struct hyb_frame *look_up(
	void *data, const struct hyb_module *module, uint64_t address, bool call, size_t *ret_count)
{
	return hyb_symbols_lookup(data, module, address, call, ret_count);
}

static bool is_selected(const struct profile *p, const struct hyb_location_info *location)
{
	return !p->options.select || p->options.select(p->options.data, location);
}

/* Adds the selected locations. Their number, or a negative enum hyb_result. */
static int add_process(struct profile *p, const struct hyb_process *process, const struct resolver *resolver)
{
	int selected = 0;

	for (size_t i = 0; i < process->location_count; i++) {
		int r;

		if (!is_selected(p, &process->locations[i]))
			continue;
		selected++;
		r = profile_add_location(p, &process->locations[i], resolver);
		if (r)
			return r;
	}
	return profile_end_process(p, process, selected) ? HYB_ENOMEM : selected;
}

struct profile_span *profile_span(struct profile *p, size_t experiment)
{
	while (p->span_count <= experiment) {
		if (!ARRAY_ADD(p->spans, p->span_count, (struct profile_span){INT64_MAX, INT64_MIN}))
			return NULL;
	}
	return &p->spans[experiment];
}

static void extend(struct profile_span *span, const struct hyb_process *process)
{
	int64_t start = origin_realtime(process, process->start);
	int64_t end = origin_realtime(process, process->end);

	span->first = start < span->first ? start : span->first;
	span->last = end > span->last ? end : span->last;
}

/* Adds the process to those that were seen. 1: it was seen before; 0: it is new; or HYB_ENOMEM. */
static int is_known(struct profile *p, const struct hyb_process *process)
{
	struct identity identity = {
		strings_get(&p->strings, process->host), process->pid, p->quality.experiments};
	size_t count = p->seen.count;

	if (!identity.host || !row_map_row(&p->seen, &identity))
		return HYB_ENOMEM;
	return p->seen.count == count;
}

static int add_experiment(struct profile *p, struct hyb_experiment *experiment,
	const struct resolver *resolver, struct profile_span *span)
{
	for (size_t i = 0; i < hyb_process_count(experiment); i++) {
		const struct hyb_process *process = hyb_process_at(experiment, i);
		int selected = add_process(p, process, resolver), again;

		if (selected < 0)
			return selected;
		if (selected)
			extend(span, process);
		/* a process without threads counts for the quality, too, unless the user chose one thread */
		if (!selected && p->options.select)
			continue;
		again = is_known(p, process);
		if (again < 0)
			return again;
		profile_add_process(p, process, again);
	}
	return 0;
}

int profile_add(struct profile *p, struct hyb_experiment *experiment, struct hyb_symbols *symbols,
	struct hyb_error *err)
{
	struct profile_span *span = profile_span(p, p->quality.experiments);
	struct resolver resolver = {look_up, symbols};
	int r;

	p->experiment = experiment;
	r = span ? add_experiment(p, experiment, &resolver, span) : HYB_ENOMEM;
	p->experiment = NULL;
	if (r)
		return error_set(err, r, "%.400s: out of memory", hyb_experiment_path(experiment));
	p->quality.experiments++;
	p->quality.damage += hyb_damage_count(experiment);
	return 0;
}
