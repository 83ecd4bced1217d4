#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	return selected;
}

/* Whether one of the first `count` of the list is an earlier program of this process. */
static bool is_among(const struct hyb_process *process, const struct hyb_process *const *added, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (added[i]->pid == process->pid && !strcmp(added[i]->host, process->host))
			return true;
	return false;
}

/* The time from the first start to the last end. */
struct span {
	int64_t first, last;
};

static void extend(struct span *span, const struct hyb_process *process)
{
	int64_t start = (int64_t)process->start + process->realtime;
	int64_t end = (int64_t)process->end + process->realtime;

	span->first = start < span->first ? start : span->first;
	span->last = end > span->last ? end : span->last;
}

int profile_add(struct profile *p, struct hyb_experiment *experiment, struct hyb_symbols *symbols,
	struct hyb_error *err)
{
	struct resolver resolver = {look_up, symbols};
	struct span span = {INT64_MAX, INT64_MIN};
	const struct hyb_process **added = calloc(hyb_process_count(experiment) + 1, sizeof(*added));
	size_t count = 0;
	int r = added ? 0 : HYB_ENOMEM;

	for (size_t i = 0; r >= 0 && i < hyb_process_count(experiment); i++) {
		const struct hyb_process *process = hyb_process_at(experiment, i);

		r = add_process(p, process, &resolver);
		if (r > 0)
			extend(&span, process);
		/* a process without threads has something to say too, unless one was chosen */
		if (r > 0 || (!r && !p->options.select)) {
			profile_add_process(p, process, is_among(process, added, count));
			added[count++] = process;
		}
	}
	free(added);
	if (r < 0) {
		err->code = r;
		snprintf(err->text, sizeof(err->text), "%.400s: out of memory",
			hyb_experiment_path(experiment));
		return r;
	}
	p->quality.experiments++;
	p->quality.wall += span.last > span.first ? (uint64_t)span.last - (uint64_t)span.first : 0;
	p->quality.damage += hyb_damage_count(experiment);
	return 0;
}
