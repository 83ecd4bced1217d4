/* A profile of files: what is chosen of them, and what is said of their quality. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "profile/views/views.h"
#include "profile_fixture.h"
#include "reader_help.h"

#define START 1000u /* tick at which a new file starts */

/*
 * Thread 10 works 100 us, all of it CPU, in the region "solve" (60 us, 3 calls, 6 samples: 4 and 2);
 * thread 11 works 50 us without a region and without a name for where.
 */
static struct writer *make_file(void)
{
	struct writer *w = writer_new();
	uint32_t module = writer_module(w, "/nowhere/prog", NULL, 0);
	uint64_t region = writer_region(w, "solve", "solve.c", 12, HYB_REGION_USER);
	uint32_t one = writer_location(w, 1, 10, START), two, solve, leaf;
	struct hyb_location *l;

	writer_header(w)->rate = 1000;
	writer_header(w)->probe_cost = 1024 * 50;
	solve = writer_node(w, 1, one, HYB_NODE_REGION, region);
	writer_node_at(w, solve)->count = 3;
	writer_node_at(w, solve)->inclusive = 60000;
	writer_node_at(w, solve)->ran = 60000;
	leaf = writer_node(w, 1, solve, HYB_NODE_LEAF, HYB_CODE(module, 0x1234));
	writer_node_at(w, leaf)->samples = 4;
	leaf = writer_node(w, 1, solve, HYB_NODE_LEAF, HYB_CODE(module, 0x1334));
	writer_node_at(w, leaf)->samples = 2;
	two = writer_location(w, 2, 11, START);
	leaf = writer_node(w, 2, two, HYB_NODE_LEAF, HYB_CODE(0, 0x7000));
	writer_node_at(w, leaf)->samples = 5;
	l = writer_location_at(w, 1);
	l->cpu = 100000;
	l->samples = 6;
	l->dropped[HYB_DROP_PAUSED] = 2;
	l->source = HYB_SOURCE_TASK_CLOCK;
	l = writer_location_at(w, 2);
	l->cpu = 50000;
	l->samples = 5;
	l->dropped[HYB_DROP_PAUSED] = 1;
	l->source = HYB_SOURCE_TIMER;
	writer_location_end(w, 1, START + 100000);
	writer_location_end(w, 2, START + 50000);
	return w;
}

static struct profile *make_profile(
	const struct profile_options *options, struct hyb_experiment *e, unsigned times)
{
	struct hyb_symbols_options without_cache = {.no_cache = true};
	struct hyb_error err = {0};
	struct hyb_symbols *symbols = hyb_symbols_open(e, &without_cache, &err);
	struct profile *p = profile_new(options);

	assert_non_null(symbols);
	assert_non_null(p);
	while (times--)
		assert_int_equal(profile_add(p, e, symbols, &err), 0);
	assert_int_equal(profile_finish(p, &err), 0);
	assert_exact(p);
	hyb_symbols_close(symbols); /* names are copies */
	return p;
}

static void test_all(void **state)
{
	struct writer *w = make_file();
	struct hyb_experiment *e = help_open(w);
	struct profile *p = make_profile(NULL, e, 1);
	const struct profile_quality *q = profile_quality(p);

	assert_int_equal(profile_nodes(p)[0].inclusive, 150000);
	assert_int_equal(find_node(p, PROFILE_PROBE, "solve", 12)->inclusive, 60000);
	assert_int_equal(find_node(p, PROFILE_PROBE, "solve", 12)->calls, 3);
	assert_int_equal(find_node(p, PROFILE_LEAF, "[prog+0x1234]", 0)->exclusive, 40000);
	assert_int_equal(find_node(p, PROFILE_LEAF, "[prog+0x1334]", 0)->exclusive, 20000);
	assert_int_equal(find_node(p, PROFILE_LEAF, "[code without a module]", 0)->exclusive, 50000);
	assert_int_equal(profile_nodes(p)[0].exclusive, 40000);
	assert_int_equal(q->experiments, 1);
	assert_int_equal(q->processes, 1);
	assert_int_equal(q->locations, 2);
	assert_int_equal(q->wall, 100000);
	assert_int_equal(q->thread_wall, 150000);
	assert_int_equal(q->cpu, 150000);
	assert_int_equal(q->samples, 11);
	assert_int_equal(q->dropped[HYB_DROP_PAUSED], 3);
	assert_int_equal(q->sources, 1u << HYB_SOURCE_TASK_CLOCK | 1u << HYB_SOURCE_TIMER);
	assert_int_equal(q->rate, 1000);
	assert_int_equal(q->probe_calls, 3);
	assert_int_equal(q->probe_time, 300); /* among other work, as below */
	assert_float_equal(q->achieved, 11 / 150e-6, 1);
	profile_free(p);
	help_close(e, w);
}

static uint64_t probe_time_of(uint64_t inside, enum hyb_source source)
{
	struct writer *w = make_file();
	struct hyb_experiment *e;
	struct profile *p;
	uint64_t time;

	writer_location_at(w, 1)->dropped[HYB_DROP_IN_PROBE] = inside;
	writer_location_at(w, 1)->source = source;
	e = help_open(w);
	p = make_profile(NULL, e, 1);
	time = profile_quality(p)->probe_time;
	profile_free(p);
	help_close(e, w);
	return time;
}

/* 19 of 30 samples hit a probe: so much of 150 us. Few say nothing, nor do samples of wall time: 3 calls of
 * 50 ns, twice that among other work. */
static void test_dear_probes(void **state)
{
	assert_int_equal(probe_time_of(19, HYB_SOURCE_TASK_CLOCK), 95000);
	assert_int_equal(probe_time_of(9, HYB_SOURCE_TASK_CLOCK), 300);
	assert_int_equal(probe_time_of(19, HYB_SOURCE_WALL), 300);
}

/* Each kind of call at its own price; what threads cost beside is added as it is. */
static void test_cost(void **state)
{
	struct writer *w = make_file();
	uint64_t python = writer_region(w, "f", "f.py", 1, HYB_REGION_PYTHON);
	uint32_t node = writer_node(w, 1, writer_location_at(w, 1)->root, HYB_NODE_REGION, python);
	const struct profile_quality *q;
	struct hyb_experiment *e;
	struct profile *p;

	writer_node_at(w, node)->count = 10;
	writer_node_at(w, node)->skipped = 6;
	node = writer_node(w, 1, writer_location_at(w, 1)->root, HYB_NODE_FUNCTION, HYB_CODE(1, 0x99));
	writer_node_at(w, node)->count = 5;
	writer_node_at(w, node)->skipped = 2;
	for (unsigned i = 0; i < HYB_PROBE_COUNT; i++)
		writer_header(w)->call_cost[i] = 1024 * (i + 1);
	writer_location_at(w, 1)->handler_ticks = 1000;
	writer_location_at(w, 1)->cost[HYB_COST_INTERRUPT] = 300;
	writer_location_at(w, 2)->cost[HYB_COST_INTERRUPT] = 30;
	writer_location_at(w, 2)->cost[HYB_COST_THREAD] = 7;
	writer_location_at(w, 2)->left_out = 100;
	writer_location_at(w, 2)->python_left_out = 10;
	e = help_open(w);
	p = make_profile(NULL, e, 1);
	q = profile_quality(p);
	assert_int_equal(q->probe_time, 2 * (3 * 50 + 3 * 2));
	assert_int_equal(q->skipped_time, 2 * 2 * 3);
	assert_int_equal(q->python_time, 4 * 5 + 6 * 6);
	assert_int_equal(q->python_calls, 10);
	assert_int_equal(q->left_out_calls, 110);
	assert_int_equal(q->left_out_time, 2 * 100 * 4 + 10 * 7);
	assert_int_equal(q->cost[HYB_COST_INTERRUPT], 330);
	assert_int_equal(profile_cost(q), 1000 + 312 + 12 + 56 + 870 + 330 + 7);
	profile_free(p);
	help_close(e, w);
}

static void test_twice(void **state)
{
	struct writer *w = make_file();
	struct hyb_experiment *e = help_open(w);
	struct profile *p = make_profile(NULL, e, 2);

	assert_int_equal(profile_nodes(p)[0].inclusive, 300000);
	assert_int_equal(find_node(p, PROFILE_PROBE, "solve", 12)->calls, 6);
	assert_int_equal(profile_quality(p)->experiments, 2);
	assert_int_equal(profile_quality(p)->samples, 22);
	profile_free(p);
	help_close(e, w);
}

static bool is_thread(void *data, const struct hyb_location_info *location)
{
	return location->tid == *(const uint32_t *)data;
}

static void test_select(void **state)
{
	uint32_t tid = 11;
	struct profile_options options = {.select = is_thread, .data = &tid};
	struct writer *w = make_file();
	struct hyb_experiment *e = help_open(w);
	struct profile *p = make_profile(&options, e, 1);

	assert_int_equal(profile_nodes(p)[0].inclusive, 50000);
	assert_null(seek_node(p, PROFILE_PROBE, "solve", 12));
	assert_int_equal(profile_quality(p)->locations, 1);
	assert_int_equal(profile_quality(p)->samples, 5);
	profile_free(p);
	tid = 12;
	p = make_profile(&options, e, 1);
	assert_int_equal(profile_count(p), 1);
	assert_int_equal(profile_quality(p)->locations, 0);
	profile_free(p);
	help_close(e, w);
}

static void test_threads(void **state)
{
	struct profile_options options = {.split_locations = true};
	struct writer *w = make_file();
	struct hyb_experiment *e = help_open(w);
	struct profile *p = make_profile(&options, e, 1);
	struct profile_tree flat;

	assert_int_equal(profile_flat(p, PROFILE_BY_THREAD, PROFILE_SORT_EXCLUSIVE, &flat), 0);
	assert_int_equal(flat.count, 2);
	assert_string_equal(flat.nodes[0].name, "prog 100 thread 10");
	assert_int_equal(flat.nodes[0].exclusive, 100000);
	assert_int_equal(flat.nodes[0].calls, 3);
	assert_string_equal(flat.nodes[1].name, "prog 100 thread 11");
	assert_int_equal(flat.nodes[1].exclusive, 50000);
	profile_tree_release(&flat);
	profile_free(p);
	help_close(e, w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_dear_probes),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
