/* Ranks that spend longer in a call of MPI than others do, by call path. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/finding.h"
#include "profile/metrics/figures.h"

static const struct finding_kind imbalance_kind = {
	.key = "mpi-imbalance",
	.name = "imbalance in MPI",
	.meaning = "Ranks spend longer in this call of MPI than the rank that spends least in it. Often they "
		   "wait for that rank, which has more to do before the call.",
	.computed = "The time of each rank in the call, measured by probes on this call path, less the time "
		    "of the rank that spends least in it; summed over the ranks. Only calls that all ranks "
		    "make on the same call path are compared.",
	.advice = "Look at what the rank that spends least in the call does before it (--by-rank), and share "
		  "the work out more evenly.",
};

/* All of a rank at a node. */
struct rank_time {
	const struct hyb_location_info *location; /* the first of its threads */
	uint64_t ns;
};

static bool is_mpi(const struct hyb_node_info *node)
{
	return node->region && node->region->mpi && node->type == HYB_TYPE_REGION;
}

/* Ranks of the world that take part. */
static size_t count_ranks(const struct analysis_input *input, uint64_t world)
{
	size_t count, ranks = 0;
	const struct profile_part *parts = profile_parts(input->profile, &count);

	for (size_t i = 0; i < count; i++) {
		const struct hyb_process *process = parts[i].location->process;

		ranks += process->experiment == input->experiment && process->world == world &&
			 (!i || parts[i - 1].location->process != process);
	}
	return ranks;
}

/* Whoever spends most first. */
static int by_time(const void *pa, const void *pb)
{
	const struct rank_time *a = pa, *b = pb;
	uint32_t rank_a = a->location->process->rank, rank_b = b->location->process->rank;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (rank_a > rank_b) - (rank_a < rank_b);
}

/* Ranks of the times of a node, with most time first. False: they are none, or of several worlds. */
static bool sum_ranks(const struct node_time *times, size_t count, struct rank_time *ranks, size_t *ret_count)
{
	uint64_t world = times->location->process->world;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct hyb_location_info *l = times[i].location;

		if (!l->process->world || l->process->world != world)
			return false;
		if (n && ranks[n - 1].location->process == l->process)
			ranks[n - 1].ns += times[i].ns;
		else
			ranks[n++] = (struct rank_time){l, times[i].ns};
	}
	qsort(ranks, n, sizeof(*ranks), by_time);
	*ret_count = n;
	return true;
}

static int add(struct findings *findings, uint32_t node, const char *name, const struct rank_time *ranks,
	size_t count)
{
	const struct rank_time *least = &ranks[count - 1];
	struct finding *f = findings_add(findings, &imbalance_kind);
	char more[FIGURE_SIZE], own[FIGURE_SIZE];
	size_t longer = 0;

	if (!f)
		return HYB_ENOMEM;
	f->node = node;
	for (; ranks[longer].ns > least->ns; longer++)
		f->severity += ranks[longer].ns - least->ns;
	f->count = longer;
	for (size_t i = 0; i < longer; i++)
		if (!finding_add_who(
			    f, ranks[i].location, (double)(ranks[i].ns - least->ns) / (double)f->severity))
			return HYB_ENOMEM;
	snprintf(f->text, sizeof(f->text),
		"%zu of %zu ranks %s %s more in %.60s than rank %" PRIu32 ", which spends %s in it", longer,
		count, longer > 1 ? "spend together" : "spends", figure_duration(f->severity, more), name,
		least->location->process->rank, figure_duration(least->ns, own));
	return finding_add_cause(f, least->location, node, 1) ? 0 : HYB_ENOMEM;
}

static int find(void *data, const struct analysis_input *input, struct findings *findings)
{
	const struct profile_node *nodes = profile_nodes(input->profile);
	struct node_time *times;
	struct rank_time *ranks;
	size_t count, rank_count;
	int r = analysis_times(input, is_mpi, &times, &count);

	if (r)
		return r;
	ranks = calloc(count + 1, sizeof(*ranks));
	r = ranks ? 0 : HYB_ENOMEM;
	for (size_t i = 0, n; i < count && !r; i += n) {
		for (n = 1; i + n < count && times[i + n].node == times[i].node; n++)
			;
		if (!sum_ranks(&times[i], n, ranks, &rank_count) || ranks[0].ns == ranks[rank_count - 1].ns ||
			rank_count != count_ranks(input, times[i].location->process->world))
			continue;
		r = add(findings, times[i].node, nodes[times[i].node].name, ranks, rank_count);
	}
	free(ranks);
	free(times);
	return r;
}

const struct analysis imbalance_analysis = {.name = "imbalance", .find = find};
