/* Trace records: each kind decoded, instances of regions, gaps, merging by time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "reader_help.h"
#include "test_reader_tree.h"

#define UNKNOWN HYB_TIME_UNKNOWN

static struct tree make(void)
{
	struct tree t = {.w = writer_new()};

	grow_tree(&t, 1);
	return t;
}

struct expected {
	unsigned kind;
	uint64_t time;
	uint32_t node;
	uint64_t since, until;
};

static void check(struct hyb_experiment *e, bool complete, const struct expected *x, size_t count)
{
	struct hyb_events *events = hyb_events_open(e, NULL, complete, NULL);

	assert_non_null(events);
	for (size_t i = 0; i < count; i++) {
		struct hyb_event event = expect_event(events, x[i].kind, x[i].time);

		assert_int_equal(event.node, x[i].node);
		assert_int_equal(event.since, x[i].since);
		assert_int_equal(event.until, x[i].until);
	}
	expect_end(events);
}
#define CHECK(e, complete, x) check(e, complete, x, sizeof(x) / sizeof((x)[0]))

static void test_enter_and_leave(void **state)
{
	struct tree t = make();

	writer_enter(t.w, 1, 1100, t.a);
	writer_sample(t.w, 1, 1110, t.in_a, 10, 0, 1);
	writer_enter(t.w, 1, 1120, t.b);
	writer_sample(t.w, 1, 1130, t.in_b, 10, 0, 1);
	writer_leave(t.w, 1, 1140);
	writer_sample(t.w, 1, 1150, t.in_a, WRITER_NOT_FIRST, 0, 1);
	writer_leave(t.w, 1, 1160);
	writer_sample(t.w, 1, 1170, t.in_root, 170, 0, 1);

	static const struct expected x[] = {
		{HYB_EVENT_ENTER, 1100, 1, UNKNOWN, UNKNOWN},
		{HYB_EVENT_SAMPLE, 1110, 3, 10, 50},
		{HYB_EVENT_ENTER, 1120, 2, UNKNOWN, UNKNOWN},
		{HYB_EVENT_SAMPLE, 1130, 4, 10, 10},
		{HYB_EVENT_LEAVE, 1140, 2, UNKNOWN, UNKNOWN},
		{HYB_EVENT_SAMPLE, 1150, 3, 50, 10},
		{HYB_EVENT_LEAVE, 1160, 1, UNKNOWN, UNKNOWN},
		{HYB_EVENT_SAMPLE, 1170, 5, 170, UNKNOWN},
	};
	struct hyb_experiment *e = help_open(t.w);

	CHECK(e, true, x);
	assert_int_equal(hyb_damage_count(e), 0);
	help_close(e, t.w);
}

/* Without --trace: COMPLETE says when sampled instances ended. */
static void test_complete(void **state)
{
	struct tree t = make();

	writer_sample(t.w, 1, 2000, t.in_a, 300, 0, 1);
	writer_sample(t.w, 1, 2100, t.in_b, 1, 0, 1);
	writer_sample(t.w, 1, 2200, t.in_a, WRITER_NOT_FIRST, 0, 1);
	writer_complete(t.w, 1, 2300, t.a);
	writer_sample(t.w, 1, 2400, t.in_a, 5, 0, 1);
	/* A new instance, but nothing said that the one before had ended. */
	writer_sample(t.w, 1, 2500, t.in_a, 7, 0, 1);
	writer_complete(t.w, 1, 2600, t.a);

	static const struct expected x[] = {
		{HYB_EVENT_SAMPLE, 2000, 3, 300, 300},
		{HYB_EVENT_SAMPLE, 2100, 4, 1, UNKNOWN},
		{HYB_EVENT_SAMPLE, 2200, 3, 500, 100},
		{HYB_EVENT_COMPLETE, 2300, 1, UNKNOWN, UNKNOWN},
		{HYB_EVENT_SAMPLE, 2400, 3, 5, UNKNOWN},
		{HYB_EVENT_SAMPLE, 2500, 3, 7, 100},
		{HYB_EVENT_COMPLETE, 2600, 1, UNKNOWN, UNKNOWN},
	};
	struct expected once[7];
	struct hyb_experiment *e = help_open(t.w);

	CHECK(e, true, x);
	memcpy(once, x, sizeof(x));
	for (size_t i = 0; i < 7; i++)
		once[i].until = UNKNOWN;
	CHECK(e, false, once);
	help_close(e, t.w);
}

static void test_values(void **state)
{
	struct tree t = make();
	uint64_t residual = writer_counter(t.w, "residual", "m", 1);
	uint64_t energy = writer_counter(t.w, "energy", "J", 2);
	uint64_t text = writer_text(t.w, "half way");
	struct hyb_events *events;
	struct hyb_experiment *e;
	struct hyb_event event;

	writer_count(t.w, 1, 1100, residual, -5);
	writer_count(t.w, 1, 1101, residual, INT64_MIN);
	writer_count_real(t.w, 1, 1102, energy, 0.1);
	writer_other(t.w, 1, 1103, 77, "body", 4);
	writer_marker(t.w, 1, 1104, text);
	writer_sample(t.w, 1, 1105, t.in_root, WRITER_NOT_FIRST, 900, 6);
	e = help_open(t.w);
	events = hyb_events_open(e, &hyb_process_at(e, 0)->locations[0], false, NULL);

	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.kind, HYB_EVENT_COUNTER);
	assert_false(event.is_double);
	assert_int_equal(event.value.integer, -5);
	assert_string_equal(event.text, "residual");
	assert_string_equal(event.unit, "m");
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_true(event.value.integer == INT64_MIN);
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_true(event.is_double);
	assert_true(event.value.real == 0.1);
	assert_string_equal(event.text, "energy");
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.kind, HYB_EVENT_MARKER);
	assert_int_equal(event.time, 1104);
	assert_string_equal(event.text, "half way");
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.kind, HYB_EVENT_SAMPLE);
	assert_int_equal(event.weight, 6);
	assert_int_equal(event.blocked, 900);
	assert_int_equal(event.since, UNKNOWN);
	assert_ptr_equal(event.location, &hyb_process_at(e, 0)->locations[0]);
	assert_int_equal(hyb_events_next(events, &event), 0);
	assert_int_equal(hyb_damage_count(e), 0);
	hyb_events_close(events);
	help_close(e, t.w);
}

/* A lost stretch: said once, and what was known of instances is forgotten. */
static void test_gaps(void **state)
{
	struct tree t = make();

	writer_sample(t.w, 1, 2000, t.in_a, 300, 0, 1);
	writer_trace_break(t.w, 1, true, 1);
	writer_sample(t.w, 1, 3000, t.in_a, WRITER_NOT_FIRST, 0, 1);
	writer_complete(t.w, 1, 3100, t.a);

	static const struct expected lost[] = {
		{HYB_EVENT_SAMPLE, 2000, 3, 300, UNKNOWN},
		{HYB_EVENT_GAP, 2000, 0, UNKNOWN, UNKNOWN},
		{HYB_EVENT_SAMPLE, 3000, 3, UNKNOWN, 100},
		{HYB_EVENT_COMPLETE, 3100, 1, UNKNOWN, UNKNOWN},
	};
	struct hyb_experiment *e = help_open(t.w);

	CHECK(e, true, lost);
	assert_int_equal(hyb_damage_count(e), 0);
	help_close(e, t.w);

	/* A chunk that should be there but is not: the same, and damage. */
	t = make();
	writer_sample(t.w, 1, 2000, t.in_a, 300, 0, 1);
	writer_trace_break(t.w, 1, false, 2);
	writer_sample(t.w, 1, 3000, t.in_a, WRITER_NOT_FIRST, 0, 1);
	writer_complete(t.w, 1, 3100, t.a);
	e = help_open(t.w);
	CHECK(e, true, lost);
	assert_int_equal(hyb_damage_count(e), 1);
	CHECK(e, true, lost);
	assert_int_equal(hyb_damage_count(e), 1);
	help_close(e, t.w);
}

/* A chunk is decoded by itself: bases and the open region come from its start. */
static void test_chunks_join(void **state)
{
	struct tree t = make();

	writer_enter(t.w, 1, 1100, t.a);
	writer_enter(t.w, 1, 1200, t.b);
	writer_sample(t.w, 1, 1250, t.in_b, 50, 0, 1);
	writer_trace_break(t.w, 1, false, 1);
	writer_sample(t.w, 1, 1300, t.in_b, WRITER_NOT_FIRST, 0, 1);
	writer_leave(t.w, 1, 1400);
	writer_trace_break(t.w, 1, false, 1);
	writer_leave(t.w, 1, 1500);

	static const struct expected x[] = {
		{HYB_EVENT_ENTER, 1100, 1, UNKNOWN, UNKNOWN},
		{HYB_EVENT_ENTER, 1200, 2, UNKNOWN, UNKNOWN},
		{HYB_EVENT_SAMPLE, 1250, 4, 50, 150},
		{HYB_EVENT_SAMPLE, 1300, 4, 100, 100},
		{HYB_EVENT_LEAVE, 1400, 2, UNKNOWN, UNKNOWN},
		{HYB_EVENT_LEAVE, 1500, 1, UNKNOWN, UNKNOWN},
	};
	struct hyb_experiment *e = help_open(t.w);

	CHECK(e, true, x);
	help_close(e, t.w);
}

static void test_damaged_record(void **state)
{
	struct tree t = make();

	writer_sample(t.w, 1, 2000, t.in_a, 300, 0, 1);
	writer_raw(t.w, 1, "\xff\x01\x01", 3); /* flags that nobody has given a meaning */
	writer_sample(t.w, 1, 2100, t.in_a, 400, 0, 1);
	writer_trace_break(t.w, 1, false, 1);
	writer_sample(t.w, 1, 2200, t.in_a, 500, 0, 1);

	static const struct expected x[] = {
		{HYB_EVENT_SAMPLE, 2000, 3, 300, UNKNOWN},
		{HYB_EVENT_GAP, 2100, 0, UNKNOWN, UNKNOWN},
		{HYB_EVENT_SAMPLE, 2200, 3, 500, UNKNOWN},
	};
	struct hyb_experiment *e = help_open(t.w);

	CHECK(e, false, x);
	assert_int_equal(hyb_damage_count(e), 1);
	help_close(e, t.w);
}

static void test_unknown_node(void **state)
{
	struct tree t = make();

	writer_sample(t.w, 1, 2000, 12345678, 300, 0, 1);
	writer_sample(t.w, 1, 2001, 12345679, 300, 0, 1);
	writer_complete(t.w, 1, 2002, t.in_a); /* not a probe */
	writer_marker(t.w, 1, 2003, 8 * 999);
	writer_count(t.w, 1, 2004, 8 * 999, 1);
	writer_sample(t.w, 1, 2100, t.in_a, 400, 0, 1);

	static const struct expected x[] = {{HYB_EVENT_SAMPLE, 2100, 3, 400, UNKNOWN}};
	struct hyb_experiment *e = help_open(t.w);

	CHECK(e, false, x);
	assert_int_equal(hyb_damage_count(e), 1);
	help_close(e, t.w);
}

/* Three threads: time order; equal times in the order of the threads. */
static void test_merge(void **state)
{
	struct tree t = {.w = writer_new()};
	struct hyb_experiment *e;
	struct hyb_events *events;
	struct hyb_event event;
	static const uint64_t times[3][4] = {
		{2000, 2001, 2001, 2009}, {2001, 2002, 2003, 2004}, {1999, 2001, 2005, 2005}};
	static const struct {
		uint64_t time;
		uint32_t location;
	} order[12] = {{1999, 3}, {2000, 1}, {2001, 1}, {2001, 1}, {2001, 2}, {2001, 3}, {2002, 2}, {2003, 2},
		{2004, 2}, {2005, 3}, {2005, 3}, {2009, 1}};

	for (uint32_t l = 1; l <= 3; l++) {
		grow_tree(&t, l);
		for (unsigned i = 0; i < 4; i++)
			writer_sample(t.w, l, times[l - 1][i], t.in_root, i ? WRITER_NOT_FIRST : 5, 0, 1);
	}
	e = help_open(t.w);
	events = hyb_events_open(e, NULL, false, NULL);
	for (unsigned i = 0; i < 12; i++) {
		assert_int_equal(hyb_events_next(events, &event), 1);
		assert_int_equal(event.time, order[i].time);
		assert_int_equal(event.location->id, order[i].location);
	}
	assert_int_equal(hyb_events_next(events, &event), 0);
	hyb_events_close(events);
	help_close(e, t.w);
}

static void test_no_trace(void **state)
{
	struct tree t = make();
	struct hyb_experiment *e = help_open(t.w);
	struct hyb_event event;
	struct hyb_events *events = hyb_events_open(e, NULL, true, NULL);

	assert_int_equal(hyb_events_next(events, &event), 0);
	hyb_events_close(events);
	events = hyb_events_open(e, &hyb_process_at(e, 0)->locations[0], true, NULL);
	assert_int_equal(hyb_events_next(events, &event), 0);
	hyb_events_close(events);
	help_close(e, t.w);
}

/* Times in coarser units than ticks. */
static void test_shift(void **state)
{
	struct {
		struct hyb_chunk chunk;
		struct hyb_trace_start start;
		uint8_t records[8];
	} data = {.start = {.tick = 1000, .sample = 10, .shift = 7},
		.records = {HYB_RECORD_SAMPLE | HYB_SAMPLE_FIRST, 3, 2, 5, HYB_RECORD_COMPLETE, 1, 1}};
	struct trace trace;
	struct trace_record r;

	trace_init(&trace, &data, offsetof(__typeof__(data), records) + 7, (struct trace_layout){0});
	assert_int_equal(trace_next(&trace, &r), 1);
	assert_int_equal(r.tick, 1000 + 3 * 128);
	assert_int_equal(r.since, 5 * 128);
	assert_int_equal(r.node, 11);
	assert_int_equal(trace_next(&trace, &r), 1);
	assert_int_equal(r.tick, 1000 + 4 * 128);
	assert_int_equal(r.node, 10);
	assert_int_equal(trace_next(&trace, &r), 0);
	data.start.shift = 33;
	trace_init(&trace, &data, sizeof(data), (struct trace_layout){0});
	assert_int_equal(trace_next(&trace, &r), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enter_and_leave),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_shift),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_chunks_join),
		cmocka_unit_test(test_damaged_record),
		cmocka_unit_test(test_unknown_node),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_no_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
