#include "profile/times.h"

#include <stdlib.h>
#include <string.h>

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

/* What a probe has beside the CPU time that samples saw in it. */
static uint64_t room_of(const struct hyb_node_info *node, uint64_t exclusive)
{
	return exclusive > node->ran ? exclusive - node->ran : 0;
}

static bool is_frame(const struct hyb_node_info *n)
{
	return n->type > HYB_TYPE_FUNCTION && n->type < HYB_TYPE_AWAIT;
}

/* What was seen off the CPU at frames, by probe. False: more than there can be, of a damaged file. */
static bool sum_seen(const struct hyb_location_info *location, uint64_t *seen)
{
	const struct hyb_node_info *nodes = location->nodes;

	for (size_t i = 0; i < location->node_count; i++) {
		uint64_t *sum = &seen[nodes[i].probe];

		if (is_frame(&nodes[i]) && (__builtin_add_overflow(*sum, nodes[i].waited, sum) ||
						   __builtin_add_overflow(*sum, nodes[i].ready, sum)))
			return false;
	}
	return true;
}

/* Places what was seen at frames; less, where estimates say more than their probe has room for, or than
 * `most` in all. Returns how much it is. `scratch`: three zeroes a node. */
static uint64_t place_seen(
	const struct hyb_location_info *location, uint64_t most, const struct times *times, uint64_t *scratch)
{
	const struct hyb_node_info *nodes = location->nodes;
	size_t count = location->node_count;
	uint64_t *seen = scratch, *passed = scratch + count, *within = scratch + 2 * count;
	uint64_t all = 0, before = 0, placed = 0;

	if (!sum_seen(location, seen))
		return 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t room = room_of(&nodes[i], times->exclusive[i]);

		within[i] = !is_probe(&nodes[i]) ? 0 : seen[i] < room ? seen[i] : room;
		all += within[i];
	}
	for (size_t i = 0; all > most && i < count; i++) {
		uint64_t wanted = within[i];

		within[i] = slice(before, wanted, all, most);
		before += wanted;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t p = nodes[i].probe;
		uint64_t part = is_frame(&nodes[i]) ? nodes[i].waited + nodes[i].ready : 0;

		if (!part)
			continue;
		times->blocked[i] = slice(passed[p], part, seen[p], within[p]);
		times->ready[i] = slice_scale(times->blocked[i], nodes[i].ready, part);
		passed[p] += part;
		placed += times->blocked[i];
	}
	for (size_t i = 0; i < count; i++)
		if (is_frame(&nodes[i]))
			times->exclusive[nodes[i].probe] -= times->blocked[i];
	return placed;
}

/* Takes `excess` off what was ready at frames: where they waited, too, it may be an estimate. */
static void cut_ready(const struct hyb_location_info *location, uint64_t excess, const struct times *times)
{
	const struct hyb_node_info *nodes = location->nodes;
	uint64_t estimated = 0, seen = 0, *sum;
	bool all;

	for (size_t i = 0; i < location->node_count; i++) {
		sum = is_frame(&nodes[i]) && nodes[i].waited ? &estimated : &seen;
		*sum += times->ready[i];
	}
	all = estimated < excess;
	seen = all ? seen + estimated : estimated;
	for (size_t i = 0; i < location->node_count; i++)
		if (all || (is_frame(&nodes[i]) && nodes[i].waited))
			times->ready[i] = slice_scale(times->ready[i], seen - excess, seen);
}

/* Divides `ready` among the probes' part of what is blocked; less than was seen at frames cuts those. */
static void place_ready(const struct hyb_location_info *location, uint64_t ready, const struct times *times)
{
	const struct hyb_node_info *nodes = location->nodes;
	uint64_t seen = 0, blocked = 0, passed = 0;

	for (size_t i = 0; i < location->node_count; i++) {
		seen += times->ready[i];
		blocked += is_probe(&nodes[i]) ? times->blocked[i] : 0;
	}
	if (seen > ready)
		cut_ready(location, seen - ready, times);
	if (seen >= ready || !blocked)
		return;
	ready = ready - seen < blocked ? ready - seen : blocked;
	for (size_t i = 0; i < location->node_count; i++)
		if (is_probe(&nodes[i])) {
			times->ready[i] = slice(passed, times->blocked[i], blocked, ready);
			passed += times->blocked[i];
		}
}

/* Moves what did not run from exclusive[] to blocked[]. `scratch`: three zeroes a node. */
static void split_blocked(
	const struct hyb_location_info *location, const struct times *times, uint64_t *scratch)
{
	const struct hyb_node_info *nodes = location->nodes;
	uint64_t wall = nodes[0].inclusive;
	uint64_t off = wall > location->cpu ? wall - location->cpu : 0;
	uint64_t room = 0, passed = 0, rest;

	if (location->source == HYB_SOURCE_NONE || location->source == HYB_SOURCE_WALL)
		return;
	for (size_t i = 0; i < location->node_count; i++)
		room += room_of(&nodes[i], times->exclusive[i]);
	off = off < room ? off : room;
	rest = place_seen(location, off, times, scratch);
	room -= rest;
	rest = off - rest;
	for (size_t i = 0; rest && room && i < location->node_count; i++) {
		uint64_t part = room_of(&nodes[i], times->exclusive[i]);

		times->blocked[i] += slice(passed, part, room, rest);
		times->exclusive[i] -= slice(passed, part, room, rest);
		passed += part;
	}
	place_ready(location, location->ready < off ? location->ready : off, times);
}

int times_of_location(const struct hyb_location_info *location, struct times *ret_times)
{
	size_t count = location->node_count;
	struct times times = {calloc(count, sizeof(uint64_t)), calloc(count, sizeof(uint64_t)),
		calloc(count, sizeof(uint64_t))};
	uint64_t *scratch = calloc(3 * count, sizeof(uint64_t));
	int r = HYB_ENOMEM;

	if (times.exclusive && times.blocked && times.ready && scratch) {
		for (size_t i = 0; i < count; i++)
			times.exclusive[i] = is_probe(&location->nodes[i]) ? location->nodes[i].inclusive : 0;
		probe_times(location->nodes, count, times.exclusive, scratch, scratch + count);
		memset(scratch, 0, 3 * count * sizeof(*scratch));
		split_blocked(location, &times, scratch);
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
	free(times->ready);
	*times = (struct times){0};
}
