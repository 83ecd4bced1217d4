#include "viewer/timeline/read.h"

#include <stdlib.h>
#include <string.h>

#include "profile/origin.h"

#define LOOK 4096u /* events between two looks at whether to stop */

static uint64_t *origins_of(const struct snapshot *s)
{
	uint64_t *origins = calloc(s->location_count + 1, sizeof(*origins));
	const struct hyb_process *last = NULL;

	for (size_t i = 0; origins && i < s->location_count; i++) {
		const struct hyb_process *process = s->locations[i]->process;

		if (last && process->experiment == last->experiment &&
			origin_shift(process) == origin_shift(last))
			origins[i] = origins[i - 1];
		else
			origins[i] = origin_of(process);
		last = process;
	}
	return origins;
}

/* Nothing happened in it: a thread that only waits, of a library of MPI. */
static bool is_idle(const struct hyb_location_info *location)
{
	return location->node_count == 1 && !location->nodes[0].samples;
}

/* Experiment by experiment, ranks in their order, what is none behind them, idle threads last. */
static int compare_locations(const void *pa, const void *pb, void *data)
{
	const struct snapshot *s = data;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct hyb_process *pra = s->locations[a]->process, *prb = s->locations[b]->process;
	bool idle_a = is_idle(s->locations[a]), idle_b = is_idle(s->locations[b]);

	if (pra->experiment == prb->experiment && idle_a != idle_b)
		return idle_a - idle_b;
	if (pra->experiment == prb->experiment && pra->world != prb->world)
		return pra->world - 1 < prb->world - 1 ? -1 : 1;
	if (pra->experiment == prb->experiment && pra->rank != prb->rank)
		return pra->rank < prb->rank ? -1 : 1;
	return (a > b) - (a < b);
}

static void choose_locations(struct timeline_base *base)
{
	const struct snapshot *s = base->snapshot;

	for (uint32_t i = 0; i < s->location_count; i++) {
		if (!s->own[i])
			continue;
		base->locations[base->location_count++] = i;
		if (s->locations[i]->end > base->origins[i] + base->length)
			base->length = s->locations[i]->end - base->origins[i];
	}
	qsort_r(base->locations, base->location_count, sizeof(*base->locations), compare_locations,
		base->snapshot);
}

struct timeline_base *timeline_base_new(struct snapshot *s)
{
	struct timeline_base *base = calloc(1, sizeof(*base));

	if (!base)
		return NULL;
	base->references = 1;
	base->snapshot = snapshot_keep(s);
	base->length = 1;
	base->origins = origins_of(s);
	base->locations = calloc(s->location_count + 1, sizeof(*base->locations));
	if (!base->origins || !base->locations) {
		timeline_base_drop(base);
		return NULL;
	}
	choose_locations(base);
	return base;
}

struct timeline_base *timeline_base_keep(struct timeline_base *base)
{
	base->references++;
	return base;
}

void timeline_base_drop(struct timeline_base *base)
{
	if (!base || --base->references)
		return;
	for (unsigned by = 0; by < GROUP_BYS; by++)
		groups_release(&base->groups[by]);
	weave_tree_release(&base->tree);
	free(base->locations);
	free(base->origins);
	snapshot_drop(base->snapshot);
	free(base);
}

int timeline_base_make(struct timeline_base *base)
{
	const struct profile_node *nodes = profile_nodes(base->snapshot->profile);
	size_t count = profile_count(base->snapshot->profile);
	int r;

	if (base->tree.parent)
		return 0;
	r = weave_tree_make(&base->tree, nodes, count);
	for (unsigned by = 0; !r && by < GROUP_BYS; by++)
		r = groups_make(&base->groups[by], nodes, count, (enum group_by)by);
	if (r)
		weave_tree_release(&base->tree);
	return r;
}

struct reading {
	const struct timeline_base *base;
	const uint32_t *locations; /* by row */
	struct job *job;
	struct lanes lanes;
	uint64_t done, total; /* events */
};

static const struct hyb_location_info *location_of(const struct reading *r, size_t row)
{
	return r->base->snapshot->locations[r->locations[row]];
}

/* The index of the counter among the metrics of the location's process. What all threads of a process see
 * at once counts for the first one. */
static size_t metric_of(const struct reading *r, size_t row, const char *counter)
{
	struct hyb_process *process = location_of(r, row)->process;

	for (size_t i = 0; counter && i < process->metric_count; i++) {
		const struct hyb_metric *metric = &process->metrics[i];

		if (strcmp(metric->name, counter) != 0)
			continue;
		if (metric->process_wide && row && location_of(r, row - 1)->process == process)
			return SIZE_MAX;
		return i;
	}
	return SIZE_MAX;
}

static void show_progress(struct reading *r, uint64_t more)
{
	uint64_t done = r->done + more;

	atomic_store(
		&r->job->permille, r->total && done < r->total ? (unsigned)(done * 1000 / r->total) : 1000);
}

/* The events of a row up to the window's end. 0 or enum hyb_result. */
static int read_lane(struct reading *r, struct lane *lane, struct hyb_events *events)
{
	struct hyb_event event;
	uint64_t n = 0;
	int more, over = 0;

	while (!over && (more = hyb_events_next(events, &event)) != 0) {
		if (more < 0)
			return more;
		over = lane_event(lane, &event);
		if (++n % LOOK)
			continue;
		if (atomic_load(&r->job->stop))
			return 0;
		show_progress(r, n);
	}
	return over < 0 ? over : 0;
}

static int read_row(struct reading *r, size_t row, struct hyb_error *err)
{
	const struct hyb_location_info *location = location_of(r, row);
	uint32_t index = r->locations[row];
	struct hyb_events *events = hyb_events_open(location->process->experiment, location, false, err);
	struct lane *lane;
	int result;

	if (!events)
		return err->code;
	lane = lane_new(&r->lanes, row, location, r->base->snapshot->own[index], r->base->origins[index],
		metric_of(r, row, r->lanes.timeline->counter));
	result = lane ? read_lane(r, lane, events) : HYB_ENOMEM;
	if (lane)
		lane_end(lane);
	hyb_events_close(events);
	r->done += location->events;
	show_progress(r, 0);
	return result;
}

static int read_rows(struct reading *r, struct hyb_error *err)
{
	for (size_t row = 0; row < r->lanes.timeline->rows; row++) {
		int result = read_row(r, row, err);

		if (result || atomic_load(&r->job->stop))
			return result;
	}
	return 0;
}

int timeline_read(const struct timeline_base *base, const struct timeline_options *options,
	const uint32_t *locations, struct job *job, struct timeline **ret, struct hyb_error *err)
{
	const struct profile_node *nodes = profile_nodes(base->snapshot->profile);
	struct reading r = {.base = base, .locations = locations, .job = job};
	struct timeline *timeline = timeline_new(options, nodes, base->tree.count);
	int result = HYB_ENOMEM;

	for (size_t row = 0; row < options->rows; row++)
		r.total += location_of(&r, row)->events;
	err->code = 0;
	if (timeline && !lanes_init(&r.lanes, timeline, &base->tree)) {
		result = read_rows(&r, err);
		timeline_finish(&r.lanes);
		for (unsigned by = 0; by < GROUP_BYS; by++)
			groups_sum(&base->groups[by], timeline->nodes, timeline->shares[by]);
	}
	lanes_release(&r.lanes);
	if (result && !err->code)
		*err = (struct hyb_error){result, "the timeline cannot be made: memory is out"};
	if (result || atomic_load(&job->stop)) {
		timeline_free(timeline);
		timeline = NULL;
	}
	*ret = timeline;
	return result;
}
