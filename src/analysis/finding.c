#include "analysis/finding.h"

#include <stdlib.h>

#include "base/array.h"

struct finding *findings_add(struct findings *findings, const struct finding_kind *kind)
{
	struct finding *finding;

	if (!ARRAY_ROOM(findings->items, findings->count))
		return NULL;
	finding = &findings->items[findings->count++];
	*finding = (struct finding){.kind = kind, .confidence = 1};
	return finding;
}

bool finding_add_who(struct finding *f, const struct hyb_location_info *location, double share)
{
	return ARRAY_ADD(f->who, f->who_count, (struct finding_who){location, share});
}

bool finding_add_cause(
	struct finding *f, const struct hyb_location_info *location, uint32_t node, double share)
{
	return ARRAY_ADD(f->because, f->because_count, (struct finding_cause){location, node, share});
}

bool finding_add_instance(struct finding *f, const struct finding_instance *instance)
{
	if (f->instance_count == FINDING_INSTANCES)
		return true;
	return ARRAY_ADD(f->instances, f->instance_count, *instance);
}

void findings_release(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].who);
		free(findings->items[i].because);
		free(findings->items[i].instances);
	}
	free(findings->items);
	*findings = (struct findings){0};
}

/* ------------------------------------------------------------------ the tree */

uint32_t analysis_node(
	const struct analysis_input *input, const struct hyb_location_info *location, uint32_t node)
{
	const struct profile_part *part =
		location ? map_get(input->parts, MAP_KEY((uintptr_t)location)) : NULL;

	return part ? part->nodes[node] : 0;
}

static int by_node(const void *pa, const void *pb)
{
	const struct node_time *a = pa, *b = pb;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->location > b->location) - (a->location < b->location);
}

/* Nodes of a location that were merged into one count as one. */
static size_t join(struct node_time *times, size_t count)
{
	size_t to = 0;

	for (size_t i = 0; i < count; i++) {
		if (to && !by_node(&times[to - 1], &times[i])) {
			times[to - 1].ns += times[i].ns;
			times[to - 1].calls += times[i].calls;
		} else {
			times[to++] = times[i];
		}
	}
	return to;
}

int analysis_times(const struct analysis_input *input, bool (*wanted)(const struct hyb_node_info *node),
	struct node_time **ret, size_t *ret_count)
{
	struct node_time *times = NULL;
	size_t part_count, count = 0;
	const struct profile_part *parts = profile_parts(input->profile, &part_count);

	for (size_t p = 0; p < part_count; p++) {
		const struct hyb_location_info *l = parts[p].location;

		for (uint32_t i = 1; l->process->experiment == input->experiment && i < l->node_count; i++) {
			const struct hyb_node_info *n = &l->nodes[i];

			if (n->probe != i || !n->calls || !wanted(n))
				continue;
			if (!ARRAY_ROOM(times, count)) {
				free(times);
				return HYB_ENOMEM;
			}
			times[count++] = (struct node_time){parts[p].nodes[i], l, n->inclusive, n->calls};
		}
	}
	if (count)
		qsort(times, count, sizeof(*times), by_node);
	*ret = times;
	*ret_count = join(times, count);
	return 0;
}
