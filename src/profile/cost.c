#include "profile/cost.h"

#include <string.h>

#include "format/format.h"

#define FEW_SAMPLES 10u /* fewer are no measure of a time */
/* A call of MPI with its message costs as much as so many of plain probes: 38 ns, where those take 19 to 21.
 */
#define MPI_PROBES 2u

/* Calls of a location by what they cost: those that were timed, and those that were only counted. */
struct calls {
	uint64_t timed, skipped; /* of regions */
	uint64_t function, function_skipped; /* made by the compiler */
	uint64_t python, python_skipped;
	uint64_t mpi;
};

static uint64_t time_of(uint64_t calls, uint64_t cost)
{
	return (uint64_t)((unsigned __int128)calls * cost / 1024);
}

/* What such a call costs; what was not calibrated (before 1.4) counts as one of a region, or as nothing. */
static uint64_t cost_of(const struct hyb_process *process, enum hyb_probe_kind call, uint64_t otherwise)
{
	return process->call_cost[call] ? process->call_cost[call] : otherwise;
}

static void count_node(struct calls *calls, struct profile_quality *q, const struct hyb_node_info *n)
{
	const struct hyb_region *region = n->type == HYB_TYPE_REGION ? n->region : NULL;
	uint64_t timed = n->calls - (n->skipped < n->calls ? n->skipped : n->calls);

	q->probe_calls += n->calls;
	q->demoted_nodes += n->demoted;
	q->skipped_calls += n->skipped;
	if (!region) {
		calls->function += timed;
		calls->function_skipped += n->skipped;
		return;
	}
	if (region->kind == HYB_REGION_PYTHON) {
		q->python_calls += n->calls;
		q->python_skipped += n->skipped;
		calls->python += timed;
		calls->python_skipped += n->skipped;
		return;
	}
	if (region->mpi) {
		calls->mpi += n->calls;
		q->mpi_calls += n->calls;
		q->mpi_time += n->inclusive;
		return;
	}
	calls->timed += timed;
	calls->skipped += n->skipped;
	if (region->kind == HYB_REGION_WAIT && !strcmp(region->name, PROFILE_GIL)) {
		q->gil_waits += n->calls;
		q->gil_wait += n->inclusive;
	}
}

/*
 * The calibration times calls that follow each other directly. Between other work, a call takes up to twice
 * that, since both compete for the processor's caches and branch predictor: see docs/decisions.md.
 */
static uint64_t among_others(uint64_t time, uint64_t all, uint64_t cpu)
{
	uint64_t others = cpu > all ? cpu - all : 0;

	return others >= all + all / 2
		       ? 2 * time
		       : time + (uint64_t)((double)time * (double)others * 2 / 3 / (double)all);
}

void cost_add_location(struct profile_quality *q, const struct hyb_location_info *location)
{
	const struct hyb_process *process = location->process;
	uint64_t region = process->probe_cost, skip = cost_of(process, HYB_PROBE_SKIPPED, 0);
	uint64_t timed, skipped, left_out, all;
	struct calls calls = {0};

	for (size_t i = 1; i < location->node_count && !location->rest; i++)
		if (location->nodes[i].type <= HYB_TYPE_FUNCTION)
			count_node(&calls, q, &location->nodes[i]);
	timed = time_of(calls.timed, region) +
		time_of(calls.function, cost_of(process, HYB_PROBE_FUNCTION, region));
	skipped = time_of(calls.skipped, skip) +
		  time_of(calls.function_skipped, cost_of(process, HYB_PROBE_FUNCTION_SKIPPED, skip));
	left_out = time_of(location->left_out, process->call_cost[HYB_PROBE_FUNCTION_LEFT_OUT]);
	all = timed + skipped + left_out;
	q->probe_time += among_others(timed, all, location->cpu) + time_of(calls.mpi * MPI_PROBES, region);
	q->skipped_time += among_others(skipped, all, location->cpu);
	q->left_out_calls += location->left_out + location->python_left_out;
	q->left_out_time += among_others(left_out, all, location->cpu) +
			    time_of(location->python_left_out, process->call_cost[HYB_PROBE_PYTHON_LEFT_OUT]);
	q->python_time += time_of(calls.python, cost_of(process, HYB_PROBE_PYTHON, region)) +
			  time_of(calls.python_skipped, cost_of(process, HYB_PROBE_PYTHON_SKIPPED, skip));
	q->handler_time += location->handler_time;
	for (size_t i = 0; i < 8; i++)
		q->cost[i] += location->cost[i];
}

/*
 * A call on a path that is new, or cold, takes many times what was calibrated. The samples that hit our own
 * code show it, unless they are few. Samples by anything but a clock are no measure of CPU time.
 */
void cost_finish(struct profile_quality *q)
{
	uint64_t inside = q->dropped[HYB_DROP_IN_PROBE], sampled,
		 known = q->probe_time + q->skipped_time + q->python_time + q->left_out_time;

	if (!q->probe_calls || inside < FEW_SAMPLES ||
		q->sources & (1u << HYB_SOURCE_WALL | 1u << HYB_SOURCE_EVENT))
		return;
	sampled = (uint64_t)((unsigned __int128)q->cpu * inside / (q->taken + inside));
	if (sampled > known)
		q->probe_time += sampled - known;
}

uint64_t profile_cost(const struct profile_quality *quality)
{
	uint64_t sum = quality->handler_time + quality->probe_time + quality->skipped_time +
		       quality->python_time + quality->left_out_time;

	for (size_t i = 0; i < 8; i++)
		sum += quality->cost[i];
	return sum;
}
