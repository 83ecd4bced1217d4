#include "profile/merge.h"

#include <stdlib.h>

#include "format/format.h"
#include "profile/slice.h"
#include "profile/times.h"

static bool was_off(const struct hyb_node_info *node)
{
	return node->type > HYB_TYPE_FUNCTION && node->type < HYB_TYPE_AWAIT && (node->waited || node->ready);
}

bool merge_holds(const struct hyb_node_info *node, size_t metrics)
{
	for (size_t k = 0; node->overflows && k < metrics; k++)
		if (node->overflows[k])
			return true;
	return node->samples || was_off(node);
}

static void add_message(struct profile_node *to, const struct hyb_node_info *from)
{
	to->messages += from->calls;
	to->sent += from->sent;
	to->received += from->received;
}

/*
 * Of a probe in a location: samples that have its time to themselves, and those that have got their part of
 * it. A probe that ran for few periods may have no sample at all: it shares with those of other locations.
 * What decides is the time and not the number of samples, or else those that chance gave more would be
 * preferred. Of 8 intervals between interrupts one in 3,000 has none. A sample taken at a lower rate or in
 * windows stands for several periods.
 */
struct alone {
	uint64_t samples, passed;
};
#define ALONE_INTERVALS 8

/* ns from one interrupt to the next. */
static uint64_t interval_of(const struct hyb_location_info *location)
{
	uint64_t taken =
		location->taken && location->source != HYB_SOURCE_WALL ? location->taken : location->samples;
	uint64_t each = taken ? location->samples / taken : 1;
	uint64_t interval;

	return __builtin_mul_overflow(times_period(location), each ? each : 1, &interval) ? UINT64_MAX
											  : interval;
}

static struct alone *find_alone(const struct hyb_location_info *location, const struct times *times)
{
	struct alone *alone = calloc(location->node_count, sizeof(*alone));
	uint64_t interval = interval_of(location);

	for (uint32_t i = 0; alone && i < location->node_count; i++) {
		struct alone *a = &alone[location->nodes[i].probe];

		if (times->exclusive[location->nodes[i].probe] / ALONE_INTERVALS < interval)
			continue;
		if (__builtin_add_overflow(a->samples, location->nodes[i].samples, &a->samples))
			a->samples = UINT64_MAX;
	}
	return alone;
}

/* Times and samples of node i: its part, or to where they will be shared out. */
static int add_shares(const struct merge *m, const struct hyb_location_info *location, uint32_t i,
	const struct times *times, struct alone *alone, uint32_t own)
{
	uint64_t samples = location->nodes[i].samples, ran = times->exclusive[i];
	uint32_t probe = location->nodes[i].probe;
	struct alone *a = &alone[probe];

	if (a->samples) {
		uint64_t room = a->samples - a->passed, part = samples < room ? samples : room;

		ran = slice(a->passed, part, a->samples, times->exclusive[probe]);
		a->passed += part;
		return ran ? share_add_time(m->share, NULL, SHARE_IN_PLACE, own, ran) : 0;
	}
	if (ran && share_add_time(m->share, m->program, location->source, own, ran))
		return HYB_ENOMEM;
	if (!samples)
		return 0;
	return share_add_samples(
		m->share, m->program, location->source, own, samples, times_period(location));
}

/* The same for the rank, and what was blocked. */
static int add_spread(const struct merge *m, const struct hyb_location_info *location, uint32_t i,
	const struct times *times, uint32_t own)
{
	uint64_t period = times_period(location) ? times_period(location) : 1;
	uint64_t weight = location->nodes[i].samples * period;
	bool sampled = location->source != HYB_SOURCE_NONE;
	struct spread_now now = {.fixed = times->blocked[i] + (sampled ? 0 : times->exclusive[i]),
		.amount = sampled ? times->exclusive[i] : 0,
		.weight = sampled ? weight : 0};

	if (!now.fixed && !now.amount && !now.weight && !location->nodes[i].calls)
		return 0;
	return spreads_add(m->spreads, m->tree, own, &now);
}

static int add_metrics(const struct merge *m, const struct hyb_location_info *location, const uint32_t *own)
{
	struct metric_sums_target target = {.tree = m->tree,
		.strings = m->strings,
		.program = m->program,
		.own = own,
		.speaks = m->speaks,
		.spreads = m->spreads,
		.spread_name = m->spread_metric,
		.experiment = m->experiment};

	return metric_sums_add_location(m->metrics, location, &target);
}

int merge_values(struct merge *m, const struct hyb_location_info *location, const struct times *times,
	const uint32_t *own)
{
	struct alone *alone = find_alone(location, times);
	int r = alone ? 0 : HYB_ENOMEM;

	for (uint32_t i = 0; !r && i < location->node_count; i++) {
		const struct hyb_node_info *from = &location->nodes[i];
		struct profile_node *to = &m->tree->nodes[own[i]];

		if (from->type == HYB_TYPE_MESSAGE) {
			add_message(to, from);
			continue;
		}
		m->blocked += from->probe ? times->blocked[i] : 0;
		to->blocked += times->blocked[i];
		to->ready += times->ready[i];
		to->samples += from->samples;
		if (from->type == HYB_TYPE_REGION || from->type == HYB_TYPE_FUNCTION) {
			to->calls += from->calls;
			to->skipped += from->skipped;
			to->demoted |= from->demoted;
			tree_extend_range(to, from->least, from->most);
		}
		if (m->spreads && !m->spread_metric)
			r = add_spread(m, location, i, times, own[i]);
		if (location->source == HYB_SOURCE_NONE)
			to->exclusive += times->exclusive[i];
		else if (!r)
			r = add_shares(m, location, i, times, alone, own[i]);
	}
	free(alone);
	return r ? r : add_metrics(m, location, own);
}
