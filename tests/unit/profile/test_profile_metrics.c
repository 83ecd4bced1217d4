/* What metrics grew by, in a tree: shared out exactly, by the right samples, once for what is of a process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile/state.h"
#include "profile_fixture.h"

static const struct hyb_metric count = {"c", "", "a count", false, false, false, 0, false};

static size_t metric_index(const struct profile *p, const char *name)
{
	size_t n;
	const struct profile_metric *m = profile_metrics(p, &n);

	for (size_t k = 0; k < n; k++)
		if (!strcmp(m[k].name, name))
			return k;
	fail_msg("no metric %s", name);
	return 0;
}

static struct profile_value value_of(
	const struct profile *p, const char *metric, const struct profile_node *n)
{
	size_t count_all;

	profile_metrics(p, &count_all);
	return profile_values(p)[(size_t)(n - profile_nodes(p)) * count_all + metric_index(p, metric)];
}

static void assert_value(const struct profile *p, const char *metric, const struct profile_node *n,
	int64_t inclusive, int64_t exclusive)
{
	struct profile_value v = value_of(p, metric, n);

	if (v.inclusive != inclusive || v.exclusive != exclusive)
		fail_msg("%s:%u has %lld, %lld of %s", n->name, n->line, (long long)v.inclusive,
			(long long)v.exclusive, metric);
}

/* At every node, of every metric. */
static void assert_sums(const struct profile *p)
{
	const struct profile_node *nodes = profile_nodes(p);
	size_t n;

	profile_metrics(p, &n);
	for (size_t i = 0; i < profile_count(p); i++)
		for (size_t k = 0; k < n; k++) {
			int64_t sum = profile_values(p)[i * n + k].exclusive;

			for (uint32_t c = nodes[i].first_child; c; c = nodes[c].next_sibling)
				sum += profile_values(p)[c * n + k].inclusive;
			assert_int_equal(profile_values(p)[i * n + k].inclusive, sum);
			if (nodes[i].kind == PROFILE_INTERMEDIATE)
				assert_int_equal(profile_values(p)[i * n + k].exclusive, 0);
		}
}

/* root 100: probe 60 with samples 1 to 2 in two lines; outside it 40, samples 3 to 1. */
static struct fixture *simple(const struct hyb_metric *metric)
{
	struct fixture *f = fixture_new();
	uint32_t probe;

	fixture_root(f, 1000, 1000);
	fixture_metrics(f, metric, 1);
	probe = fixture_region(f, fixture_call(f, 0, "main", 3), "loop", HYB_REGION_LOOP, 500, 1);
	fixture_leaf(f, probe, "kernel", 7, 1);
	fixture_leaf(f, probe, "kernel", 8, 2);
	fixture_leaf(f, 0, "main", 4, 3);
	fixture_leaf(f, 0, "main", 5, 1);
	f->nodes[0].ran = f->nodes[probe].ran = 500;
	fixture_grow(f, 0, 0, 100);
	fixture_grow(f, probe, 0, 60);
	return f;
}

static void test_by_samples(void **state)
{
	struct profile *p = fixture_profile(simple(&count), PROFILE_ROUTINE, 1);
	size_t n;
	const struct profile_metric *m = profile_metrics(p, &n);

	assert_int_equal(n, 1);
	assert_string_equal(m->name, "c");
	assert_string_equal(m->description, "a count");
	assert_int_equal(m->processes, 1);
	assert_int_equal(m->samples, 0);
	assert_sums(p);
	assert_value(p, "c", profile_nodes(p), 100, 0);
	assert_value(p, "c", find_node(p, PROFILE_PROBE, "loop", 1), 60, 0);
	assert_value(p, "c", find_node(p, PROFILE_LEAF, "kernel", 7), 20, 20);
	assert_value(p, "c", find_node(p, PROFILE_LEAF, "kernel", 8), 40, 40);
	assert_value(p, "c", find_node(p, PROFILE_INTERMEDIATE, "main", 0), 60, 0);
	assert_value(p, "c", find_node(p, PROFILE_LEAF, "main", 4), 30, 30);
	assert_value(p, "c", find_node(p, PROFILE_LEAF, "main", 5), 10, 10);
	profile_free(p);
}

/* Its own overflow says something else than the clock; time stays where it was. */
static void test_by_overflow(void **state)
{
	static const struct hyb_metric metric = {"e", "", "", false, false, false, 10, false};
	struct fixture *f = simple(&metric);
	struct profile *p;
	struct profile_value v;
	size_t n;

	fixture_overflow(f, 3, 0, 6); /* kernel:7, all of the probe's */
	fixture_overflow(f, 5, 0, 1); /* main:4 */
	fixture_overflow(f, 6, 0, 1); /* main:5 */
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_sums(p);
	assert_int_equal(profile_metrics(p, &n)->samples, 8);
	assert_int_equal(profile_metrics(p, &n)->period, 10);
	assert_value(p, "e", find_node(p, PROFILE_LEAF, "kernel", 7), 60, 60);
	assert_value(p, "e", find_node(p, PROFILE_LEAF, "kernel", 8), 0, 0);
	assert_value(p, "e", find_node(p, PROFILE_LEAF, "main", 4), 20, 20);
	assert_value(p, "e", find_node(p, PROFILE_LEAF, "main", 5), 20, 20);
	v = value_of(p, "e", find_node(p, PROFILE_LEAF, "kernel", 7));
	assert_int_equal(v.samples, 6);
	assert_int_equal(find_node(p, PROFILE_LEAF, "main", 4)->exclusive, 375);
	assert_int_equal(find_node(p, PROFILE_LEAF, "main", 5)->exclusive, 125);
	profile_free(p);
}

/* Lines that only the overflow has met are lines, too. */
static void test_overflow_alone(void **state)
{
	static const struct hyb_metric metric = {"e", "", "", false, false, false, 10, false};

	for (unsigned mode = 0; mode < 3; mode++) {
		struct fixture *f = simple(&metric);
		struct profile *p;

		fixture_overflow(f, fixture_leaf(f, 2, "alloc", 9, 0), 0, 3);
		p = fixture_profile(f, (enum profile_mode)mode, 1);
		assert_sums(p);
		assert_value(p, "e", find_node(p, PROFILE_LEAF, "alloc", mode == PROFILE_FUNCTION ? 0 : 9),
			60, 60);
		profile_free(p);
	}
}

/* No sample: what is known stays with the probe. */
static void test_not_sampled(void **state)
{
	static const struct hyb_metric metric = {"e", "", "", false, false, false, 10, false};
	struct fixture *f = simple(&metric);
	struct profile *p = fixture_profile(f, PROFILE_ROUTINE, 1);

	assert_value(p, "e", profile_nodes(p), 100, 40);
	assert_value(p, "e", find_node(p, PROFILE_PROBE, "loop", 1), 60, 60);
	profile_free(p);
	f = simple(&count);
	f->location.source = HYB_SOURCE_NONE;
	for (size_t i = 0; i < f->location.node_count; i++)
		f->nodes[i].samples = 0;
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_value(p, "c", profile_nodes(p), 100, 40);
	profile_free(p);
}

/* Memory that the loop takes and somebody else gives back: growth that is negative somewhere. How often a
 * line was sampled says nothing about where it went up: without readings it is the probe's. */
static void test_level(void **state)
{
	static const struct hyb_metric metric = {"l", "B", "", true, false, false, 0, false};
	struct fixture *f = simple(&metric);
	struct profile *p;

	fixture_grow(f, 0, 0, -7);
	fixture_grow(f, 2, 0, 1001);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_sums(p);
	assert_value(p, "l", profile_nodes(p), -7, -1008);
	assert_value(p, "l", find_node(p, PROFILE_PROBE, "loop", 1), 1001, 1001);
	assert_value(p, "l", find_node(p, PROFILE_LEAF, "kernel", 7), 0, 0);
	assert_value(p, "l", find_node(p, PROFILE_LEAF, "main", 4), 0, 0);
	profile_free(p);
}

/* Estimates need not fit into each other: children are cut, nothing is negative. */
static void test_estimated(void **state)
{
	static const struct hyb_metric metric = {"m", "", "", false, true, false, 0, false};
	struct fixture *f = simple(&metric);
	struct profile *p;
	size_t n;

	fixture_grow(f, 2, 0, 130);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_sums(p);
	assert_true(profile_metrics(p, &n)->estimated);
	assert_value(p, "m", profile_nodes(p), 100, 0);
	assert_value(p, "m", find_node(p, PROFILE_PROBE, "loop", 1), 100, 0);
	assert_value(p, "m", find_node(p, PROFILE_LEAF, "main", 4), 0, 0);
	profile_free(p);
}

/* Two threads of one process see the same memory: it counts once, that of the first that takes part. */
static bool is_second(void *data, const struct hyb_location_info *location)
{
	return location->id == 2;
}

static void test_process_wide(void **state)
{
	static const struct hyb_metric metrics[] = {
		{"memory::resident", "B", "", true, false, true, 0, false},
		{"own", "", "", false, false, false, 0, false}};
	struct profile_options options = {.split_locations = true};
	struct fixture *first = simple(metrics), *second = simple(metrics);
	struct hyb_location_info locations[2];
	struct hyb_error err;

	fixture_metrics(first, metrics, 2);
	fixture_grow(first, 0, 1, 5);
	fixture_grow(second, 0, 1, 6);
	fixture_grow(second, 0, 0, 70);
	second->location.id = 2;
	second->location.process = &first->process;
	for (unsigned pass = 0; pass < 2; pass++) {
		struct profile *p;

		options.select = pass ? is_second : NULL;
		p = profile_new(&options);
		locations[0] = first->location;
		locations[1] = second->location;
		first->process.locations = locations;
		first->process.location_count = 2;
		for (unsigned i = pass; i < 2; i++)
			fixture_add_location(&locations[i], p);
		assert_int_equal(profile_end_process(p, &first->process, true), 0);
		assert_int_equal(profile_finish(p, &err), 0);
		assert_sums(p);
		assert_value(p, "memory::resident", profile_nodes(p), pass ? 70 : 100, 0);
		assert_int_equal(value_of(p, "own", profile_nodes(p)).inclusive, pass ? 6 : 11);
		profile_free(p);
	}
	first->process.locations = NULL;
	first->process.location_count = 0;
	fixture_free(first);
	fixture_free(second);
}

/* Processes with different metrics, in any order: the union, in the order of their indices. */
static void test_union(void **state)
{
	static const struct hyb_metric a[] = {{"x", "", "", false, false, false, 0, false},
		{"y", "", "", false, false, false, 100, false}},
				       b[] = {{"z", "", "", false, false, false, 0, false},
					       {"y", "", "of b", false, true, false, 0, false}};

	for (unsigned turn = 0; turn < 2; turn++) {
		struct profile *p = profile_new(NULL);
		struct fixture *f[2] = {simple(a), simple(b)};
		const struct profile_metric *m;
		struct hyb_error err;
		size_t n;

		fixture_metrics(f[0], a, 2);
		fixture_metrics(f[1], b, 2);
		for (unsigned i = 0; i < 2; i++) {
			fixture_grow(f[i], 0, 1, 1000);
			fixture_grow(f[i], 2, 1, i ? 300 : 600);
		}
		fixture_overflow(f[0], 4, 1, 9); /* kernel:8 */
		for (unsigned i = 0; i < 2; i++)
			fixture_add(f[i ^ turn], p);
		assert_int_equal(profile_finish(p, &err), 0);
		assert_sums(p);
		m = profile_metrics(p, &n);
		assert_int_equal(n, 3);
		assert_string_equal(m[0].name, "x");
		assert_string_equal(m[1].name, "z");
		assert_string_equal(m[2].name, "y");
		assert_string_equal(m[2].description, "of b");
		assert_true(m[2].estimated);
		assert_int_equal(m[2].period, 100);
		assert_int_equal(m[2].processes, 2);
		assert_int_equal(m[0].processes, 1);
		assert_value(p, "x", profile_nodes(p), 100, 0);
		/* of a by overflow: all 600 in line 8; of b by samples: 100 and 200 */
		assert_value(p, "y", find_node(p, PROFILE_LEAF, "kernel", 7), 100, 100);
		assert_value(p, "y", find_node(p, PROFILE_LEAF, "kernel", 8), 800, 800);
		/* outside the loop a's overflow has no sample, so it stays with the root */
		assert_value(p, "y", profile_nodes(p), 2000, 400);
		profile_free(p);
		fixture_free(f[0]);
		fixture_free(f[1]);
	}
}

/* Sampled by an event alone: time goes by its samples, too. */
static void test_event_source(void **state)
{
	static const struct hyb_metric metric = {"e", "", "", false, false, false, 10, false};
	struct fixture *f = simple(&metric);
	struct profile *p;

	f->location.source = HYB_SOURCE_EVENT;
	fixture_overflow(f, 3, 0, 1);
	fixture_overflow(f, 4, 0, 2);
	fixture_overflow(f, 5, 0, 3);
	fixture_overflow(f, 6, 0, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_exact(p);
	assert_sums(p);
	assert_int_equal(profile_nodes(p)->inclusive, 1000);
	assert_int_equal(find_node(p, PROFILE_LEAF, "kernel", 8)->exclusive, 333);
	assert_int_equal(find_node(p, PROFILE_LEAF, "main", 4)->exclusive, 375);
	assert_value(p, "e", find_node(p, PROFILE_LEAF, "kernel", 8), 40, 40);
	profile_free(p);
}

/* Whatever numbers there are, also of damaged files: sums are right, but for wrapping, and nothing stops. */
static void test_random(void **state)
{
	static const struct hyb_metric metrics[] = {{"a", "", "", false, false, false, 0, false},
		{"b", "", "", true, false, false, 3, false}, {"c", "", "", false, true, false, 7, false}};

	for (unsigned seed = 1; seed < 60; seed++) {
		struct fixture *f = fixture_random(seed, 80);
		int64_t whole[3] = {0};
		struct profile *p;

		fixture_metrics(f, metrics, 3);
		for (uint32_t i = 0; i < f->location.node_count; i++)
			for (size_t k = 0; k < 3; k++) {
				int64_t v = (int64_t)((seed * 7919u + i * 104729u + k * 31u) % 1000);

				fixture_grow(f, i, k, k == 1 ? v - 500 : i ? v / 9 : v);
				if (f->nodes[i].type != HYB_TYPE_CALL)
					fixture_overflow(f, i, k, (seed + i) % 3);
			}
		for (size_t k = 0; k < 3; k++)
			whole[k] = 2 * f->nodes[0].values[k];
		p = fixture_profile(f, (enum profile_mode)(seed % 3), 2);
		assert_sums(p);
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(profile_values(p)[k].inclusive, whole[k]);
		profile_free(p);
		f = fixture_random(seed, 40);
		fixture_metrics(f, metrics, 3);
		for (uint32_t i = 0; i < f->location.node_count; i++)
			for (size_t k = 0; k < 3; k++) {
				fixture_grow(
					f, i, k, i % 2 ? INT64_MIN + (int64_t)i : INT64_MAX - (int64_t)i);
				fixture_overflow(f, i, k, UINT64_MAX - i);
			}
		profile_free(fixture_profile(f, PROFILE_ROUTINE, 3));
	}
}

/* By weight, what has none last; values go with their nodes. */
static void test_order(void **state)
{
	struct profile *p = fixture_profile(simple(&count), PROFILE_ROUTINE, 1);
	double *weight = calloc(profile_count(p), sizeof(*weight));

	for (size_t i = 0; i < profile_count(p); i++)
		weight[i] = -(double)profile_nodes(p)[i].line;
	weight[find_node(p, PROFILE_LEAF, "main", 4) - profile_nodes(p)] = (double)NAN;
	assert_int_equal(profile_order(p, weight), 0);
	assert_sums(p);
	assert_string_equal(profile_nodes(p)[1].name, "main");
	assert_int_equal(profile_nodes(p)[1].line, 0);
	assert_int_equal(profile_nodes(p)[profile_count(p) - 1].line, 4);
	assert_value(p, "c", find_node(p, PROFILE_LEAF, "main", 4), 30, 30);
	assert_value(p, "c", find_node(p, PROFILE_LEAF, "kernel", 8), 40, 40);
	assert_true(find_node(p, PROFILE_LEAF, "kernel", 7) < find_node(p, PROFILE_LEAF, "kernel", 8));
	free(weight);
	profile_free(p);
}

static void test_none(void **state)
{
	struct fixture *f = simple(&count);
	struct profile *p;
	size_t n = 9;

	fixture_metrics(f, NULL, 0);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	profile_metrics(p, &n);
	assert_int_equal(n, 0);
	assert_null(profile_values(p));
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_samples),
		cmocka_unit_test(test_by_overflow),
		cmocka_unit_test(test_overflow_alone),
		cmocka_unit_test(test_not_sampled),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_estimated),
		cmocka_unit_test(test_process_wide),
		cmocka_unit_test(test_union),
		cmocka_unit_test(test_event_source),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
