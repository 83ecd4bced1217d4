/* Where metrics grew, from readings one after the other: at lines that grew, nowhere else, and exactly in
 * sum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/format.h"
#include "profile/metrics/growth.h"

/* A tree like the location's: main calls takes (with a line) and burns (with two), which is a probe below
 * `in`. */
enum { ROOT, MAIN, TAKES, TAKES_LINE, BURNS, BURNS_LINE, BURNS_OTHER, CALLER, PROBE, IN_PROBE, NODES };

static struct hyb_node_info nodes[NODES];
static struct profile_node tree_nodes[NODES];
static const struct tree tree = {.nodes = tree_nodes, .count = NODES};
static uint32_t own[NODES];
static struct hyb_process process = {.metric_count = 1};
static struct hyb_location_info location = {.process = &process, .nodes = nodes, .node_count = NODES};

static void node(uint32_t i, uint32_t parent, unsigned type, uint32_t probe)
{
	nodes[i] = (struct hyb_node_info){.parent = parent, .type = (uint8_t)type, .probe = probe};
	tree_nodes[i].parent = parent;
	tree_nodes[i].kind = type == HYB_TYPE_REGION ? PROFILE_PROBE : PROFILE_INTERMEDIATE;
	own[i] = i;
}

static int set_up(void **state)
{
	node(ROOT, ROOT, HYB_TYPE_ROOT, ROOT);
	node(MAIN, ROOT, HYB_TYPE_CALL, ROOT);
	node(TAKES, MAIN, HYB_TYPE_CALL, ROOT);
	node(TAKES_LINE, TAKES, HYB_TYPE_LEAF, ROOT);
	node(BURNS, MAIN, HYB_TYPE_CALL, ROOT);
	node(BURNS_LINE, BURNS, HYB_TYPE_LEAF, ROOT);
	node(BURNS_OTHER, BURNS, HYB_TYPE_LEAF, ROOT);
	node(CALLER, MAIN, HYB_TYPE_CALL, ROOT);
	node(PROBE, CALLER, HYB_TYPE_REGION, PROBE);
	node(IN_PROBE, PROBE, HYB_TYPE_LEAF, PROBE);
	process.trace_events = true;
	return 0;
}

/* What is recorded: at which node, and what the metric is. `entered`: of a sample, when and at what its
 * region was; 0: not known. */
struct record {
	uint8_t kind;
	uint32_t node;
	int64_t value;
	uint64_t time, since;
	int64_t grown;
};

static int add(void *data, uint32_t at, int64_t amount)
{
	((int64_t *)data)[at] += amount;
	return 0;
}

static void place(const struct record *records, size_t count, const int64_t *exclusive, int64_t *ret)
{
	struct growth g;

	growth_init(&g, &location, &tree, own);
	for (size_t i = 0; i < count; i++) {
		struct hyb_event event = {.kind = records[i].kind,
			.node = records[i].node,
			.time = records[i].time ? records[i].time : i,
			.values = &records[i].value,
			.since = records[i].since ? records[i].since : HYB_TIME_UNKNOWN,
			.since_values = records[i].since ? &records[i].grown : NULL};

		assert_int_equal(growth_event(&g, &event), 0);
	}
	assert_int_equal(growth_place(&g, 0, exclusive, add, ret), 0);
	growth_release(&g);
}

#define PLACE(records, exclusive, ret) place(records, sizeof(records) / sizeof(*(records)), exclusive, ret)
#define AT(i, v) \
	{ \
		.kind = HYB_EVENT_SAMPLE, .node = (i), .value = (v) \
	}

static void assert_placed(const int64_t *placed, const int64_t *expected)
{
	for (size_t i = 0; i < NODES; i++)
		if (placed[i] != expected[i])
			fail_msg("node %zu has %lld, not %lld", i, (long long)placed[i],
				(long long)expected[i]);
}

/* It has a third of the samples and all of the growth, what grew on the way to it and from it included. */
static void test_beside(void **state)
{
	static const struct record records[] = {AT(BURNS_LINE, 5), AT(BURNS_OTHER, 5), AT(BURNS_OTHER, 5),
		AT(TAKES_LINE, 25), AT(TAKES_LINE, 55), AT(BURNS_LINE, 65), AT(BURNS_LINE, 65)};
	int64_t placed[NODES] = {0}, exclusive[NODES] = {70};

	PLACE(records, exclusive, placed);
	/* 5 before the first sample, 5 behind the last: of nobody known */
	assert_placed(placed, (int64_t[NODES]){[ROOT] = 10, [TAKES_LINE] = 60});
}

/* Of neither is known that it grows: what was between is of what both are in. */
static void test_unknown(void **state)
{
	static const struct record records[] = {AT(BURNS_LINE, 0), AT(TAKES_LINE, 30), AT(BURNS_OTHER, 30)};
	int64_t placed[NODES] = {0}, exclusive[NODES] = {30};

	PLACE(records, exclusive, placed);
	assert_placed(placed, (int64_t[NODES]){[TAKES_LINE] = 0, [MAIN] = 30});
}

/* A level goes up in one place, and down in another. */
static void test_down(void **state)
{
	static const struct record records[] = {AT(TAKES_LINE, 10), AT(TAKES_LINE, 40), AT(BURNS_LINE, 40),
		AT(BURNS_LINE, 15), AT(TAKES_LINE, 15)};
	int64_t placed[NODES] = {0}, exclusive[NODES] = {5};

	PLACE(records, exclusive, placed);
	assert_placed(placed, (int64_t[NODES]){[ROOT] = 0, [TAKES_LINE] = 30, [BURNS_LINE] = -25});
}

/* A probe keeps exactly what it has, also where no sample was taken in it. */
static void test_probe(void **state)
{
	static const struct record records[] = {AT(BURNS_LINE, 1), AT(BURNS_LINE, 1),
		{.kind = HYB_EVENT_ENTER, .node = PROBE, .value = 1}, AT(IN_PROBE, 20), AT(IN_PROBE, 30),
		{.kind = HYB_EVENT_LEAVE, .node = PROBE, .value = 41}, AT(BURNS_LINE, 41),
		{.kind = HYB_EVENT_ENTER, .node = PROBE, .value = 41},
		{.kind = HYB_EVENT_LEAVE, .node = PROBE, .value = 42}};
	int64_t placed[NODES] = {0}, exclusive[NODES] = {[ROOT] = 1, [PROBE] = 41};

	PLACE(records, exclusive, placed);
	/* Ten a reading: 19 to the first sample are ten and what is the probe's, as is the 1 without any. */
	assert_placed(placed, (int64_t[NODES]){[ROOT] = 1, [PROBE] = 11, [IN_PROBE] = 30});
}

/* Without records of probes: the first sample in an instance tells what was when it was entered; and what is
 * known of probes that no sample saw is not given away. */
static void test_without_records(void **state)
{
	static const struct record records[] = {
		{.kind = HYB_EVENT_SAMPLE, .node = BURNS_LINE, .value = 0, .time = 10},
		{.kind = HYB_EVENT_SAMPLE,
			.node = IN_PROBE,
			.value = 30,
			.time = 20,
			.since = 5,
			.grown = 20},
		{.kind = HYB_EVENT_SAMPLE,
			.node = IN_PROBE,
			.value = 40,
			.time = 25,
			.since = 10,
			.grown = 30},
		{.kind = HYB_EVENT_COMPLETE, .node = PROBE, .value = 45, .time = 30},
		{.kind = HYB_EVENT_SAMPLE, .node = BURNS_LINE, .value = 55, .time = 40}};
	int64_t placed[NODES] = {0}, exclusive[NODES] = {[ROOT] = 10, [PROBE] = 55};

	process.trace_events = false;
	PLACE(records, exclusive, placed);
	assert_int_equal(placed[PROBE] + placed[IN_PROBE], 55);
	assert_int_equal(placed[IN_PROBE], 25);
	assert_int_equal(placed[ROOT] + placed[MAIN] + placed[CALLER] + placed[BURNS_LINE], 10);
	assert_int_equal(placed[MAIN], 10);
}

/* What goes away behind the last sample takes nothing from a line that grew: nothing grew in the probe below.
 */
static void test_gone_unread(void **state)
{
	static const struct record records[] = {AT(BURNS_LINE, 5), AT(BURNS_OTHER, 5), AT(BURNS_OTHER, 5),
		AT(TAKES_LINE, 25), AT(TAKES_LINE, 55), AT(BURNS_LINE, 65), AT(BURNS_LINE, 65)};
	int64_t placed[NODES] = {0}, exclusive[NODES] = {[ROOT] = 6};

	process.trace_events = false;
	PLACE(records, exclusive, placed);
	assert_placed(placed, (int64_t[NODES]){[ROOT] = -54, [TAKES_LINE] = 60});
}

/* Nothing is read across a gap, and numbers may be any. */
static void test_gap(void **state)
{
	static const struct record records[] = {AT(BURNS_LINE, 1), {.kind = HYB_EVENT_GAP},
		AT(BURNS_LINE, 1000), AT(BURNS_LINE, INT64_MAX), AT(BURNS_LINE, INT64_MIN)};
	int64_t placed[NODES] = {0}, exclusive[NODES] = {999};

	PLACE(records, exclusive, placed);
	assert_int_equal((int64_t)((uint64_t)placed[ROOT] + (uint64_t)placed[BURNS_LINE]), 999);
	assert_int_equal(placed[BURNS_LINE], (int64_t)((uint64_t)INT64_MIN - 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_beside, set_up),
		cmocka_unit_test_setup(test_unknown, set_up),
		cmocka_unit_test_setup(test_down, set_up),
		cmocka_unit_test_setup(test_probe, set_up),
		cmocka_unit_test_setup(test_without_records, set_up),
		cmocka_unit_test_setup(test_gone_unread, set_up),
		cmocka_unit_test_setup(test_gap, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
