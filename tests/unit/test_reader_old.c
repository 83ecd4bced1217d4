/*
 * Files of older versions stay readable. tests/data/v1.0.hyb was made once, by
 * hyb_writer when 1.0 was the only version, and is never made again; what it
 * has to say is written here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hybrid/reader.h"

#define UNKNOWN HYB_TIME_UNKNOWN

static struct hyb_experiment *open_old(void)
{
	struct hyb_experiment *e;

	assert_int_equal(hyb_experiment_open(TEST_DATA "/v1.0.hyb", &e, NULL), HYB_OK);
	return e;
}

static void test_process(void **state)
{
	struct hyb_experiment *e = open_old();
	const struct hyb_process *p = hyb_process_at(e, 0);

	assert_int_equal(p->pid, 4242);
	assert_int_equal(p->image, 1);
	assert_int_equal(p->state, 2);
	assert_int_equal(p->rate, 997);
	assert_true(p->tick_ns == 0.5);
	assert_int_equal(p->start, 1000000);
	assert_int_equal(p->end, 1500000);
	assert_string_equal(p->host, "oldhost");
	assert_string_equal(p->modules[0].path, "/usr/bin/prog");
	assert_memory_equal(p->modules[0].build_id, "\xde\xad\xbe\xef", 4);
	assert_string_equal(p->metadata[0].key, "case");
	assert_string_equal(p->metadata[0].value, "cavity");
	assert_string_equal(p->notes[0].text, "a note");
	assert_int_equal(p->notes[0].time, 1000500);
	assert_string_equal(p->children[0].path, "/bin/true");
	assert_int_equal(hyb_damage_count(e), 0);
	hyb_experiment_close(e);
}

static void test_thread(void **state)
{
	struct hyb_experiment *e = open_old();
	const struct hyb_location_info *l = &hyb_process_at(e, 0)->locations[0];
	const struct hyb_node_info *n = l->nodes;
	static const uint8_t types[] = {HYB_TYPE_ROOT, HYB_TYPE_REGION, HYB_TYPE_CALL, HYB_TYPE_LEAF,
		HYB_TYPE_PARTIAL, HYB_TYPE_FUNCTION};

	assert_string_equal(l->name, "main");
	assert_int_equal(l->tid, 4242);
	assert_int_equal(l->end, 1500000);
	assert_int_equal(l->dropped[1], 3);
	assert_int_equal(l->node_count, 6);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(n[i].type, types[i]);
	assert_int_equal(n[0].inclusive, 500000);
	assert_string_equal(n[1].region->name, "solve");
	assert_string_equal(n[1].region->file, "solve.c");
	assert_int_equal(n[1].region->line, 12);
	assert_int_equal(n[1].calls, 2);
	assert_int_equal(n[1].inclusive, 100);
	assert_int_equal(n[2].address, 0x1111);
	assert_int_equal(n[3].address, 0x2222);
	assert_int_equal(n[3].parent, 2);
	assert_int_equal(n[3].samples, 2);
	assert_ptr_equal(n[3].module, hyb_process_at(e, 0)->modules);
	assert_int_equal(n[4].reason, 1);
	assert_int_equal(n[5].skipped, 4);
	hyb_experiment_close(e);
}

static void test_events(void **state)
{
	static const struct {
		unsigned kind;
		uint64_t time;
		uint32_t node;
		uint64_t since, until;
	} x[] = {
		{HYB_EVENT_ENTER, 1000100, 1, UNKNOWN, UNKNOWN},
		{HYB_EVENT_SAMPLE, 1000110, 3, 10, 40},
		{HYB_EVENT_COUNTER, 1000120, 0, UNKNOWN, UNKNOWN},
		{HYB_EVENT_MARKER, 1000130, 0, UNKNOWN, UNKNOWN},
		{HYB_EVENT_SAMPLE, 1000140, 3, 40, 10},
		{HYB_EVENT_LEAVE, 1000150, 1, UNKNOWN, UNKNOWN},
		{HYB_EVENT_SAMPLE, 1000300, 3, 20, 30},
		{HYB_EVENT_COMPLETE, 1000330, 1, UNKNOWN, UNKNOWN},
	};
	struct hyb_experiment *e = open_old();
	struct hyb_events *events = hyb_events_open(e, NULL, true, NULL);
	struct hyb_event event;

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++) {
		assert_int_equal(hyb_events_next(events, &event), 1);
		assert_int_equal(event.kind, x[i].kind);
		assert_int_equal(event.time, x[i].time);
		assert_int_equal(event.node, x[i].node);
		assert_int_equal(event.since, x[i].since);
		assert_int_equal(event.until, x[i].until);
		if (event.kind == HYB_EVENT_COUNTER) {
			assert_string_equal(event.text, "residual");
			assert_true(event.is_double && event.value.real == 0.25);
		}
		if (event.kind == HYB_EVENT_MARKER)
			assert_string_equal(event.text, "half way");
	}
	assert_int_equal(hyb_events_next(events, &event), 0);
	assert_int_equal(hyb_damage_count(e), 0);
	hyb_events_close(events);
	hyb_experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
