/*
 * What programs call is called here, some hundred times in a row, on a region that is gone afterwards: the
 * warm cost of a call. Samples do not see it, and the trace goes to a record that is written again and again.
 */
#include "calibrate.h"

#include "cyg.h"
#include "hybrid/hybrid.h"
#include "probe.h"
#include "runtime/python/hooks.h"
#include "runtime/sample/sampler.h"

#define WARM_UP 64u
#define PAIRS 256u
#define KEY 1u /* of no region and no function */

extern const struct hybrid_api hybrid_api_1;
extern void __cyg_profile_func_enter(void *function, void *site);
extern void __cyg_profile_func_exit(void *function, void *site);

static struct {
	uint64_t probe, calls[HYB_PROBE_SLOTS];
} cost;

static struct hybrid_region region = {.name = "", .kind = HYB_REGION_USER};

static void enter_and_leave_region(void)
{
	hybrid_api_1.enter(&region);
	hybrid_api_1.leave(&region);
}

static void enter_and_leave_function(void)
{
	__cyg_profile_func_enter(&region, NULL);
	__cyg_profile_func_exit(&region, NULL);
}

/* Ticks of 1024 calls, one behind the other. */
static uint64_t time_calls(struct thread *t, void (*volatile call)(void))
{
	uint8_t *start = t->trace_pos;
	uint64_t began = 0;

	for (unsigned i = 0; i < WARM_UP + PAIRS; i++) {
		if (i == WARM_UP)
			began = clock_tick();
		call();
		t->trace_pos = start;
	}
	return (clock_tick() - began) * (1024 / PAIRS);
}

/* The node that was entered last was never there. */
static void forget_node(struct thread *t)
{
	uint32_t id = t->node->hot;

	t->node->hot = 0;
	if (!id)
		return;
	node_at(id)->kind = 0;
	t->loc->nodes = --t->node_count;
}

/* The same call, timed and demoted. */
static void time_both(struct thread *t, void (*call)(void), uint64_t *ret_timed, uint64_t *ret_skipped)
{
	*ret_timed = time_calls(t, call);
	if (t->node->hot) {
		node_at(t->node->hot)->flags |= HYB_NODE_DEMOTED;
		*ret_skipped = time_calls(t, call);
	}
	forget_node(t);
}

static void time_all(struct thread *t)
{
	uintptr_t function = (uintptr_t)&region;

	region.id = KEY | (uint64_t)rt.epoch << 48;
	time_both(t, enter_and_leave_region, &cost.probe, &cost.calls[HYB_PROBE_SKIPPED]);
	cyg_remember(function, KEY);
	time_both(t, enter_and_leave_function, &cost.calls[HYB_PROBE_FUNCTION],
		&cost.calls[HYB_PROBE_FUNCTION_SKIPPED]);
	cyg_remember(function, 0);
	cost.calls[HYB_PROBE_FUNCTION_LEFT_OUT] = time_calls(t, enter_and_leave_function);
	t->loc->left_out = 0;
}

void calibrate_again(void)
{
	if (!cost.probe)
		return;
	hooks_cost(cost.probe, cost.calls[HYB_PROBE_SKIPPED], cost.calls);
	store.header->probe_cost = cost.probe;
	memcpy(store.header->call_cost, cost.calls, sizeof(cost.calls));
}

void calibrate(void)
{
	static struct {
		struct hyb_chunk chunk;
		uint8_t records[HYB_RECORD_MAX + HYB_RECORD_METRICS_MAX(HYB_METRICS_MAX)];
	} scratch;
	struct thread *t = self;
	bool armed = t->armed;
	struct thread was = {.trace = t->trace,
		.trace_pos = t->trace_pos,
		.trace_end = t->trace_end,
		.trace_tick = t->trace_tick,
		.trace_enter = t->trace_enter};
	uint64_t events = t->loc->events;

	t->armed = false; /* samples are ignored */
	signal_barrier();
	if (rt.set.trace_events) {
		t->trace = &scratch.chunk;
		t->trace_pos = scratch.records;
		t->trace_end = scratch.records + sizeof(scratch.records);
	}
	time_all(t);
	calibrate_again();
	t->trace = was.trace;
	t->trace_pos = was.trace_pos;
	t->trace_end = was.trace_end;
	t->trace_tick = was.trace_tick;
	t->trace_enter = was.trace_enter;
	t->loc->events = events;
	signal_barrier();
	t->armed = armed;
	if (armed && rt_source(t)->missed)
		rt_source(t)->missed(t);
}
