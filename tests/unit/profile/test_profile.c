/* The merged profile on nodes made by hand: the paper's figures, and sums that must be exact on any tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile/state.h"
#include "profile_fixture.h"

/* ---------------------------------------------------------- the paper */

/* Fig. 3: line, samples, and the seconds that the figure prints. */
static const struct {
	const char *function;
	unsigned line;
	uint64_t samples;
	const char *seconds;
} fig3[] = {
	{"slow_implementation", 23, 1200, "0.920"},
	{"slow_implementation", 22, 123, "0.094"},
	{"slow_implementation", 21, 2, "0.002"},
	{"fast_implementation", 42, 1209, "0.927"},
	{"fast_implementation", 41, 65, "0.050"},
	{"fast_implementation", 37, 14, "0.011"},
	{"fast_implementation", 40, 4, "0.003"},
	{"multiply", 84, 1183, "0.907"},
	{"multiply", 83, 142, "0.109"},
	{"multiply", 100, 3, "0.002"},
	{"multiply", 96, 1, "0.001"},
};

static void assert_seconds(uint64_t ns, const char *expected)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f", (double)ns / 1e9);
	assert_string_equal(text, expected);
}

/* run -> matmult_system -> multiply -> {slow,fast}_interface -> ...: 3946 samples, 3.026 s */
static struct profile *make_fig3(enum profile_mode mode)
{
	struct fixture *f = fixture_new();
	uint32_t run = fixture_region(f, 0, "run", HYB_REGION_USER, 3026000000, 1);
	uint32_t system = fixture_call(f, run, "matmult_system", 7);
	uint32_t multiply = fixture_call(f, system, "multiply", 90);
	uint32_t slow = fixture_call(f, multiply, "slow_interface", 11);
	uint32_t fast = fixture_call(f, multiply, "fast_interface", 12);

	fixture_root(f, 3030000000, 3030000000);
	for (size_t i = 0; i < sizeof(fig3) / sizeof(*fig3); i++) {
		uint32_t above = *fig3[i].function == 's' ? slow : *fig3[i].function == 'f' ? fast : system;

		fixture_leaf(f, above, fig3[i].function, fig3[i].line, fig3[i].samples);
	}
	return fixture_profile(f, mode, 1);
}

static void test_fig3(void **state)
{
	struct profile *p = make_fig3(PROFILE_ROUTINE);
	const struct profile_node *n;

	for (size_t i = 0; i < sizeof(fig3) / sizeof(*fig3); i++) {
		n = find_node(p, PROFILE_LEAF, fig3[i].function, fig3[i].line);
		assert_seconds(n->exclusive, fig3[i].seconds);
		assert_int_equal(n->samples, fig3[i].samples);
	}
	n = find_node(p, PROFILE_INTERMEDIATE, "multiply", 0);
	assert_seconds(n->inclusive, "2.007");
	assert_int_equal(n->exclusive, 0);
	n = find_node(p, PROFILE_INTERMEDIATE, "slow_interface", 0);
	assert_seconds(n->inclusive, "1.016");
	assert_int_equal(n->exclusive, 0);
	n = find_node(p, PROFILE_INTERMEDIATE, "fast_interface", 0);
	assert_seconds(n->inclusive, "0.991");
	assert_int_equal(n->exclusive, 0);
	n = find_node(p, PROFILE_PROBE, "run", 1);
	assert_int_equal(n->inclusive, 3026000000);
	assert_int_equal(n->exclusive, 0);
	assert_int_equal(profile_nodes(p)[0].inclusive, 3030000000);
	assert_int_equal(profile_nodes(p)[0].exclusive, 4000000); /* outside `run`, not sampled */
	assert_exact(p);
	profile_free(p);
}

/* Without lines multiply is one node: 2.007 below it, 0.907 + 0.109 + 0.002 + 0.001 in it. */
static void test_fig3_functions(void **state)
{
	struct profile *p = make_fig3(PROFILE_FUNCTION);
	const struct profile_node *n = find_node(p, PROFILE_LEAF, "multiply", 0);

	assert_int_equal(n->samples, 1183 + 142 + 3 + 1);
	assert_int_equal(n->inclusive, 3026000000);
	assert_seconds(n->exclusive, "1.019");
	assert_null(seek_node(p, PROFILE_INTERMEDIATE, "multiply", 0));
	assert_non_null(seek_node(p, PROFILE_INTERMEDIATE, "slow_interface", 0));
	profile_free(p);
}

/* Fig. 4: 2359628.21 cycles a sample at every leaf; the two that it prints in full. */
static void test_fig4(void **state)
{
	const uint64_t cycles = 43905602127 + 23759096459;
	struct fixture *f = fixture_new();
	uint32_t task = fixture_region(f, 0, "task", HYB_REGION_USER, cycles, 1);
	struct profile *p;

	fixture_root(f, cycles, cycles);
	fixture_leaf(f, task, "mtxmq", 10, 18607);
	fixture_leaf(f, task, "mtxmq", 11, 10069);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_LEAF, "mtxmq", 10)->exclusive, 43905602127);
	assert_int_equal(find_node(p, PROFILE_LEAF, "mtxmq", 11)->exclusive, 23759096459);
	assert_int_equal(find_node(p, PROFILE_LEAF, "mtxmq", 10)->exclusive * 100 / 18607, 235962821);
	assert_exact(p);
	profile_free(p);
}

/* Ten samples, eight here and two there: 80 % and 20 % (section III.A). */
static void test_eight_of_ten(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t probe = fixture_region(f, 0, "solve", HYB_REGION_USER, 1000, 1);
	struct profile *p;

	fixture_root(f, 1000, 1000);
	fixture_leaf(f, probe, "here", 1, 8);
	fixture_leaf(f, probe, "there", 2, 2);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_LEAF, "here", 1)->exclusive, 800);
	assert_int_equal(find_node(p, PROFILE_LEAF, "there", 2)->exclusive, 200);
	profile_free(p);
}

/* -------------------------------------------------------- the sharing */

static void test_probe_without_samples(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t a = fixture_region(f, 0, "a", HYB_REGION_USER, 700, 3);
	struct profile *p;

	fixture_root(f, 1000, 1000);
	fixture_region(f, a, "b", HYB_REGION_USER, 300, 9);
	fixture_leaf(f, a, "x", 5, 4);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_PROBE, "b", 1)->exclusive, 300);
	assert_int_equal(find_node(p, PROFILE_PROBE, "b", 1)->calls, 9);
	assert_int_equal(find_node(p, PROFILE_PROBE, "a", 1)->exclusive, 0);
	assert_int_equal(find_node(p, PROFILE_LEAF, "x", 5)->exclusive, 400);
	assert_int_equal(profile_nodes(p)[0].exclusive, 300);
	assert_exact(p);
	profile_free(p);
}

/* A sample on the probe itself (no frame below) leaves its share with the probe. */
static void test_sample_on_probe(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t a = fixture_region(f, 0, "a", HYB_REGION_USER, 1000, 1);
	struct profile *p;

	fixture_root(f, 1000, 1000);
	f->nodes[a].samples = 1;
	fixture_leaf(f, a, "x", 5, 3);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_PROBE, "a", 1)->exclusive, 250);
	assert_int_equal(find_node(p, PROFILE_PROBE, "a", 1)->samples, 1);
	assert_int_equal(find_node(p, PROFILE_LEAF, "x", 5)->exclusive, 750);
	profile_free(p);
}

/* Children measured longer than their parent (rounding of ticks) are cut: 60:60 of 100. */
static void test_children_longer(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t a = fixture_region(f, 0, "a", HYB_REGION_USER, 100, 1);
	struct profile *p;

	fixture_root(f, 100, 100);
	fixture_region(f, a, "b", HYB_REGION_USER, 60, 1);
	fixture_region(f, a, "c", HYB_REGION_USER, 60, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_PROBE, "b", 1)->inclusive, 50);
	assert_int_equal(find_node(p, PROFILE_PROBE, "c", 1)->inclusive, 50);
	assert_int_equal(profile_nodes(p)[0].inclusive, 100);
	profile_free(p);
}

/* A region inside itself: each level is a node, the time of each is its own. */
static void test_recursion(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t outer = fixture_region(f, 0, "rec", HYB_REGION_USER, 1000, 1);
	uint32_t inner = fixture_region(f, outer, "rec", HYB_REGION_USER, 600, 2);
	struct profile *p;

	fixture_root(f, 1000, 1000);
	fixture_leaf(f, outer, "work", 3, 1);
	fixture_leaf(f, inner, "work", 3, 9);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(profile_count(p), 5);
	assert_int_equal(profile_nodes(p)[1].inclusive, 1000);
	assert_int_equal(profile_nodes(p)[2].inclusive, 600);
	assert_int_equal(profile_nodes(p)[3].exclusive, 600);
	assert_int_equal(profile_nodes(p)[4].exclusive, 400);
	assert_exact(p);
	profile_free(p);
}

static void test_demoted(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t tiny = fixture_region(f, 0, "tiny", HYB_REGION_FUNCTION, 10, 1000000);
	struct profile *p;

	fixture_root(f, 1000, 1000);
	f->nodes[tiny].demoted = true;
	f->nodes[tiny].skipped = 999000;
	fixture_leaf(f, fixture_call(f, 0, "tiny", 4), "tiny", 5, 10);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_true(find_node(p, PROFILE_PROBE, "tiny", 1)->demoted);
	assert_int_equal(find_node(p, PROFILE_PROBE, "tiny", 1)->skipped, 999000);
	assert_int_equal(find_node(p, PROFILE_LEAF, "tiny", 5)->exclusive, 990);
	assert_int_equal(profile_quality(p)->demoted_nodes, 1);
	assert_int_equal(profile_quality(p)->skipped_calls, 999000);
	profile_free(p);
}

/* -------------------------------------------------- several locations */

static void add_thread(
	struct profile *p, uint64_t cpu, unsigned source, const char *function, uint64_t samples)
{
	struct fixture *f = fixture_new();
	uint32_t task = fixture_region(f, 0, "task", HYB_REGION_USER, cpu, 1);

	fixture_root(f, cpu, source == HYB_SOURCE_WALL ? 0 : cpu);
	f->location.source = source;
	f->location.period = 4000000;
	if (samples)
		fixture_leaf(f, task, function, 1, samples);
	fixture_add(f, p);
	fixture_free(f);
}

static struct profile *new_profile(bool split)
{
	struct profile_options options = {.split_locations = split};
	struct profile *p = profile_new(&options);

	assert_non_null(p);
	return p;
}

static void finish(struct profile *p)
{
	struct hyb_error err;

	assert_int_equal(profile_finish(p, &err), 0);
	assert_exact(p);
}

/*
 * 800 threads of 2 ms, half a tick: every second one has a sample, three of four
 * of these in often(). All of the 1.6 s have a line then.
 */
static void test_short_threads(void **state)
{
	struct profile *p = new_profile(false);

	for (unsigned i = 0; i < 800; i++)
		add_thread(p, 2000000, HYB_SOURCE_CPU_TIMER, i % 8 ? "often" : "seldom", i % 2 == 0);
	finish(p);
	assert_int_equal(find_node(p, PROFILE_LEAF, "often", 1)->exclusive, 1200000000);
	assert_int_equal(find_node(p, PROFILE_LEAF, "seldom", 1)->exclusive, 400000000);
	assert_int_equal(find_node(p, PROFILE_PROBE, "task", 1)->exclusive, 0);
	profile_free(p);
}

/* Short threads beside a long one count as often as they were seen: 100 of 2600 samples. */
static void test_short_and_long_threads(void **state)
{
	struct profile *p = new_profile(false);

	for (unsigned i = 0; i < 200; i++)
		add_thread(p, 2000000, HYB_SOURCE_CPU_TIMER, "work", i % 2);
	add_thread(p, 10000000000, HYB_SOURCE_CPU_TIMER, "loop", 2500);
	finish(p);
	assert_int_equal(find_node(p, PROFILE_LEAF, "work", 1)->exclusive, 400000000);
	assert_int_equal(find_node(p, PROFILE_LEAF, "loop", 1)->exclusive, 10000000000);
	profile_free(p);
}

/* What a function's lines have over all threads, and what a thread has. */
static uint64_t time_of(const struct profile *p, const char *thread, const char *function)
{
	const struct profile_node *nodes = profile_nodes(p);
	uint32_t top = 0;
	uint64_t sum = 0;

	for (uint32_t i = 1; i < profile_count(p); i++) {
		if (!nodes[i].parent)
			top = i;
		if ((!thread || !strcmp(nodes[top].name, thread)) &&
			(!function || !strcmp(nodes[i].name, function)))
			sum += nodes[i].exclusive;
	}
	return sum;
}

/* The same 800 threads one by one: each has its 2 ms, each function what it has in the tree. */
static void test_short_threads_apart(void **state)
{
	struct profile *p = new_profile(true);
	char name[32];

	for (unsigned i = 0; i < 800; i++) {
		struct fixture *f = fixture_new();

		f->location.tid = 8 + i;
		f->location.period = 4000000;
		fixture_root(f, 2000000, 2000000);
		if (i % 2 == 0)
			fixture_leaf(f, fixture_call(f, 0, "task", 3), i % 8 ? "often" : "seldom", 1, 1);
		fixture_add(f, p);
		fixture_free(f);
	}
	finish(p);
	assert_int_equal(time_of(p, NULL, "often"), 1200000000);
	assert_int_equal(time_of(p, NULL, "seldom"), 400000000);
	for (unsigned i = 0; i < 800; i++) {
		snprintf(name, sizeof(name), "process 7 thread %u", 8 + i);
		assert_int_equal(time_of(p, name, NULL), 2000000);
		assert_int_equal(time_of(p, name, name), 0);
	}
	profile_free(p);
}

/* Of samples that stand for more than their thread ran, and for less: 4 of 600 us each. */
static void test_samples_beyond_the_time(void **state)
{
	struct profile *p = new_profile(true);

	for (unsigned i = 0; i < 2; i++) {
		struct fixture *f = fixture_new();

		f->location.tid = 8 + i;
		f->location.period = 4000000;
		fixture_root(f, 1200000, 1200000);
		fixture_leaf(f, 0, i ? "b" : "a", 1, i ? 1 : 3);
		fixture_add(f, p);
		fixture_free(f);
	}
	finish(p);
	assert_int_equal(time_of(p, "process 7 thread 8", "a"), 1200000);
	assert_int_equal(time_of(p, "process 7 thread 9", "a"), 600000);
	assert_int_equal(time_of(p, "process 7 thread 9", "b"), 600000);
	assert_int_equal(time_of(p, NULL, NULL), 2400000);
	profile_free(p);
}

/* Another program's functions are not those of who has no sample. */
static void test_short_programs_apart(void **state)
{
	static struct hyb_module modules[] = {{.path = "/bin/first"}, {.path = "/bin/second"}};
	struct profile *p = new_profile(true);

	for (unsigned i = 0; i < 2; i++) {
		struct fixture *f = fixture_new();

		f->process.modules = &modules[i];
		f->process.module_count = 1;
		f->location.period = 4000000;
		fixture_root(f, 1000, 1000);
		if (!i)
			fixture_leaf(f, 0, "work", 1, 3);
		fixture_add(f, p);
		fixture_free(f);
	}
	finish(p);
	assert_int_equal(time_of(p, NULL, "work"), 1000);
	assert_int_equal(time_of(p, "second 7", "second 7"), 1000);
	profile_free(p);
}

/* Who was not to be sampled keeps its time; wall-clock samples are shared out apart from those of CPU time.
 */
static void test_sources(void **state)
{
	struct profile *p = new_profile(false);

	add_thread(p, 5000, HYB_SOURCE_NONE, NULL, 0);
	add_thread(p, 700, HYB_SOURCE_CPU_TIMER, "burn", 1);
	add_thread(p, 200, HYB_SOURCE_CPU_TIMER, NULL, 0);
	add_thread(p, 90, HYB_SOURCE_WALL, "sleep", 1000);
	finish(p);
	assert_int_equal(find_node(p, PROFILE_PROBE, "task", 1)->exclusive, 5000);
	assert_int_equal(find_node(p, PROFILE_LEAF, "burn", 1)->exclusive, 900);
	assert_int_equal(find_node(p, PROFILE_LEAF, "sleep", 1)->exclusive, 90);
	assert_int_equal(profile_nodes(p)[0].inclusive, 5990);
	profile_free(p);
}

/* A thread with a quarter of the rate: each of its samples stands for four. */
static void test_periods(void **state)
{
	struct fixture *slow = fixture_new(), *fast = fixture_new();
	struct profile *p = new_profile(false);

	fixture_root(slow, 1000, 1000);
	fixture_root(fast, 1000, 1000);
	slow->location.period = 4000;
	fast->location.period = 1000;
	fixture_leaf(slow, 0, "slow", 1, 25);
	fixture_leaf(fast, 0, "fast", 1, 100);
	fixture_add(slow, p);
	fixture_add(fast, p);
	finish(p);
	assert_int_equal(find_node(p, PROFILE_LEAF, "slow", 1)->exclusive, 1000);
	assert_int_equal(find_node(p, PROFILE_LEAF, "fast", 1)->exclusive, 1000);
	profile_free(p);
	fixture_free(slow);
	fixture_free(fast);
}

/* Counts of a damaged file are larger than their sum can be: the time is all there, once. */
static void test_absurd_counts(void **state)
{
	struct fixture *f = fixture_new();
	struct profile *p = new_profile(false);

	fixture_root(f, 1000, 1000);
	f->location.period = UINT64_MAX;
	f->location.source = 77;
	fixture_leaf(f, 0, "a", 1, UINT64_MAX);
	fixture_leaf(f, 0, "b", 1, UINT64_MAX / 2);
	fixture_leaf(f, 0, "c", 1, UINT64_MAX);
	fixture_add(f, p);
	fixture_add(f, p);
	finish(p);
	assert_int_equal(profile_nodes(p)[0].inclusive, 2000);
	assert_true(find_node(p, PROFILE_LEAF, "a", 1)->exclusive <= 2000);
	profile_free(p);
	fixture_free(f);
}

/* -------------------------------------------------------- any tree */

static void test_random_trees(void **state)
{
	for (unsigned seed = 1; seed <= 300; seed++) {
		struct fixture *f = fixture_random(seed, 200);
		uint64_t wall = f->nodes[0].inclusive, samples = 0;
		struct profile *p;

		for (size_t i = 0; i < f->location.node_count; i++)
			samples += f->nodes[i].samples;
		p = fixture_profile(f, (enum profile_mode)(seed % 3), 1);
		assert_exact(p);
		assert_int_equal(profile_nodes(p)[0].inclusive, wall);
		for (size_t i = 0; i < profile_count(p); i++)
			samples -= profile_nodes(p)[i].samples;
		assert_int_equal(samples, 0);
		profile_free(p);
	}
}

static void assert_same(const struct profile *one, const struct profile *other)
{
	assert_int_equal(profile_count(one), profile_count(other));
	for (size_t i = 0; i < profile_count(one); i++) {
		const struct profile_node *a = &profile_nodes(one)[i], *b = &profile_nodes(other)[i];

		assert_string_equal(a->name, b->name);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->line, b->line);
		assert_int_equal(a->parent, b->parent);
		assert_int_equal(a->inclusive, b->inclusive);
		assert_int_equal(a->exclusive, b->exclusive);
		assert_int_equal(a->blocked, b->blocked);
		assert_int_equal(a->calls, b->calls);
		assert_int_equal(a->samples, b->samples);
	}
}

/* The node of `many` with the path of node i of `one`; ties may be in another order there. */
static const struct profile_node *same_path(const struct profile *one, const struct profile *many, uint32_t i)
{
	const struct profile_node *a = &profile_nodes(one)[i], *b = profile_nodes(many);

	if (!i)
		return b;
	b = &profile_nodes(many)[same_path(one, many, a->parent)->first_child];
	while (strcmp(a->name, b->name) || a->kind != b->kind || a->line != b->line) {
		assert_int_not_equal(b->next_sibling, 0);
		b = &profile_nodes(many)[b->next_sibling];
	}
	return b;
}

static void assert_copies(const struct profile *one, const struct profile *many, uint32_t i)
{
	const struct profile_node *a = &profile_nodes(one)[i], *b = same_path(one, many, i);

	assert_int_equal(7 * a->calls, b->calls);
	assert_int_equal(7 * a->samples, b->samples);
	assert_int_equal(7 * a->blocked, b->blocked);
	assert_in_range(b->exclusive + 7, 7 * a->exclusive, 7 * a->exclusive + 14);
	if (a->kind == PROFILE_PROBE || !i)
		assert_int_equal(7 * a->inclusive, b->inclusive);
}

/* Seven times the same: probes have seven times their time, exactly; shares but for rounding. */
static void test_copies(void **state)
{
	for (unsigned seed = 1; seed <= 30; seed++) {
		struct profile *one = fixture_profile(fixture_random(seed, 150), PROFILE_ROUTINE, 1);
		struct profile *many = fixture_profile(fixture_random(seed, 150), PROFILE_ROUTINE, 7);

		assert_exact(many);
		assert_int_equal(profile_count(one), profile_count(many));
		for (size_t i = 0; i < profile_count(one); i++)
			assert_copies(one, many, (uint32_t)i);
		profile_free(one);
		profile_free(many);
	}
}

static void test_order_of_adding(void **state)
{
	for (unsigned seed = 1; seed <= 30; seed++) {
		struct profile *ab = profile_new(NULL), *ba = profile_new(NULL);
		struct fixture *a = fixture_random(seed, 100), *b = fixture_random(seed + 1000, 100);
		struct hyb_error err;

		fixture_add(a, ab);
		fixture_add(b, ab);
		fixture_add(b, ba);
		fixture_add(a, ba);
		assert_int_equal(profile_finish(ab, &err), 0);
		assert_int_equal(profile_finish(ba, &err), 0);
		assert_same(ab, ba);
		profile_free(ab);
		profile_free(ba);
		fixture_free(a);
		fixture_free(b);
	}
}

/* A path as deep as no stack of ours could follow by recursion. */
static void test_deep(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t at = 0;
	struct profile *p;

	for (unsigned i = 0; i < 200000; i++)
		at = fixture_call(f, at, "down", 1);
	fixture_leaf(f, at, "bottom", 2, 1);
	fixture_root(f, 1000, 1000);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(profile_count(p), 200002);
	assert_int_equal(profile_nodes(p)[200001].exclusive, 1000);
	assert_int_equal(profile_nodes(p)[1].inclusive, 1000);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fig3),
		cmocka_unit_test(test_fig3_functions),
		cmocka_unit_test(test_fig4),
		cmocka_unit_test(test_eight_of_ten),
		cmocka_unit_test(test_probe_without_samples),
		cmocka_unit_test(test_sample_on_probe),
		cmocka_unit_test(test_children_longer),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_demoted),
		cmocka_unit_test(test_short_threads),
		cmocka_unit_test(test_short_and_long_threads),
		cmocka_unit_test(test_short_threads_apart),
		cmocka_unit_test(test_samples_beyond_the_time),
		cmocka_unit_test(test_short_programs_apart),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_absurd_counts),
		cmocka_unit_test(test_random_trees),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_order_of_adding),
		cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
