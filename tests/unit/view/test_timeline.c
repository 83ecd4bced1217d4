/* Timelines of threads made by hand: where they were in each column, sums, counters; groups; axes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/timeline/timeline.h"
#include "viewer/timeline/axis.h"
#include "viewer/timeline/groups.h"

/*
 *   1 main
 *     2 solve (probe)
 *       3 a  4 b  5 c
 *     6 write (probe)
 */
enum { ROOT, MAIN, SOLVE, A, B, C, WRITE, NODES };
static const uint32_t parents[NODES] = {0, ROOT, MAIN, SOLVE, SOLVE, SOLVE, MAIN};
static const uint32_t probes[NODES] = {0, 0, SOLVE, SOLVE, SOLVE, SOLVE, WRITE};
static const uint32_t own[NODES] = {0, 1, 2, 3, 4, 5, 6};

#define ORIGIN 1000u /* of the threads' clock */

struct run {
	struct hyb_metric metrics[2];
	struct hyb_process process;
	struct hyb_location_info location;
	struct hyb_node_info nodes[NODES];
	struct profile_node profile[NODES];
	struct weave_tree tree;
	struct timeline *timeline;
	struct lanes lanes;
	struct lane *lane;
	int64_t values[2];
};

/* From `from` to `to` in so many columns, of a thread that lives from 0 to 1000; all since ORIGIN. */
static struct run *begin(uint64_t from, uint64_t to, size_t columns, size_t rows, const char *counter)
{
	static const char *const names[NODES] = {"root", "main", "solve", "a", "b", "c", "write"};
	struct timeline_options options = {from, to, columns, rows, counter};
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	run->metrics[0] = (struct hyb_metric){.name = "grows", .unit = "B", .description = ""};
	run->metrics[1] = (struct hyb_metric){.name = "level", .unit = "", .description = "", .level = true};
	run->process = (struct hyb_process){.trace_events = true, .metrics = run->metrics, .metric_count = 2};
	run->location = (struct hyb_location_info){.process = &run->process,
		.start = ORIGIN,
		.end = ORIGIN + 1000,
		.nodes = run->nodes,
		.node_count = NODES};
	for (uint32_t i = 0; i < NODES; i++) {
		run->nodes[i] = (struct hyb_node_info){.parent = parents[i], .probe = probes[i]};
		run->profile[i] = (struct profile_node){
			.parent = parents[i], .name = names[i], .file = "", .module = "", .inclusive = 77};
	}
	assert_int_equal(weave_tree_make(&run->tree, run->profile, NODES), 0);
	run->timeline = timeline_new(&options, run->profile, NODES);
	assert_non_null(run->timeline);
	assert_int_equal(lanes_init(&run->lanes, run->timeline, &run->tree), 0);
	return run;
}

static void begin_row(struct run *run, size_t row, size_t metric)
{
	run->lane = lane_new(&run->lanes, row, &run->location, own, ORIGIN, metric);
	assert_non_null(run->lane);
}

static int tell(struct run *run, struct hyb_event event, uint64_t time)
{
	event.time = ORIGIN + time;
	event.location = &run->location;
	return lane_event(run->lane, &event);
}

static int at(struct run *run, uint64_t time, unsigned kind, uint32_t node)
{
	return tell(run, (struct hyb_event){.kind = (uint8_t)kind, .node = node, .weight = 1}, time);
}

static void finish(struct run *run)
{
	timeline_finish(&run->lanes);
	lanes_release(&run->lanes);
}

static void release(struct run *run)
{
	timeline_free(run->timeline);
	weave_tree_release(&run->tree);
	free(run);
}

static void assert_where(const struct run *run, size_t row, const char *expected)
{
	const struct timeline *t = run->timeline;

	assert_int_equal(strlen(expected), t->columns);
	for (size_t c = 0; c < t->columns; c++) {
		uint32_t node = t->where[row * t->columns + c];

		assert_int_equal(node == BIN_NOWHERE ? ' ' : '0' + (char)node, expected[c]);
	}
}

/* Nothing is known up to 100; main, with solve from 200 to 600, a in it from 300, write from 700 to 750. */
static void tell_story(struct run *run)
{
	at(run, 100, HYB_EVENT_SAMPLE, MAIN);
	at(run, 200, HYB_EVENT_ENTER, SOLVE);
	at(run, 300, HYB_EVENT_SAMPLE, A);
	at(run, 600, HYB_EVENT_LEAVE, SOLVE);
	at(run, 700, HYB_EVENT_ENTER, WRITE);
	at(run, 750, HYB_EVENT_LEAVE, WRITE);
}

static void whole_run(void **state)
{
	struct run *run = begin(0, 1000, 10, 1, NULL);
	const struct profile_node *n;

	begin_row(run, 0, SIZE_MAX);
	tell_story(run);
	lane_end(run->lane);
	finish(run);
	assert_where(run, 0, "0123331611");
	n = run->timeline->nodes;
	assert_int_equal(n[ROOT].inclusive, 1000);
	assert_int_equal(n[ROOT].exclusive, 100);
	assert_int_equal(n[MAIN].exclusive, 100 + 100 + 250);
	assert_int_equal(n[SOLVE].exclusive, 100);
	assert_int_equal(n[SOLVE].inclusive, 400);
	assert_int_equal(n[SOLVE].calls, 1);
	assert_int_equal(n[A].exclusive, 300);
	assert_int_equal(n[A].samples, 1);
	assert_int_equal(n[WRITE].inclusive, 50);
	assert_int_equal(run->timeline->records, 6);
	release(run);
}

/* Only what is in the window counts; what is behind is not even read. */
static void window(void **state)
{
	struct run *run = begin(250, 500, 5, 1, NULL);

	begin_row(run, 0, SIZE_MAX);
	assert_int_equal(at(run, 200, HYB_EVENT_ENTER, SOLVE), 0);
	assert_int_equal(at(run, 300, HYB_EVENT_SAMPLE, A), 0);
	assert_int_equal(at(run, 490, HYB_EVENT_SAMPLE, B), 0);
	assert_int_equal(at(run, 600, HYB_EVENT_SAMPLE, C), 1);
	lane_end(run->lane);
	finish(run);
	assert_where(run, 0, "23333");
	assert_int_equal(run->timeline->nodes[ROOT].inclusive, 250);
	assert_int_equal(run->timeline->nodes[SOLVE].exclusive, 50);
	assert_int_equal(run->timeline->nodes[SOLVE].calls, 0);
	assert_int_equal(run->timeline->nodes[A].exclusive, 190);
	assert_int_equal(run->timeline->nodes[B].exclusive, 10);
	assert_int_equal(run->timeline->nodes[C].samples, 0);
	release(run);
}

/* 60 below solve, in parts that are smaller than the 40 of write. */
static void larger_subtree(void **state)
{
	struct run *run = begin(0, 100, 1, 1, NULL);

	begin_row(run, 0, SIZE_MAX);
	at(run, 0, HYB_EVENT_ENTER, WRITE);
	at(run, 40, HYB_EVENT_LEAVE, WRITE);
	at(run, 40, HYB_EVENT_ENTER, SOLVE);
	at(run, 40, HYB_EVENT_SAMPLE, A);
	at(run, 58, HYB_EVENT_SAMPLE, B);
	at(run, 80, HYB_EVENT_SAMPLE, C);
	at(run, 100, HYB_EVENT_LEAVE, SOLVE);
	lane_end(run->lane);
	finish(run);
	assert_where(run, 0, "4");
	release(run);
}

/* A second thread comes later and goes earlier. */
static void two_threads(void **state)
{
	struct run *run = begin(0, 1000, 10, 2, NULL);

	begin_row(run, 0, SIZE_MAX);
	tell_story(run);
	lane_end(run->lane);
	run->location.start = ORIGIN + 200;
	run->location.end = ORIGIN + 500;
	begin_row(run, 1, SIZE_MAX);
	at(run, 200, HYB_EVENT_ENTER, WRITE);
	lane_end(run->lane);
	finish(run);
	assert_where(run, 0, "0123331611");
	assert_where(run, 1, "  666     ");
	assert_int_equal(run->timeline->nodes[ROOT].inclusive, 1300);
	assert_int_equal(run->timeline->nodes[WRITE].inclusive, 350);
	release(run);
}

static void read_at(struct run *run, uint64_t time, int64_t grows, int64_t level)
{
	run->values[0] = grows;
	run->values[1] = level;
	tell(run,
		(struct hyb_event){
			.kind = HYB_EVENT_SAMPLE, .node = MAIN, .weight = 1, .values = run->values},
		time);
}

/* Grows by 100 in 200 ns, then by 300 in 100; not known in front and behind. */
static void rate(void **state)
{
	struct run *run = begin(0, 500, 5, 1, "grows");
	const double *v = run->timeline->values;

	begin_row(run, 0, 0);
	read_at(run, 100, 50, 0);
	read_at(run, 300, 150, 0);
	read_at(run, 400, 450, 0);
	lane_end(run->lane);
	finish(run);
	assert_true(isnan(v[0]) && isnan(v[4]));
	assert_float_equal(v[1], 50 / 100e-9, 1);
	assert_float_equal(v[2], 50 / 100e-9, 1);
	assert_float_equal(v[3], 300 / 100e-9, 1);
	assert_float_equal(run->timeline->most, 300 / 100e-9, 1);
	assert_string_equal(run->timeline->unit, "B");
	release(run);
}

/* What goes up and down stays until it is read again. */
static void level(void **state)
{
	struct run *run = begin(0, 1000, 5, 1, "level");
	const double *v = run->timeline->values;

	begin_row(run, 0, 1);
	read_at(run, 200, 0, 10);
	read_at(run, 500, 0, 30);
	lane_end(run->lane);
	finish(run);
	assert_true(isnan(v[0]));
	assert_float_equal(v[1], 10, 1e-9);
	assert_float_equal(v[2], 20, 1e-9);
	assert_float_equal(v[3], 30, 1e-9);
	assert_float_equal(v[4], 30, 1e-9);
	release(run);
}

static void counters_and_markers(void **state)
{
	struct run *run = begin(0, 1000, 2, 1, "residual");
	struct hyb_event residual = {.kind = HYB_EVENT_COUNTER,
		.text = "residual",
		.unit = "",
		.is_double = true,
		.value.real = 2.5};
	struct hyb_event other = {.kind = HYB_EVENT_COUNTER, .text = "steps", .unit = ""};

	begin_row(run, 0, SIZE_MAX);
	tell(run, other, 0);
	tell(run, residual, 0);
	tell(run, (struct hyb_event){.kind = HYB_EVENT_MARKER, .text = "here"}, 300);
	residual.value.real = 0.5;
	tell(run, residual, 500);
	lane_end(run->lane);
	finish(run);
	assert_float_equal(run->timeline->values[0], 2.5, 1e-9);
	assert_float_equal(run->timeline->values[1], 0.5, 1e-9);
	assert_int_equal(run->timeline->counter_count, 2);
	assert_string_equal(run->timeline->counters[0], "steps");
	assert_int_equal(run->timeline->marker_count, 1);
	assert_int_equal(run->timeline->markers[0].time, 300);
	assert_string_equal(run->timeline->markers[0].text, "here");
	release(run);
}

/* Of any events and windows: each ns of a thread's life in the window is somewhere, once. */
static void sums(void **state)
{
	uint64_t random = 7;

	for (unsigned n = 0; n < 500; n++) {
		uint64_t from = n % 900, to = from + 1 + n % 97;
		struct run *run = begin(from, to, 1 + n % 13, 1, NULL);
		uint64_t time = 0, exclusive = 0;

		begin_row(run, 0, SIZE_MAX);
		for (int over = 0; !over && time < 1000;) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			time += random >> 59;
			over = at(run, time, 1 + (unsigned)(random >> 33) % 3,
				2 + (uint32_t)(random >> 40) % 5);
		}
		lane_end(run->lane);
		finish(run);
		for (size_t i = 0; i < NODES; i++)
			exclusive += run->timeline->nodes[i].exclusive;
		assert_int_equal(exclusive, (to < 1000 ? to : 1000) - from);
		assert_int_equal(run->timeline->nodes[ROOT].inclusive, exclusive);
		release(run);
	}
}

static void groups(void **state)
{
	struct profile_node nodes[20] = {{.kind = PROFILE_ROOT, .name = "", .file = "", .module = ""}};
	char names[20][8];
	struct timeline_groups g;
	uint64_t totals[GROUPS];

	for (uint32_t i = 1; i < 20; i++) {
		snprintf(names[i], sizeof(names[i]), "f%02u.c", i);
		nodes[i] = (struct profile_node){.kind = PROFILE_LEAF,
			.name = "x",
			.file = names[i],
			.module = i & 1 ? "/opt/odd.so" : "/opt/even.so",
			.exclusive = i};
	}
	nodes[19].mpi = true;
	nodes[18] = (struct profile_node){.kind = PROFILE_PROBE,
		.parent = 17,
		.name = "region",
		.file = "",
		.module = "",
		.exclusive = 1};
	assert_int_equal(groups_make(&g, nodes, 20, GROUP_BY_FILE), 0);
	assert_true(g.others);
	assert_int_equal(g.count, GROUPS);
	assert_string_equal(g.names[0], "[MPI]");
	assert_string_equal(g.names[1], "f17.c");
	assert_int_equal(g.band[18], 1); /* its caller's */
	assert_int_equal(g.band[1], GROUPS - 1);
	groups_sum(&g, nodes, totals);
	assert_int_equal(totals[0], 19);
	assert_int_equal(totals[1], 18);
	groups_release(&g);
	assert_int_equal(groups_make(&g, nodes, 20, GROUP_BY_MODULE), 0);
	assert_false(g.others);
	assert_int_equal(g.count, 3);
	assert_string_equal(g.names[0], "odd.so");
	groups_release(&g);
}

static void axes(void **state)
{
	struct axis axis = axis_make(0, 3000000000, 7);
	char text[AXIS_TEXT];

	assert_int_equal(axis.first, 0);
	assert_int_equal(axis.step, 500000000);
	assert_string_equal(axis_text(1500000000, axis.step, text), "1.5 s");
	assert_string_equal(axis_text(500000000, axis.step, text), "500 ms");
	axis = axis_make(1234567890, 1234568890, 10);
	assert_int_equal(axis.step, 200);
	assert_int_equal(axis.first, 1234568000);
	assert_string_equal(axis_text(axis.first, axis.step, text), "1.2345680 s");
	assert_string_equal(axis_text(1500, 100, text), "1.5 us");
	assert_string_equal(axis_text(7, 1, text), "7 ns");
	for (uint64_t to = 1; to < UINT64_MAX / 20; to *= 3) {
		axis = axis_make(to / 2, to, 8);
		assert_true((to - to / 2) / axis.step <= 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_run),
		cmocka_unit_test(window),
		cmocka_unit_test(larger_subtree),
		cmocka_unit_test(two_threads),
		cmocka_unit_test(rate),
		cmocka_unit_test(level),
		cmocka_unit_test(counters_and_markers),
		cmocka_unit_test(sums),
		cmocka_unit_test(groups),
		cmocka_unit_test(axes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
