/*
 * Files of older versions stay readable. The files in tests/data were each made
 * once, by hyb_writer when theirs was the newest version, and are never made again;
 * what they have to say is written here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hybrid/reader.h"

#define UNKNOWN HYB_TIME_UNKNOWN

static struct hyb_experiment *open_old(const char *path)
{
	struct hyb_experiment *e;

	assert_int_equal(hyb_experiment_open(path, &e, NULL), HYB_OK);
	return e;
}

static void test_process(void **state)
{
	struct hyb_experiment *e = open_old(TEST_DATA "/v1.0.hyb");
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
	struct hyb_experiment *e = open_old(TEST_DATA "/v1.0.hyb");
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
	struct hyb_experiment *e = open_old(TEST_DATA "/v1.0.hyb");
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

/* 1.1: frames of Python, awaiting, waiting; what 1.0 did not count is 0. */
static void test_python(void **state)
{
	struct hyb_experiment *old = open_old(TEST_DATA "/v1.0.hyb"), *e = open_old(TEST_DATA "/v1.1.hyb");
	const struct hyb_process *p = hyb_process_at(e, 0);
	const struct hyb_location_info *l = p->locations;
	const struct hyb_node_info *n = l->nodes;
	static const uint8_t types[] = {HYB_TYPE_ROOT, HYB_TYPE_PYTHON, HYB_TYPE_CALL, HYB_TYPE_LEAF,
		HYB_TYPE_PYTHON, HYB_TYPE_REGION, HYB_TYPE_AWAIT, HYB_TYPE_REGION};

	assert_string_equal(p->metadata[1].key, "hybrid.python.module");
	assert_string_equal(p->metadata[1].value, p->modules[0].path);
	assert_int_equal(l->node_count, 8);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(n[i].type, types[i]);
	assert_string_equal(n[1].region->name, "<module app>");
	assert_string_equal(n[1].region->file, "/src/app.py");
	assert_int_equal(n[1].line, 1234);
	assert_int_equal(n[4].line, 0);
	assert_ptr_equal(n[4].region, n[5].region);
	assert_int_equal(n[5].region->kind, 9);
	assert_true(n[5].region->python);
	assert_int_equal(n[6].parent, 5);
	assert_int_equal(n[6].calls, 7);
	assert_int_equal(n[6].inclusive, 90000);
	assert_int_equal(n[7].region->kind, 8);
	assert_false(n[7].region->python);
	for (unsigned i = 0; i < 8; i++) {
		static const uint64_t python[8] = {3, 1, 2, 4};

		assert_int_equal(l->python[i], python[i]);
		assert_int_equal(hyb_process_at(old, 0)->locations[0].python[i], 0);
	}
	assert_int_equal(hyb_damage_count(e), 0);
	hyb_experiment_close(e);
	hyb_experiment_close(old);
}

/* 1.2: two ranks in one file, the second on another clock. What 1.1 did not know is not there. */
static void test_ranks(void **state)
{
	struct hyb_experiment *old = open_old(TEST_DATA "/v1.1.hyb"), *e = open_old(TEST_DATA "/v1.2.hyb");

	assert_int_equal(hyb_process_count(old), 1);
	assert_int_equal(hyb_process_at(old, 0)->world, 0);
	assert_int_equal(hyb_process_at(old, 0)->clock_domain, 0);
	assert_int_equal(hyb_process_at(old, 0)->locations[0].mpi[1], 0);
	assert_int_equal(hyb_process_count(e), 2);
	for (unsigned i = 0; i < 2; i++) {
		const struct hyb_process *p = hyb_process_at(e, i);
		const struct hyb_node_info *n = p->locations[0].nodes;

		assert_int_equal(p->pid, 5000 + i);
		assert_string_equal(p->host, i ? "second" : "first");
		assert_int_equal(p->start, 1000000);
		assert_int_equal(p->end, 1500000);
		assert_int_equal(p->clock_domain, 11 + i);
		assert_int_equal(p->clock_shift_start, i ? -5000 : 0);
		assert_int_equal(p->clock_shift_end, i ? -5500 : 0);
		assert_int_equal(p->clock_error, i ? 60 : 0);
		assert_int_equal(p->world, 0xfeed);
		assert_int_equal(p->rank, i);
		assert_int_equal(p->world_size, 2);
		assert_int_equal(p->handle_count, 3);
		assert_string_equal(p->handles[0].name, "MPI_COMM_WORLD");
		assert_string_equal(p->handles[1].name, "halo");
		assert_int_equal(p->handles[1].type, HYB_WINDOW);
		assert_int_equal(p->handles[2].parent, 77);
		assert_int_equal(p->locations[0].mpi[0], i);
		assert_int_equal(p->locations[0].mpi[1], 7);
		assert_string_equal(n[1].region->name, i ? "MPI_Recv" : "MPI_Send");
		assert_true(n[1].region->mpi);
		assert_int_equal(n[1].least + n[1].most, 0); /* not known */
		assert_int_equal(n[2].type, HYB_TYPE_MESSAGE);
		assert_int_equal(n[2].message, i ? HYB_RECV : HYB_SEND);
		assert_int_equal(n[2].peer, 1 - i);
		assert_int_equal(n[2].size_class, 7);
		assert_int_equal(n[2].calls, 2);
		assert_int_equal(n[2].inclusive, 250);
		assert_int_equal(n[2].sent, i ? 0 : 200);
		assert_int_equal(n[2].received, i ? 200 : 0);
		assert_int_equal(n[3].message, HYB_WRITE);
		assert_ptr_equal(n[3].handle, &p->handles[2]);
	}
	assert_int_equal(hyb_damage_count(e), 0);
	hyb_experiment_close(e);
	hyb_experiment_close(old);
}

static void test_records(void **state)
{
	static const struct {
		unsigned kind, rank, message;
		uint64_t time;
	} x[] = {
		/* The drift of rank 1 is 500 ns in 500,500. */
		{HYB_EVENT_ENTER, 1, 0, 1105000 - 5099},
		{HYB_EVENT_ENTER, 0, 0, 1100000},
		{HYB_EVENT_MESSAGE, 0, HYB_SEND, 1100100},
		{HYB_EVENT_MESSAGE, 0, HYB_SEND, 1100100},
		{HYB_EVENT_MESSAGE, 0, HYB_COLLECTIVE, 1100200},
		{HYB_EVENT_MESSAGE, 1, HYB_RECV, 1105300 - 5100},
		{HYB_EVENT_POSTED, 1, 0, 1100200},
		{HYB_EVENT_EPOCH, 1, 0, 1100200},
		{HYB_EVENT_MESSAGE, 1, HYB_WRITE, 1100200},
		{HYB_EVENT_FAILED, 1, 0, 1100300},
		{HYB_EVENT_LEAVE, 1, 0, 1100400},
		{HYB_EVENT_LEAVE, 0, 0, 1100500},
	};
	struct hyb_experiment *e = open_old(TEST_DATA "/v1.2.hyb");
	struct hyb_events *events = hyb_events_open(e, NULL, false, NULL);
	struct hyb_event event;

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++) {
		assert_int_equal(hyb_events_next(events, &event), 1);
		assert_int_equal(event.kind, x[i].kind);
		assert_int_equal(event.location->process->rank, x[i].rank);
		assert_int_equal(event.message, x[i].message);
		assert_int_equal(event.time, x[i].time);
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
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
