#include "profile/share.h"

#include <stdlib.h>
#include <string.h>

#include "format/format.h"

static bool is_probe(const struct hyb_node_info *n)
{
	return n->type <= HYB_TYPE_FUNCTION;
}

/* The nearest probe above a probe; the root's is itself. */
static uint32_t probe_above(const struct hyb_node_info *nodes, uint32_t i)
{
	return i ? nodes[nodes[i].parent].probe : 0;
}

/* a * b / c, rounded to nearest; c > 0, and the result fits if a <= c. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)(((unsigned __int128)a * b + c / 2) / c);
}

/* What `part`, behind `before` of `whole`, gets of `amount`; over all parts the amount exactly. */
static uint64_t slice(uint64_t before, uint64_t part, uint64_t whole, uint64_t amount)
{
	return scale(before + part, amount, whole) - scale(before, amount, whole);
}

/* exclusive[] of probes = inclusive - inclusive of the probes below. The other arrays are zero before. */
static void probe_times(const struct hyb_node_info *nodes, size_t count, uint64_t *exclusive, uint64_t *below,
	uint64_t *passed)
{
	uint64_t *inclusive = exclusive;

	for (uint32_t i = 0; i < count; i++) {
		inclusive[i] = is_probe(&nodes[i]) ? nodes[i].inclusive : 0;
		if (i)
			below[probe_above(nodes, i)] += inclusive[i];
	}
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

/* Gives each probe's exclusive[] to the nodes where its samples were taken. The other arrays are zero before.
 */
static void share_out(const struct hyb_node_info *nodes, size_t count, uint64_t *exclusive, uint64_t *total,
	uint64_t *passed)
{
	for (size_t i = 0; i < count; i++)
		total[nodes[i].probe] += nodes[i].samples;
	/* backwards: a probe stands in front of its frames and keeps what they leave */
	for (size_t i = count; i-- > 0;) {
		uint32_t p = nodes[i].probe;

		if (!total[p])
			continue;
		if (is_probe(&nodes[i])) {
			exclusive[i] -= scale(passed[i], exclusive[i], total[i]);
			continue;
		}
		exclusive[i] = slice(passed[p], nodes[i].samples, total[p], exclusive[p]);
		passed[p] += nodes[i].samples;
	}
}

int share_location(const struct hyb_location_info *location, struct share *ret_share)
{
	size_t count = location->node_count;
	struct share share = {calloc(count, sizeof(uint64_t)), calloc(count, sizeof(uint64_t))};
	uint64_t *scratch = calloc(2 * count, sizeof(uint64_t));
	int r = HYB_ENOMEM;

	if (share.exclusive && share.blocked && scratch) {
		probe_times(location->nodes, count, share.exclusive, scratch, scratch + count);
		split_blocked(location, share.exclusive, share.blocked);
		memset(scratch, 0, 2 * count * sizeof(uint64_t));
		share_out(location->nodes, count, share.exclusive, scratch, scratch + count);
		*ret_share = share;
		share = (struct share){0};
		r = 0;
	}
	share_release(&share);
	free(scratch);
	return r;
}

void share_release(struct share *share)
{
	free(share->exclusive);
	free(share->blocked);
	*share = (struct share){0};
}
