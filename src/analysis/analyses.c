/* The table of analyses. */
#include <stdlib.h>
#include <string.h>

#include "analysis/finding.h"
#include "analysis/matching/matching.h"
#include "base/error.h"

static const struct analysis *const analyses[] = {
	&imbalance_analysis,
	&gil_analysis,
	&matching_analysis,
	&notes_analysis,
};

#define ANALYSES (sizeof(analyses) / sizeof(*analyses))

static bool has_regions(struct hyb_experiment *experiment)
{
	for (size_t i = 0; i < hyb_process_count(experiment); i++)
		if (hyb_process_at(experiment, i)->trace_events)
			return true;
	return false;
}

static int map_parts(const struct profile *profile, struct map *parts)
{
	size_t count;
	const struct profile_part *list = profile_parts(profile, &count);

	for (size_t i = 0; i < count; i++)
		if (!map_put(parts, MAP_KEY((uintptr_t)list[i].location), (void *)&list[i]))
			return HYB_ENOMEM;
	return 0;
}

/* What costs most first; the rest in an order that does not depend on who found it when. */
static int by_severity(const void *pa, const void *pb)
{
	const struct finding *a = pa, *b = pb;

	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	if (a->kind != b->kind)
		return strcmp(a->kind->key, b->kind->key);
	return a->node != b->node ? (a->node > b->node) - (a->node < b->node) : strcmp(a->text, b->text);
}

static int find_in(const struct analysis_input *input, const struct analysis_watch *watch,
	struct findings *findings, struct hyb_error *err)
{
	struct analysis_item items[ANALYSES];
	int r = 0;

	for (size_t i = 0; i < ANALYSES; i++) {
		items[i] = (struct analysis_item){analyses[i], calloc(1, analyses[i]->size + 1)};
		r = r || !items[i].data ? HYB_ENOMEM : 0;
	}
	if (!r && has_regions(input->experiment))
		r = analysis_run(input->experiment, items, ANALYSES, watch, err);
	for (size_t i = 0; i < ANALYSES; i++) {
		if (!r)
			r = analyses[i]->find(items[i].data, input, findings);
		if (items[i].data && analyses[i]->release)
			analyses[i]->release(items[i].data);
		free(items[i].data);
	}
	return r;
}

static void finish(struct findings *findings, const struct profile *profile)
{
	uint64_t whole = profile_whole(profile_nodes(profile));

	for (size_t i = 0; i < findings->count && whole; i++)
		findings->items[i].share = (double)findings->items[i].severity / (double)whole;
	if (findings->count)
		qsort(findings->items, findings->count, sizeof(*findings->items), by_severity);
}

int analysis_find(struct hyb_experiment *const *experiments, size_t count, const struct profile *profile,
	const struct analysis_watch *watch, struct findings *ret, struct hyb_error *err)
{
	struct findings findings = {0};
	struct map parts = {0};
	int r = map_parts(profile, &parts);

	err->code = 0;
	for (size_t i = 0; i < count && !r; i++) {
		const struct analysis_input input = {experiments[i], profile, &parts};

		r = find_in(&input, watch, &findings, err);
	}
	map_release(&parts);
	if (!r) {
		finish(&findings, profile);
		*ret = findings;
		return 0;
	}
	findings_release(&findings);
	*ret = findings;
	return r < 0 && !err->code ? error_set(err, r, "out of memory") : r;
}
