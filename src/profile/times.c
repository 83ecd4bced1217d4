#include "profile/times.h"

#include <stdlib.h>

#include "format/format.h"
#include "profile/slice.h"

static bool is_probe(const struct hyb_node_info *n)
{
	return n->type <= HYB_TYPE_FUNCTION;
}

/* The nearest probe above a probe; the root's is itself. */
static uint32_t probe_above(const struct hyb_node_info *nodes, uint32_t i)
{
	return i ? nodes[nodes[i].parent].probe : 0;
}

/* From inclusive[], 0 for frames, makes exclusive[] in its place: without the probes below. The other arrays
 * are zero before. */
static void probe_times(const struct hyb_node_info *nodes, size_t count, uint64_t *exclusive, uint64_t *below,
	uint64_t *passed)
{
	uint64_t *inclusive = exclusive;

	for (uint32_t i = 1; i < count; i++)
		below[probe_above(nodes, i)] += inclusive[i];
	for (uint32_t i = 1; i < count; i++) {
		uint32_t p = probe_above(nodes, i);
		uint64_t measured = inclusive[i];

		if (below[p] > inclusive[p])
			inclusive[i] = slice(passed[p], measured, below[p], inclusive[p]);
		passed[p] += measured;
	}
	for (uint32_t i = 0; i < count; i++)
		exclusive[i] = below[i] > inclusive[i] ? 0 : inclusive[i] - below[i];
}

/* Moves what probes waited from exclusive[] to blocked[]. */
static void split_blocked(const struct hyb_location_info *location, uint64_t *exclusive, uint64_t *blocked)
{
	const struct hyb_node_info *nodes = location->nodes;
	uint64_t wall = nodes[0].inclusive;
	uint64_t wait = wall > location->cpu ? wall - location->cpu : 0;
	uint64_t room = 0, passed = 0;

	if (location->source == HYB_SOURCE_NONE || location->source == HYB_SOURCE_WALL)
		return;
	for (size_t i = 0; i < location->node_count; i++)
		if (exclusive[i] > nodes[i].ran)
			room += exclusive[i] - nodes[i].ran;
	if (wait > room)
		wait = room;
	for (size_t i = 0; wait && i < location->node_count; i++) {
		uint64_t part = exclusive[i] > nodes[i].ran ? exclusive[i] - nodes[i].ran : 0;

		blocked[i] = slice(passed, part, room, wait);
		exclusive[i] -= blocked[i];
		passed += part;
	}
}

int times_of_location(const struct hyb_location_info *location, struct times *ret_times)
{
	size_t count = location->node_count;
	struct times times = {calloc(count, sizeof(uint64_t)), calloc(count, sizeof(uint64_t))};
	uint64_t *scratch = calloc(2 * count, sizeof(uint64_t));
	int r = HYB_ENOMEM;

	if (times.exclusive && times.blocked && scratch) {
		for (size_t i = 0; i < count; i++)
			times.exclusive[i] = is_probe(&location->nodes[i]) ? location->nodes[i].inclusive : 0;
		probe_times(location->nodes, count, times.exclusive, scratch, scratch + count);
		split_blocked(location, times.exclusive, times.blocked);
		*ret_times = times;
		times = (struct times){0};
		r = 0;
	}
	times_release(&times);
	free(scratch);
	return r;
}

/* What may go down is not cut. Wraps as it likes. */
static void plain_differences(const struct hyb_node_info *nodes, size_t count, uint64_t *values)
{
	for (uint32_t i = 1; i < count; i++) /* which is whole still: what is below comes later */
		if (is_probe(&nodes[i]))
			values[probe_above(nodes, i)] -= values[i];
}

int times_of_metric(const struct hyb_location_info *location, size_t metric, int64_t *ret_exclusive)
{
	const struct hyb_node_info *nodes = location->nodes;
	size_t count = location->node_count;
	uint64_t *values = (uint64_t *)ret_exclusive, *scratch;
	bool plain = location->process->metrics[metric].level;

	for (size_t i = 0; i < count; i++) {
		ret_exclusive[i] = is_probe(&nodes[i]) && nodes[i].values ? nodes[i].values[metric] : 0;
		plain |= ret_exclusive[i] < 0;
	}
	if (plain) {
		plain_differences(nodes, count, values);
		return 0;
	}
	scratch = calloc(2 * count, sizeof(*scratch));
	if (!scratch)
		return HYB_ENOMEM;
	probe_times(nodes, count, values, scratch, scratch + count);
	free(scratch);
	return 0;
}

uint64_t times_period(const struct hyb_location_info *location)
{
	const struct hyb_process *process = location->process;

	for (size_t i = 0; location->source == HYB_SOURCE_EVENT && i < process->metric_count; i++)
		if (process->metrics[i].period)
			return process->metrics[i].period;
	return location->period;
}

void times_release(struct times *times)
{
	free(times->exclusive);
	free(times->blocked);
	*times = (struct times){0};
}
