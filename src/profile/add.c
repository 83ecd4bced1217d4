#include <stdio.h>

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
	/* a process without threads has something to say too, unless one was chosen */
	if (selected || !p->options.select)
		profile_add_process(p, process);
	return selected;
}

int profile_add(struct profile *p, struct hyb_experiment *experiment, struct hyb_symbols *symbols,
	struct hyb_error *err)
{
	struct resolver resolver = {look_up, symbols};
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < hyb_process_count(experiment); i++) {
		const struct hyb_process *process = hyb_process_at(experiment, i);
		int64_t start = (int64_t)process->start + process->realtime;
		int64_t end = (int64_t)process->end + process->realtime;
		int r = add_process(p, process, &resolver);

		if (r < 0) {
			err->code = r;
			snprintf(err->text, sizeof(err->text), "%.400s: out of memory", process->file);
			return r;
		}
		if (!r)
			continue;
		first = start < first ? start : first;
		last = end > last ? end : last;
	}
	p->quality.experiments++;
	p->quality.wall += last > first ? (uint64_t)last - (uint64_t)first : 0;
	p->quality.damage += hyb_damage_count(experiment);
	return 0;
}
