/* Values of metrics in events: at each, since the region's begin, to its end; and overflows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/varint.h"
#include "format/format.h"
#include "reader_help.h"
#include "test_reader_tree.h"

#define VALUES(...) ((const int64_t[]){__VA_ARGS__})
#define NONE INT64_MIN /* not known */

/* Two metrics. */
static struct tree make(bool enters)
{
	struct tree t = {.w = writer_new()};

	writer_header(t.w)->trace_events = enters;
	writer_metric(t.w, "count", "", "", HYB_METRIC_COUNT, 0, 10);
	writer_metric(t.w, "level", "B", "", HYB_METRIC_LEVEL, 0, 0);
	grow_tree(&t, 1);
	return t;
}

static void at(struct tree *t, int64_t count, int64_t level)
{
	writer_read(t->w, 1, VALUES(count, level));
}

struct expected {
	unsigned kind;
	uint64_t time;
	int64_t values[2], since[2], until[2]; /* the first NONE: not known */
};

static void check_values(const int64_t *values, const int64_t *x)
{
	if (x[0] == NONE) {
		assert_null(values);
		return;
	}
	assert_non_null(values);
	assert_int_equal(values[0], x[0]);
	assert_int_equal(values[1], x[1]);
}

static void check(struct hyb_experiment *e, bool complete, const struct expected *x, size_t count)
{
	struct hyb_events *events = hyb_events_open(e, NULL, complete, NULL);

	assert_non_null(events);
	for (size_t i = 0; i < count; i++) {
		struct hyb_event event = expect_event(events, x[i].kind, x[i].time);

		check_values(event.values, x[i].values);
		check_values(event.since_values, x[i].since);
		check_values(event.until_values, complete ? x[i].until : VALUES(NONE));
	}
	expect_end(events);
}

static void check_both(struct tree *t, const struct expected *x, size_t count, size_t damage)
{
	struct hyb_experiment *e = help_open(t->w);

	check(e, true, x, count);
	check(e, false, x, count);
	help_read_all(e, true);
	assert_int_equal(hyb_damage_count(e), damage);
	help_close(e, t->w);
}
#define CHECK(t, x, damage) check_both(t, x, sizeof(x) / sizeof((x)[0]), damage)

/* ------------------------------------------------------------- sound traces */

static void test_enter_and_leave(void **state)
{
	struct tree t = make(true);

	at(&t, 100, 5000);
	writer_enter(t.w, 1, 1100, t.a);
	at(&t, 107, 4000);
	writer_sample(t.w, 1, 1110, t.in_a, 10, 0, 1);
	at(&t, 110, 4500);
	writer_enter(t.w, 1, 1120, t.b);
	at(&t, 111, -1);
	writer_sample(t.w, 1, 1130, t.in_b, 10, 0, 1);
	at(&t, 120, 0);
	writer_leave(t.w, 1, 1140);
	writer_marker(t.w, 1, 1145, writer_text(t.w, "no values"));
	at(&t, 131, 7000);
	writer_sample(t.w, 1, 1150, t.in_a, WRITER_NOT_FIRST, 0, 1);
	at(&t, 150, 6000);
	writer_leave(t.w, 1, 1160);

	static const struct expected x[] = {
		{HYB_EVENT_ENTER, 1100, {100, 5000}, {NONE}, {NONE}},
		{HYB_EVENT_SAMPLE, 1110, {107, 4000}, {7, -1000}, {43, 2000}},
		{HYB_EVENT_ENTER, 1120, {110, 4500}, {NONE}, {NONE}},
		{HYB_EVENT_SAMPLE, 1130, {111, -1}, {1, -4501}, {9, 1}},
		{HYB_EVENT_LEAVE, 1140, {120, 0}, {NONE}, {NONE}},
		{HYB_EVENT_MARKER, 1145, {NONE}, {NONE}, {NONE}},
		{HYB_EVENT_SAMPLE, 1150, {131, 7000}, {31, 2000}, {19, -1000}},
		{HYB_EVENT_LEAVE, 1160, {150, 6000}, {NONE}, {NONE}},
	};
	CHECK(&t, x, 0);
}

/* Without --trace the first sample of an instance tells what its begin was. */
static void test_complete(void **state)
{
	struct tree t = make(false);

	at(&t, 100, 50);
	writer_cause(t.w, 1, -1, VALUES(30, -8));
	writer_sample(t.w, 1, 2000, t.in_a, 300, 0, 1);
	at(&t, 110, 60);
	writer_cause(t.w, 1, -1, VALUES(4, 4));
	writer_sample(t.w, 1, 2100, t.in_b, 1, 0, 1);
	at(&t, 125, 40);
	writer_sample(t.w, 1, 2200, t.in_a, WRITER_NOT_FIRST, 0, 1);
	at(&t, 200, 45);
	writer_complete(t.w, 1, 2300, t.a);
	at(&t, 210, 46);
	writer_cause(t.w, 1, -1, VALUES(2, 1));
	writer_sample(t.w, 1, 2400, t.in_a, 5, 0, 1);

	static const struct expected x[] = {
		{HYB_EVENT_SAMPLE, 2000, {100, 50}, {30, -8}, {100, -5}},
		{HYB_EVENT_SAMPLE, 2100, {110, 60}, {4, 4}, {NONE}},
		{HYB_EVENT_SAMPLE, 2200, {125, 40}, {55, -18}, {75, 5}},
		{HYB_EVENT_COMPLETE, 2300, {200, 45}, {NONE}, {NONE}},
		{HYB_EVENT_SAMPLE, 2400, {210, 46}, {2, 1}, {NONE}},
	};
	CHECK(&t, x, 0);
}

static void test_chunks(void **state)
{
	struct tree t = make(true);

	at(&t, 1000000, -5);
	writer_enter(t.w, 1, 1100, t.a);
	writer_trace_break(t.w, 1, false, 1);
	at(&t, 1000001, INT64_MAX);
	writer_sample(t.w, 1, 1110, t.in_a, 10, 0, 1);
	writer_trace_break(t.w, 1, true, 2); /* records are missing: nothing is known of the instance */
	at(&t, 1000005, 3);
	writer_sample(t.w, 1, 1120, t.in_a, WRITER_NOT_FIRST, 0, 1);
	writer_sample(t.w, 1, 1130, t.in_a, 30, 0, 1);
	at(&t, 1000006, 4);
	writer_leave(t.w, 1, 1140);

	static const struct expected x[] = {
		{HYB_EVENT_ENTER, 1100, {1000000, -5}, {NONE}, {NONE}},
		{HYB_EVENT_SAMPLE, 1110, {1000001, INT64_MAX}, {1, INT64_MIN + 4}, {NONE}},
		{HYB_EVENT_GAP, 1110, {NONE}, {NONE}, {NONE}},
		{HYB_EVENT_SAMPLE, 1120, {1000005, 3}, {NONE}, {NONE}},
		{HYB_EVENT_SAMPLE, 1130, {1000005, 3}, {NONE}, {1, 1}},
		{HYB_EVENT_LEAVE, 1140, {1000006, 4}, {NONE}, {NONE}},
	};
	CHECK(&t, x, 1);
}

static void test_overflow(void **state)
{
	struct tree t = make(false);
	static const uint32_t x[] = {1, 0, 0, 1};
	struct hyb_experiment *e;
	struct hyb_events *events;
	struct hyb_event event;

	at(&t, 100, 50);
	writer_cause(t.w, 1, 0, NULL);
	writer_sample(t.w, 1, 1100, t.in_a, 5, 9, 3);
	writer_sample(t.w, 1, 1200, t.in_a, WRITER_NOT_FIRST, 0, 1);
	writer_cause(t.w, 1, 1, NULL); /* takes none */
	writer_sample(t.w, 1, 1300, t.in_a, WRITER_NOT_FIRST, 0, 1);
	writer_cause(t.w, 1, 0, NULL);
	writer_sample(t.w, 1, 1400, t.in_a, WRITER_NOT_FIRST, 0, 1);
	e = help_open(t.w);
	events = hyb_events_open(e, NULL, false, NULL);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(hyb_events_next(events, &event), 1);
		assert_int_equal(event.overflow, x[i]);
		assert_int_equal(event.weight, i ? 1 : 3);
		assert_int_equal(event.blocked, i ? 0 : 9);
		assert_int_equal(event.values[1], 50);
	}
	assert_int_equal(hyb_damage_count(e), 1);
	assert_non_null(strstr(hyb_damage_text(e, 0), "overflow of a metric that takes none"));
	hyb_events_close(events);
	help_close(e, t.w);
}

/* Merged, each event has the values of its own thread, and of its own process's metrics. */
static void test_merged(void **state)
{
	struct tree t = {.w = writer_new()};
	struct hyb_experiment *e;
	struct hyb_events *events;
	struct hyb_event event;

	writer_process(t.w);
	writer_metric(t.w, "count", "", "", HYB_METRIC_COUNT, 0, 0);
	for (uint32_t l = 1; l <= 2; l++) {
		grow_tree(&t, l);
		for (int64_t i = 0; i < 50; i++) {
			writer_read(t.w, l, VALUES(l * 1000 + i));
			writer_sample(t.w, l, 1000 + (uint64_t)i * 10 + l, t.in_a, 1, 0, 1);
		}
	}
	writer_process(t.w);
	grow_tree(&t, 1);
	for (uint64_t i = 0; i < 50; i++)
		writer_sample(t.w, 1, 1000 + i * 10 + 3, t.in_a, 1, 0, 1);
	e = help_open(t.w);
	events = hyb_events_open(e, NULL, true, NULL);
	for (int64_t i = 0; i < 150; i++) {
		assert_int_equal(hyb_events_next(events, &event), 1);
		assert_int_equal(event.time, 1000 + i / 3 * 10 + i % 3 + 1);
		if (i % 3 < 2)
			assert_int_equal(event.values[0], (i % 3 + 1) * 1000 + i / 3);
		else
			assert_null(event.values);
	}
	assert_int_equal(hyb_events_next(events, &event), 0);
	hyb_events_close(events);
	assert_int_equal(hyb_damage_count(e), 0);
	help_close(e, t.w);
}

/* ----------------------------------------------------------- damaged traces */

static uint8_t *first_record(struct writer *w)
{
	size_t length;
	uint8_t *data = writer_data(w, &length);

	for (size_t i = HYB_PAGE; i < length; i += HYB_PAGE) {
		struct hyb_chunk *chunk = (struct hyb_chunk *)(data + i);

		if (chunk->magic == HYB_CHUNK_MAGIC && chunk->kind == HYB_CHUNK_TRACE)
			return (uint8_t *)(chunk + 1) + sizeof(struct hyb_trace_start);
	}
	abort();
}

static struct tree make_short(void)
{
	struct tree t = make(true);

	writer_enter(t.w, 1, 1100, t.a);
	writer_sample(t.w, 1, 1110, t.in_a, 10, 0, 1);
	writer_leave(t.w, 1, 1120);
	return t;
}

static void check_unknown(struct tree *t, const char *what)
{
	static const struct expected x[] = {
		{HYB_EVENT_ENTER, 1100, {NONE}, {NONE}, {NONE}},
		{HYB_EVENT_SAMPLE, 1110, {NONE}, {NONE}, {NONE}},
		{HYB_EVENT_LEAVE, 1120, {NONE}, {NONE}, {NONE}},
	};
	struct hyb_experiment *e = help_open(t->w);

	check(e, true, x, 3);
	assert_int_equal(hyb_damage_count(e), 1);
	if (!strstr(hyb_damage_text(e, 0), what))
		fail_msg("%s", hyb_damage_text(e, 0));
	help_close(e, t->w);
}

/* The record that a chunk begins with is another one, or tells of other metrics. */
static void test_no_start(void **state)
{
	struct tree t = make_short();
	uint8_t *record = first_record(t.w);

	assert_int_equal(record[1], HYB_OTHER_METRICS);
	record[1] = 99;
	check_unknown(&t, "values of metrics without those at the start of their chunk");
}

/* A definition was lost: the trace still says how many values there are. */
static void test_other_width(void **state)
{
	struct tree t = make_short();
	struct hyb_experiment *e;
	struct hyb_events *events;
	struct hyb_event event;
	size_t length;
	uint8_t *data = writer_data(t.w, &length);

	for (size_t i = HYB_PAGE; i < length; i += 8) {
		struct hyb_def_metric *def = (struct hyb_def_metric *)(data + i);

		if (def->def.magic == HYB_DEF_MAGIC && def->def.type == HYB_DEF_METRIC && def->index == 1)
			def->def.type = HYB_DEF_PAD;
	}
	e = help_open(t.w);
	events = hyb_events_open(e, NULL, true, NULL);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(hyb_events_next(events, &event), 1);
		assert_int_equal(event.time, 1100 + i * 10);
		assert_null(event.values);
		assert_null(event.since_values);
	}
	assert_int_equal(hyb_events_next(events, &event), 0);
	hyb_events_close(events);
	assert_non_null(strstr(hyb_damage_text(e, hyb_damage_count(e) - 1),
		"does not have the values of the metrics that the process has"));
	help_close(e, t.w);
}

static int decode(const void *records, size_t length, struct trace_layout layout, struct trace_record *r)
{
	struct {
		struct hyb_chunk chunk;
		struct hyb_trace_start start;
		uint8_t records[64];
	} data = {0};
	static_assert(
		sizeof(data.chunk) + sizeof(data.start) == offsetof(__typeof__(data), records), "start");
	struct trace trace;
	int result;

	memcpy(data.records, records, length);
	trace_init(&trace, &data, offsetof(__typeof__(data), records) + length, layout);
	while ((result = trace_next(&trace, r)) > 0 && r->kind == HYB_RECORD_OTHER)
		;
	return result;
}

/* Records cut short at each byte, and with flags that there cannot be. */
static void test_truncated(void **state)
{
	static const uint8_t records[] = {HYB_RECORD_OTHER | HYB_OTHER_NOW, HYB_OTHER_METRICS, 2, 8, 9,
		HYB_RECORD_SAMPLE | HYB_SAMPLE_FIRST | HYB_SAMPLE_EVENT | HYB_RECORD_METRICS, 5, 4, 3, 1, 2,
		0x81, 0x01, 6, 7};
	static const struct trace_layout layout = {2, true, true};
	static const uint8_t huge[] = {HYB_RECORD_OTHER | HYB_OTHER_NOW, HYB_OTHER_METRICS, 17, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	struct trace_record r;

	assert_int_equal(decode(records, sizeof(records), layout, &r), 1);
	assert_int_equal(r.metric, 1);
	assert_int_equal(r.since_values[0], 1);
	assert_int_equal(r.since_values[1], -65);
	for (size_t length = 6; length < sizeof(records); length++)
		assert_int_equal(decode(records, length, layout, &r), -1);
	for (size_t length = 1; length < 5; length++)
		assert_int_equal(decode(records, length, layout, &r), -1);
	assert_int_equal(decode(records + 5, 10, (struct trace_layout){0, false, true}, &r), -1);
	assert_int_equal(decode(huge, 3 + 17, layout, &r), -1);
	assert_int_equal(decode(huge, 2, layout, &r), -1);
	assert_int_equal(
		decode((uint8_t[]){HYB_RECORD_OTHER | HYB_OTHER_NOW, HYB_OTHER_METRICS, 0}, 3, layout, &r),
		-1);
	/* Before 1.3 it said nothing. */
	assert_int_equal(decode(huge, 3 + 17, (struct trace_layout){0}, &r), 0);
}

/* ------------------------------------------------------------------ threads */

#define READERS 4
#define RECORDS 20000

struct reader {
	struct hyb_experiment *e;
	const struct hyb_location_info *location;
	uint64_t samples;
	int64_t last, grown;
};

static void *read_location(void *data)
{
	struct reader *r = data;

	for (int complete = 0; complete < 2; complete++) {
		struct hyb_events *events = hyb_events_open(r->e, r->location, complete, NULL);
		struct hyb_event event;

		r->samples = 0;
		r->grown = 0;
		while (events && hyb_events_next(events, &event) > 0) {
			r->samples += event.kind == HYB_EVENT_SAMPLE;
			if (event.values)
				r->last = event.values[0];
			if (event.until_values)
				r->grown += event.since_values[0] + event.until_values[0];
		}
		hyb_events_close(events);
		hyb_damage_text(r->e, 0);
	}
	return NULL;
}

/* Each location by a thread of its own, and one of them by two; all find damage. */
static void test_threads(void **state)
{
	struct tree t = {.w = writer_new()};
	struct reader readers[READERS + 1];
	pthread_t threads[READERS + 1];
	struct hyb_experiment *e;

	writer_header(t.w)->trace_events = 1;
	writer_metric(t.w, "count", "", "", HYB_METRIC_COUNT, 0, 0);
	for (uint32_t l = 1; l <= READERS; l++) {
		grow_tree(&t, l);
		for (int64_t i = 0; i < RECORDS; i++) {
			writer_read(t.w, l, VALUES(i * l));
			writer_enter(t.w, l, 1000 + (uint64_t)i * 3, t.a);
			writer_sample(t.w, l, 1001 + (uint64_t)i * 3, t.in_a, 1, 0, 1);
			writer_read(t.w, l, VALUES(i * l + 1));
			writer_leave(t.w, l, 1002 + (uint64_t)i * 3);
			if (i % (RECORDS / 4) == 0)
				writer_marker(t.w, l, 1002 + (uint64_t)i * 3, 8 * 4711);
		}
	}
	e = help_open(t.w);
	for (uint32_t i = 0; i <= READERS; i++) {
		readers[i] = (struct reader){.e = e};
		readers[i].location = &hyb_process_at(e, 0)->locations[i % READERS];
		assert_int_equal(pthread_create(&threads[i], NULL, read_location, &readers[i]), 0);
	}
	for (uint32_t i = 0; i <= READERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(readers[i].samples, RECORDS);
		assert_int_equal(readers[i].last, (RECORDS - 1) * (int64_t)(i % READERS + 1) + 1);
		assert_int_equal(readers[i].grown, RECORDS);
	}
	/* Four chunks of each location, once. */
	assert_int_equal(hyb_damage_count(e), READERS * 4);
	for (size_t i = 0; i < READERS * 4; i++)
		assert_non_null(strstr(hyb_damage_text(e, i), "a marker without its text"));
	help_close(e, t.w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enter_and_leave),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_no_start),
		cmocka_unit_test(test_other_width),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
