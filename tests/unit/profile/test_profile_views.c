/* Flat tables, the reverse tree and the difference, from trees whose numbers are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "format/format.h"
#include "profile/views/profile_diff.h"
#include "profile/same_files.h"
#include "profile/views/views.h"
#include "profile_fixture.h"

/*
 * 1000 ns, 10 samples:
 *   main > f:1 (2)   main > f > f:1 (3)   main > g > f:2 (4)   main > g:7 (1)
 */
static struct fixture *make_calls(void)
{
	struct fixture *f = fixture_new();
	uint32_t top = fixture_call(f, 0, "main", 9);
	uint32_t in_f = fixture_call(f, top, "f", 5);
	uint32_t in_g = fixture_call(f, top, "g", 6);

	fixture_root(f, 1000, 1000);
	fixture_leaf(f, top, "f", 1, 2);
	fixture_leaf(f, in_f, "f", 1, 3);
	fixture_leaf(f, in_g, "f", 2, 4);
	fixture_leaf(f, top, "g", 7, 1);
	return f;
}

static const struct profile_node *find_row(const struct profile_tree *flat, const char *name, unsigned line)
{
	for (size_t i = 0; i < flat->count; i++)
		if (flat->nodes[i].line == line && !strcmp(flat->nodes[i].name, name))
			return &flat->nodes[i];
	fail_msg("no row %s:%u", name, line);
	return NULL;
}

static uint64_t sum_rows(const struct profile_tree *flat)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < flat->count; i++)
		sum += flat->nodes[i].exclusive + flat->nodes[i].blocked;
	return sum;
}

static void test_by_function(void **state)
{
	struct profile *p = fixture_profile(make_calls(), PROFILE_ROUTINE, 1);
	struct profile_tree flat;

	assert_int_equal(profile_flat(p, PROFILE_BY_FUNCTION, PROFILE_SORT_EXCLUSIVE, &flat), 0);
	/* f inside f counts once: 200 + 300 + 400 */
	assert_int_equal(find_row(&flat, "f", 0)->inclusive, 900);
	assert_int_equal(find_row(&flat, "f", 0)->exclusive, 900);
	assert_int_equal(find_row(&flat, "g", 0)->inclusive, 500);
	assert_int_equal(find_row(&flat, "g", 0)->exclusive, 100);
	assert_int_equal(find_row(&flat, "main", 0)->inclusive, 1000);
	assert_int_equal(find_row(&flat, "main", 0)->exclusive, 0);
	assert_string_equal(flat.nodes[0].name, "f");
	assert_int_equal(sum_rows(&flat), 1000);
	profile_tree_release(&flat);
	profile_free(p);
}

static void test_by_line(void **state)
{
	struct profile *p = fixture_profile(make_calls(), PROFILE_CALLSITE, 1);
	struct profile_tree flat;

	assert_int_equal(profile_flat(p, PROFILE_BY_LINE, PROFILE_SORT_EXCLUSIVE, &flat), 0);
	assert_int_equal(find_row(&flat, "f", 1)->exclusive, 500);
	assert_int_equal(find_row(&flat, "f", 2)->exclusive, 400);
	assert_int_equal(find_row(&flat, "f", 5)->inclusive, 300);
	assert_int_equal(find_row(&flat, "g", 6)->inclusive, 400);
	assert_int_equal(find_row(&flat, "main", 9)->inclusive, 1000);
	assert_int_equal(sum_rows(&flat), 1000);
	profile_tree_release(&flat);
	profile_free(p);
}

static void test_by_module(void **state)
{
	struct fixture *f = make_calls();
	struct profile_tree flat;
	struct profile *p;

	fixture_root(f, 1500, 1500);
	fixture_region(f, 0, "idle", HYB_REGION_USER, 500, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(profile_flat(p, PROFILE_BY_MODULE, PROFILE_SORT_EXCLUSIVE, &flat), 0);
	assert_int_equal(flat.count, 2); /* the root has nothing alone */
	assert_int_equal(find_row(&flat, "/opt/prog", 0)->exclusive, 1000);
	assert_int_equal(find_row(&flat, "/opt/prog", 0)->inclusive, 1000);
	assert_int_equal(find_row(&flat, "[probes]", 0)->exclusive, 500);
	assert_int_equal(find_row(&flat, "[probes]", 0)->inclusive, 500);
	profile_tree_release(&flat);
	profile_free(p);
}

/* Sampled code, calls on the way to it and probes of one file are one row. */
static void test_by_file(void **state)
{
	struct fixture *f = make_calls();
	struct profile_tree flat;
	struct profile *p;

	fixture_root(f, 1500, 1500);
	fixture_region(f, 0, "idle", HYB_REGION_USER, 500, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(profile_flat(p, PROFILE_BY_FILE, PROFILE_SORT_EXCLUSIVE, &flat), 0);
	assert_int_equal(sum_rows(&flat), 1500);
	assert_int_equal(find_row(&flat, find_node(p, PROFILE_LEAF, "g", 7)->file, 0)->exclusive, 1000);
	assert_int_equal(find_row(&flat, "regions.c", 0)->exclusive, 500);
	assert_int_equal(find_row(&flat, "regions.c", 0)->calls, 1);
	profile_tree_release(&flat);
	profile_free(p);
}

/* What waited outside all probes is that of the root in every table: no part of 100 %. */
static void test_waiting_is_apart(void **state)
{
	static const enum profile_by by[] = {PROFILE_BY_FUNCTION, PROFILE_BY_MODULE, PROFILE_BY_FILE};
	struct fixture *f = make_calls();
	struct profile_tree flat;
	struct profile *p;

	fixture_root(f, 1200, 1000);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++) {
		assert_int_equal(profile_flat(p, by[i], PROFILE_SORT_EXCLUSIVE, &flat), 0);
		assert_int_equal(find_row(&flat, "[total]", 0)->kind, PROFILE_ROOT);
		assert_int_equal(find_row(&flat, "[total]", 0)->blocked, 200);
		assert_int_equal(sum_rows(&flat), 1200);
		profile_tree_release(&flat);
	}
	profile_free(p);
}

static void test_by_thread(void **state)
{
	struct profile_options options = {.split_locations = true};
	struct profile *p = profile_new(&options);
	struct fixture *a = make_calls(), *b = make_calls();
	struct profile_tree flat;
	struct hyb_error err;

	b->location.tid = 8;
	b->location.cpu = 400; /* of 1000: 600 blocked */
	fixture_add(a, p);
	fixture_add(b, p);
	assert_int_equal(profile_finish(p, &err), 0);
	assert_int_equal(profile_flat(p, PROFILE_BY_THREAD, PROFILE_SORT_EXCLUSIVE, &flat), 0);
	assert_int_equal(flat.count, 2);
	assert_int_equal(find_row(&flat, "process 7", 0)->exclusive, 1000);
	assert_int_equal(find_row(&flat, "process 7", 0)->samples, 10);
	assert_int_equal(find_row(&flat, "process 7 thread 8", 0)->exclusive, 400);
	assert_int_equal(find_row(&flat, "process 7 thread 8", 0)->blocked, 600);
	assert_int_equal(find_row(&flat, "process 7 thread 8", 0)->inclusive, 1000);
	profile_tree_release(&flat);
	profile_free(p);
	fixture_free(a);
	fixture_free(b);
}

/* The first child of a node with that name. */
static uint32_t child_named(const struct profile_node *nodes, uint32_t parent, const char *name)
{
	for (uint32_t c = nodes[parent].first_child; c; c = nodes[c].next_sibling)
		if (!strcmp(nodes[c].name, name))
			return c;
	fail_msg("no node %s", name);
	return 0;
}

static void test_reverse(void **state)
{
	struct profile *p = fixture_profile(make_calls(), PROFILE_ROUTINE, 1);
	struct profile_tree tree;
	uint32_t f, g, caller;

	assert_int_equal(profile_reverse(p, &tree), 0);
	assert_int_equal(tree.nodes[0].inclusive, 1000);
	f = child_named(tree.nodes, 0, "f");
	assert_int_equal(tree.nodes[f].inclusive, 900);
	assert_int_equal(tree.nodes[f].samples, 9);
	assert_int_equal(tree.nodes[child_named(tree.nodes, f, "main")].inclusive, 200);
	assert_int_equal(tree.nodes[child_named(tree.nodes, f, "f")].inclusive, 300);
	caller = child_named(tree.nodes, f, "g");
	assert_int_equal(tree.nodes[caller].inclusive, 400);
	assert_int_equal(tree.nodes[child_named(tree.nodes, caller, "main")].inclusive, 400);
	g = child_named(tree.nodes, 0, "g");
	assert_int_equal(tree.nodes[g].inclusive, 100);
	assert_int_equal(tree.nodes[f].next_sibling, g);
	profile_tree_release(&tree);
	profile_free(p);
}

static void test_views_of_random_trees(void **state)
{
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct profile *p =
			fixture_profile(fixture_random(seed, 200), (enum profile_mode)(seed % 3), 1);
		uint64_t total = profile_nodes(p)[0].inclusive;
		struct profile_tree flat;
		struct profile_tree tree;

		for (unsigned by = PROFILE_BY_FUNCTION; by <= PROFILE_BY_FILE; by++) {
			if (by == PROFILE_BY_THREAD)
				continue;
			assert_int_equal(
				profile_flat(p, (enum profile_by)by, PROFILE_SORT_INCLUSIVE, &flat), 0);
			assert_int_equal(sum_rows(&flat), total);
			for (size_t i = 0; i < flat.count; i++) {
				assert_true(flat.nodes[i].inclusive <= total);
				assert_true(flat.nodes[i].inclusive >=
					    flat.nodes[i].exclusive + flat.nodes[i].blocked);
				assert_true(!i || flat.nodes[i].inclusive <= flat.nodes[i - 1].inclusive);
			}
			profile_tree_release(&flat);
		}
		assert_int_equal(profile_reverse(p, &tree), 0);
		assert_int_equal(tree.nodes[0].inclusive, total);
		profile_tree_release(&tree);
		profile_free(p);
	}
}

static uint32_t diff_child(const struct profile_node *nodes, uint32_t parent, const char *name)
{
	for (uint32_t c = nodes[parent].first_child; c; c = nodes[c].next_sibling)
		if (!strcmp(nodes[c].name, name))
			return c;
	fail_msg("no node %s", name);
	return 0;
}

static void test_diff(void **state)
{
	struct fixture *before = make_calls(), *after = fixture_new();
	const struct profile_diff_pair *pairs;
	const struct profile_node *n;
	struct profile *a, *b;
	struct profile_diff *diff;
	uint32_t top;

	/* g is gone, f has 600 of 700, h is new with 100 */
	fixture_root(after, 700, 700);
	top = fixture_call(after, 0, "main", 9);
	fixture_leaf(after, top, "f", 1, 6);
	fixture_leaf(after, top, "h", 3, 1);
	a = fixture_profile(before, PROFILE_FUNCTION, 1);
	b = fixture_profile(after, PROFILE_FUNCTION, 1);
	diff = profile_diff_new(a, b);
	profile_free(a);
	profile_free(b);
	assert_non_null(diff);
	n = profile_diff_nodes(diff);
	pairs = profile_diff_pairs(diff);
	assert_int_equal(pairs[0].before.inclusive, 1000);
	assert_int_equal(pairs[0].after.inclusive, 700);
	assert_int_equal(n[0].inclusive, 700);
	top = diff_child(n, 0, "main");
	assert_int_equal(pairs[diff_child(n, top, "f")].before.inclusive, 500);
	assert_int_equal(pairs[diff_child(n, top, "f")].after.inclusive, 600);
	assert_false(pairs[diff_child(n, top, "h")].before.present);
	assert_int_equal(pairs[diff_child(n, top, "h")].after.inclusive, 100);
	assert_false(pairs[diff_child(n, top, "g")].after.present);
	assert_int_equal(pairs[diff_child(n, top, "g")].before.inclusive, 500);
	/* largest change first */
	assert_string_equal(n[n[top].first_child].name, "g");
	profile_diff_free(diff);
}

static void test_diff_with_itself(void **state)
{
	for (unsigned seed = 1; seed <= 30; seed++) {
		struct profile *p = fixture_profile(fixture_random(seed, 150), PROFILE_ROUTINE, 1);
		struct profile_diff *diff = profile_diff_new(p, p);
		const struct profile_diff_pair *n;

		assert_non_null(diff);
		n = profile_diff_pairs(diff);
		for (size_t i = 0; i < profile_diff_count(diff); i++)
			assert_memory_equal(&n[i].before, &n[i].after, sizeof(n[i].before));
		assert_int_equal(n[0].after.inclusive, profile_nodes(p)[0].inclusive);
		profile_diff_free(diff);
		profile_free(p);
	}
}

static const char *same(
	const char *const *from, size_t from_count, const char *const *to, size_t to_count, const char *path)
{
	const char *same[8];

	assert_int_equal(same_files(from, from_count, to, to_count, same), 0);
	for (size_t i = 0; i < from_count; i++)
		if (!strcmp(from[i], path))
			return same[i] ? same[i] : "none";
	fail_msg("no path %s", path);
	return NULL;
}

static void test_same_files(void **state)
{
	static const char *const one[] = {"/one/a/util.c", "/one/b/util.c", "/one/main.c", "/lib/x.h", "",
		"/one/c/deep.c", "/one/gone.c"},
				 *const two[] = {"/two/b/util.c", "/lib/x.h", "main.c", "/two/a/util.c", "",
					 "/two/d/deep.c", "/two/e/deep.c", "/other/x.h"};

	/* the longest end in common, and where nothing is */
	assert_string_equal(same(one, 7, two, 8, "/one/a/util.c"), "/two/a/util.c");
	assert_string_equal(same(one, 7, two, 8, "/one/b/util.c"), "/two/b/util.c");
	assert_string_equal(same(one, 7, two, 8, "/one/main.c"), "main.c");
	assert_string_equal(same(one, 7, two, 8, "/lib/x.h"), "/lib/x.h");
	assert_string_equal(same(one, 7, two, 8, ""), "");
	assert_string_equal(same(one, 7, two, 8, "/one/gone.c"), "none");
	/* two could be meant */
	assert_string_equal(same(one, 7, two, 8, "/one/c/deep.c"), "none");
	assert_string_equal(same(two, 8, one, 7, "/two/d/deep.c"), "none");
	assert_string_equal(same(two, 8, one, 7, "/other/x.h"), "none"); /* the other one is the same */
	assert_string_equal(same(one, 7, two, 0, "/one/main.c"), "none");
}

static const struct hyb_metric faults[] = {{.name = "faults", .unit = "", .description = "pages"},
	{.name = "bytes", .unit = "B", .description = "read"}};

/* Regions a and b: so long, with so many faults. */
static struct profile *two_regions(uint64_t a, int64_t a_faults, uint64_t b, int64_t b_faults, size_t metrics)
{
	struct fixture *f = fixture_new();

	fixture_metrics(f, faults, metrics);
	fixture_root(f, a + b, a + b);
	fixture_grow(f, 0, 0, a_faults + b_faults);
	fixture_grow(f, fixture_region(f, 0, "a", HYB_REGION_USER, a, 1), 0, a_faults);
	fixture_grow(f, fixture_region(f, 0, "b", HYB_REGION_USER, b, 1), 0, b_faults);
	return fixture_profile(f, PROFILE_ROUTINE, 1);
}

/* Time changes most in a, faults in b; only one metric was read on both sides. */
static void test_diff_of_metrics(void **state)
{
	struct profile *before = two_regions(100, 10, 100, 40, 2), *after = two_regions(300, 12, 100, 7, 1);
	struct profile_diff *diff = profile_diff_new(before, after);
	const struct profile_diff_pair *pairs;
	const struct profile_node *n;
	double change[3] = {0};
	size_t count;
	uint32_t a, b;

	profile_free(before);
	profile_free(after);
	assert_non_null(diff);
	assert_string_equal(profile_diff_metrics(diff, &count)[0].name, "faults");
	assert_int_equal(count, 1);
	n = profile_diff_nodes(diff);
	pairs = profile_diff_pairs(diff);
	a = diff_child(n, 0, "a");
	b = diff_child(n, 0, "b");
	assert_int_equal(n[0].first_child, a);
	assert_int_equal(profile_diff_before(diff)[0].inclusive, 50);
	assert_int_equal(profile_diff_after(diff)[0].inclusive, 19);
	assert_int_equal(profile_diff_before(diff)[b].inclusive, 40);
	assert_int_equal(profile_diff_after(diff)[b].inclusive, 7);
	change[a] = 2;
	change[b] = -33;
	change[0] = NAN;
	assert_int_equal(profile_diff_order(diff, change), 0);
	assert_int_equal(n[0].first_child, b);
	assert_int_equal(n[b].next_sibling, a);
	assert_int_equal(n[a].next_sibling, 0);
	assert_true(pairs[0].change == 33 && pairs[a].change == 2);
	profile_diff_free(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_function),
		cmocka_unit_test(test_by_line),
		cmocka_unit_test(test_by_module),
		cmocka_unit_test(test_by_file),
		cmocka_unit_test(test_waiting_is_apart),
		cmocka_unit_test(test_by_thread),
		cmocka_unit_test(test_reverse),
		cmocka_unit_test(test_views_of_random_trees),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_diff_with_itself),
		cmocka_unit_test(test_same_files),
		cmocka_unit_test(test_diff_of_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
