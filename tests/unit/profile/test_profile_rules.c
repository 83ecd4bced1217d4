/* What a tree shows of the frames that were sampled: modes, inline chains, nameless code, what vanishes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "format/format.h"
#include "profile/state.h"
#include "profile_fixture.h"

static const struct hyb_module libc = {.path = "/lib/libc.so.6"};
static const struct hyb_module hybrid = {.path = "/usr/lib/libhybrid.so.0"};
static const struct hyb_module stripped = {.path = "/opt/lib/stripped.so"};

enum address {
	START = 1,
	LIBC_START_MAIN,
	NEAR_START_CALL_MAIN,
	EXIT,
	WRAPPER,
	INNER,
	NAMELESS_A,
	NAMELESS_B,
	INLINED,
	HOT,
	NEAR_MEMCPY,
	JIT_A = 0x7f0000001000,
	JIT_B = 0x7f0000002000,
};

static const struct fixture_symbol symbols[] = {
	{&libc, START, {{.function = "_start", .file = ""}}, 1, false},
	{&libc, LIBC_START_MAIN, {{.function = "__libc_start_main_impl", .file = ""}}, 1, false},
	{&libc, NEAR_START_CALL_MAIN, {{.function = "libc.so.6+0x2a40", .file = "", .guess = true}}, 1,
		false},
	{&libc, EXIT, {{.function = "exit", .file = ""}}, 1, false},
	{&libc, NEAR_MEMCPY, {{.function = "memcpy", .file = "", .guess = true}}, 1, false},
	{&hybrid, WRAPPER, {{.function = "nanosleep", .file = "wrap.c", .line = 3}}, 1, false},
	{&hybrid, INNER, {{.function = "store_claim", .file = "store.c", .line = 9}}, 1, false},
	{&stripped, NAMELESS_A, {{.function = "", .file = ""}}, 1, false},
	{&stripped, NAMELESS_B, {{.function = "", .file = ""}}, 1, false},
	{NULL, JIT_A, {{.function = "", .file = ""}}, 1, false},
	{NULL, JIT_B, {{.function = "", .file = ""}}, 1, false},
	{&stripped, INLINED,
		{{.function = "inner", .file = "a.h", .line = 7, .inlined = true},
			{.function = "middle", .file = "a.h", .line = 17, .inlined = true},
			{.function = "outer", .file = "b.c", .line = 27}},
		3, false},
	{&stripped, HOT, {{.function = "hot", .file = "hot.c", .line = 5}}, 1, true},
};

static int set_up(void **state)
{
	fixture_symbols(symbols, sizeof(symbols) / sizeof(*symbols));
	return 0;
}

static struct fixture *new_fixture(void)
{
	struct fixture *f = fixture_new();

	fixture_root(f, 1000, 1000);
	return f;
}

static const struct profile_node *parent_of(const struct profile *p, const struct profile_node *n)
{
	return &profile_nodes(p)[n->parent];
}

/* Two call sites of one function: one node by routines, two by call sites. */
static void test_modes(void **state)
{
	for (unsigned mode = 0; mode < 3; mode++) {
		struct fixture *f = new_fixture();
		struct profile *p;

		fixture_leaf(f, fixture_call(f, 0, "main", 10), "work", 5, 1);
		fixture_leaf(f, fixture_call(f, 0, "main", 20), "work", 5, 2);
		fixture_leaf(f, fixture_call(f, 0, "main", 20), "work", 6, 1);
		p = fixture_profile(f, (enum profile_mode)mode, 1);
		assert_exact(p);
		if (mode == PROFILE_ROUTINE) {
			assert_int_equal(profile_count(p), 4);
			assert_int_equal(find_node(p, PROFILE_INTERMEDIATE, "main", 0)->inclusive, 1000);
			assert_int_equal(find_node(p, PROFILE_LEAF, "work", 5)->exclusive, 750);
		} else if (mode == PROFILE_CALLSITE) {
			assert_int_equal(profile_count(p), 6);
			assert_int_equal(find_node(p, PROFILE_INTERMEDIATE, "main", 10)->inclusive, 250);
			assert_int_equal(find_node(p, PROFILE_INTERMEDIATE, "main", 20)->inclusive, 750);
		} else {
			assert_int_equal(profile_count(p), 3);
			assert_int_equal(find_node(p, PROFILE_LEAF, "work", 0)->samples, 4);
			assert_int_equal(find_node(p, PROFILE_INTERMEDIATE, "main", 0)->samples, 0);
		}
		profile_free(p);
	}
}

static void test_inline_chain(void **state)
{
	struct fixture *f = new_fixture();
	const struct profile_node *n;
	struct profile *p;

	fixture_code(f, 0, HYB_TYPE_LEAF, &stripped, INLINED, 4);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	n = find_node(p, PROFILE_LEAF, "inner", 7);
	assert_string_equal(n->file, "a.h");
	assert_string_equal(n->module, stripped.path);
	n = parent_of(p, n);
	assert_string_equal(n->name, "middle");
	assert_int_equal(n->kind, PROFILE_INTERMEDIATE);
	n = parent_of(p, n);
	assert_string_equal(n->name, "outer");
	assert_int_equal(n->parent, 0);
	profile_free(p);
}

static void test_nameless(void **state)
{
	struct fixture *f = new_fixture();
	struct profile *p;
	size_t count;

	fixture_code(f, 0, HYB_TYPE_LEAF, &stripped, NAMELESS_A, 1);
	fixture_code(f, 0, HYB_TYPE_LEAF, &stripped, NAMELESS_B, 1);
	fixture_code(f, 0, HYB_TYPE_LEAF, NULL, JIT_A, 1);
	fixture_code(f, 0, HYB_TYPE_LEAF, NULL, JIT_B, 2);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_LEAF, "[stripped.so+0x7]", 0)->samples, 1);
	assert_int_equal(find_node(p, PROFILE_LEAF, "[stripped.so+0x8]", 0)->samples, 1);
	assert_int_equal(find_node(p, PROFILE_LEAF, "[code without a module]", 0)->samples, 3);
	assert_string_equal(profile_unresolved(p, &count)[0].module, "");
	assert_int_equal(count, 2);
	assert_int_equal(profile_unresolved(p, &count)[0].addresses, 2);
	assert_int_equal(profile_unresolved(p, &count)[0].samples, 3);
	assert_int_equal(profile_unresolved(p, &count)[1].samples, 2);
	profile_free(p);
}

static void test_nameless_by_callsite(void **state)
{
	struct fixture *f = new_fixture();
	struct profile *p;

	fixture_code(f, 0, HYB_TYPE_LEAF, NULL, JIT_A, 1);
	fixture_code(f, 0, HYB_TYPE_LEAF, NULL, JIT_B, 2);
	p = fixture_profile(f, PROFILE_CALLSITE, 1);
	assert_int_equal(find_node(p, PROFILE_LEAF, "[unknown 0x7f0000001000]", 0)->samples, 1);
	assert_int_equal(find_node(p, PROFILE_LEAF, "[unknown 0x7f0000002000]", 0)->samples, 2);
	profile_free(p);
}

/* A guess and a sure name are two nodes: the guess must not spoil what is known. */
static void test_guess(void **state)
{
	struct fixture *f = new_fixture();
	struct profile *p;

	fixture_code(f, fixture_call(f, 0, "main", 1), HYB_TYPE_LEAF, &libc, NEAR_MEMCPY, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_true(find_node(p, PROFILE_LEAF, "memcpy", 0)->guess);
	assert_false(find_node(p, PROFILE_INTERMEDIATE, "main", 0)->guess);
	profile_free(p);
}

/* _start, __libc_start_main and nameless start code of libc vanish above main, exit below them does not. */
static void test_start_code(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t start = fixture_code(f, 0, HYB_TYPE_CALL, &libc, START, 0);
	uint32_t main_start = fixture_code(f, start, HYB_TYPE_CALL, &libc, LIBC_START_MAIN, 0);
	uint32_t near = fixture_code(f, main_start, HYB_TYPE_CALL, &libc, NEAR_START_CALL_MAIN, 0);
	uint32_t leave = fixture_code(f, near, HYB_TYPE_CALL, &libc, EXIT, 0);
	struct profile *p;

	fixture_leaf(f, fixture_call(f, near, "main", 3), "work", 5, 3);
	fixture_leaf(f, leave, "at_exit", 6, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_INTERMEDIATE, "main", 0)->parent, 0);
	assert_int_equal(find_node(p, PROFILE_INTERMEDIATE, "main", 0)->inclusive, 750);
	assert_int_equal(find_node(p, PROFILE_INTERMEDIATE, "exit", 0)->parent, 0);
	assert_int_equal(profile_count(p), 5);
	assert_exact(p);
	profile_free(p);
}

/* _start of a stripped program has no name; what stands above __libc_start_main vanishes all the same. */
static void test_nameless_start(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t start = fixture_code(f, 0, HYB_TYPE_CALL, &stripped, NAMELESS_A, 0);
	uint32_t main_start = fixture_code(f, start, HYB_TYPE_CALL, &libc, LIBC_START_MAIN, 0);
	uint32_t near = fixture_code(f, main_start, HYB_TYPE_CALL, &libc, NEAR_START_CALL_MAIN, 0);
	uint32_t thread = fixture_code(f, 0, HYB_TYPE_CALL, &stripped, NAMELESS_B, 0);
	struct profile *p;

	fixture_code(f, near, HYB_TYPE_LEAF, &stripped, INLINED, 3);
	fixture_leaf(f, thread, "work", 5, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_INTERMEDIATE, "outer", 0)->parent, 0);
	assert_int_equal(find_node(p, PROFILE_INTERMEDIATE, "[stripped.so+0x8]", 0)->inclusive, 250);
	assert_null(seek_node(p, PROFILE_INTERMEDIATE, "[stripped.so+0x7]", 0));
	assert_null(seek_node(p, PROFILE_INTERMEDIATE, "__libc_start_main_impl", 0));
	assert_int_equal(profile_count(p), 6);
	assert_exact(p);
	profile_free(p);
}

/* The frame that a signal interrupted: a leaf for its own samples, the handler's caller for the others. */
static void test_interrupted_in_handler(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t hot = fixture_code(f, fixture_call(f, 0, "main", 3), HYB_TYPE_LEAF, &stripped, HOT, 3);
	const struct profile_node *n;
	struct profile *p;

	fixture_leaf(f, fixture_call(f, hot, "on_signal", 20), "in_handler", 21, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	n = find_node(p, PROFILE_LEAF, "hot", 5);
	assert_int_equal(n->exclusive, 750);
	assert_int_equal(n->first_child, 0);
	assert_string_equal(parent_of(p, n)->name, "main");
	n = find_node(p, PROFILE_INTERMEDIATE, "hot", 0);
	assert_int_equal(n->inclusive, 250);
	assert_string_equal(parent_of(p, n)->name, "main");
	assert_string_equal(parent_of(p, find_node(p, PROFILE_INTERMEDIATE, "on_signal", 0))->name, "hot");
	assert_int_equal(profile_count(p), 6);
	assert_exact(p);
	profile_free(p);
}

/* By call sites it has its line; without samples of its own there is no leaf; by functions it is one node. */
static void test_interrupted_modes(void **state)
{
	for (unsigned mode = PROFILE_CALLSITE; mode <= PROFILE_FUNCTION; mode++) {
		struct fixture *f = new_fixture();
		uint32_t hot = fixture_leaf(f, 0, "hot", 5, mode == PROFILE_FUNCTION);
		struct profile *p;

		fixture_leaf(f, hot, "on_signal", 20, 1);
		p = fixture_profile(f, (enum profile_mode)mode, 1);
		assert_int_equal(profile_count(p), 3);
		if (mode == PROFILE_CALLSITE)
			assert_int_equal(find_node(p, PROFILE_INTERMEDIATE, "hot", 5)->inclusive, 1000);
		else
			assert_int_equal(find_node(p, PROFILE_LEAF, "hot", 0)->exclusive, 500);
		profile_free(p);
	}
}

/* Where start code itself was sampled it is all there is to show; below a probe it is no start code. */
static void test_start_code_stays(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t probe = fixture_region(f, 0, "spawn", HYB_REGION_USER, 500, 1);
	struct profile *p;

	fixture_code(f, 0, HYB_TYPE_LEAF, &libc, START, 1);
	fixture_leaf(f, fixture_code(f, probe, HYB_TYPE_CALL, &libc, START, 0), "work", 5, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_non_null(seek_node(p, PROFILE_LEAF, "_start", 0));
	assert_non_null(seek_node(p, PROFILE_INTERMEDIATE, "_start", 0));
	profile_free(p);
}

/* Our own frames vanish; a sample inside them is the call that the program made. */
static void test_libhybrid(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t main_call = fixture_call(f, 0, "main", 3);
	uint32_t wrapper = fixture_code(f, main_call, HYB_TYPE_CALL, &hybrid, WRAPPER, 0);
	const struct profile_node *n;
	struct profile *p;

	fixture_code(f, main_call, HYB_TYPE_LEAF, &hybrid, WRAPPER, 1);
	fixture_code(f, wrapper, HYB_TYPE_LEAF, &hybrid, INNER, 2);
	fixture_leaf(f, wrapper, "callback", 9, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	n = find_node(p, PROFILE_LEAF, "nanosleep", 0);
	assert_int_equal(n->samples, 3);
	assert_string_equal(parent_of(p, n)->name, "main");
	n = find_node(p, PROFILE_LEAF, "callback", 9);
	assert_string_equal(parent_of(p, n)->name, "main");
	assert_int_equal(profile_count(p), 4);
	profile_free(p);
}

/* solve() enters a region for itself: its frame is the region, its lines stay. */
static void test_folding(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t probe = fixture_region(f, 0, "solve", HYB_REGION_FUNCTION, 1000, 1);
	const struct profile_node *n;
	struct profile *p;

	fixture_leaf(f, probe, "solve", 5, 1);
	fixture_leaf(f, fixture_call(f, probe, "grid::solve<double>(int, void (*)())", 6), "kernel", 9, 2);
	fixture_leaf(f, fixture_call(f, fixture_call(f, probe, "solve", 6), "solve", 7), "deep", 8, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	n = find_node(p, PROFILE_LEAF, "solve", 5);
	assert_int_equal(parent_of(p, n)->kind, PROFILE_PROBE);
	n = find_node(p, PROFILE_LEAF, "kernel", 9);
	assert_int_equal(parent_of(p, n)->kind, PROFILE_PROBE);
	/* recursion is not the region's own frame */
	n = find_node(p, PROFILE_LEAF, "deep", 8);
	assert_int_equal(parent_of(p, n)->kind, PROFILE_INTERMEDIATE);
	assert_int_equal(parent_of(p, parent_of(p, n))->kind, PROFILE_PROBE);
	profile_free(p);
}

static void test_no_folding(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t user = fixture_region(f, 0, "solve", HYB_REGION_USER, 1000, 1);
	uint32_t other = fixture_region(f, user, "solve", HYB_REGION_FUNCTION, 500, 1);
	struct profile *p;

	fixture_leaf(f, fixture_call(f, user, "solve", 6), "kernel", 9, 1);
	fixture_leaf(f, fixture_call(f, other, "resolve", 6), "kernel", 9, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_non_null(seek_node(p, PROFILE_INTERMEDIATE, "solve", 0));
	assert_non_null(seek_node(p, PROFILE_INTERMEDIATE, "resolve", 0));
	profile_free(p);
}

static void test_folding_functions(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t probe = fixture_region(f, 0, "solve", HYB_REGION_FUNCTION, 1000, 1);
	struct profile *p;

	fixture_leaf(f, probe, "solve", 5, 3);
	fixture_leaf(f, probe, "solve", 6, 1);
	p = fixture_profile(f, PROFILE_FUNCTION, 1);
	assert_int_equal(profile_count(p), 2);
	assert_int_equal(profile_nodes(p)[1].samples, 4);
	assert_int_equal(profile_nodes(p)[1].exclusive, 1000);
	profile_free(p);
}

static void test_partial(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t gap = fixture_code(f, 0, HYB_TYPE_PARTIAL, NULL, 0, 0);
	const struct profile_node *n;
	struct profile *p;

	f->nodes[gap].reason = HYB_PARTIAL_TOO_DEEP;
	fixture_leaf(f, fixture_call(f, gap, "f", 1), "g", 2, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	n = find_node(p, PROFILE_INCOMPLETE, "[incomplete: more frames than are followed]", 0);
	assert_int_equal(n->inclusive, 1000);
	assert_int_equal(n->exclusive, 0);
	profile_free(p);
}

static void test_split_locations(void **state)
{
	struct profile_options options = {.split_locations = true};
	struct profile *p = profile_new(&options);
	struct fixture *a = new_fixture(), *b = new_fixture();
	struct hyb_error err;

	b->location.tid = 8;
	b->location.name = "worker";
	fixture_leaf(a, 0, "work", 1, 1);
	fixture_leaf(b, 0, "work", 1, 1);
	fixture_add(a, p);
	fixture_add(b, p);
	assert_int_equal(profile_finish(p, &err), 0);
	assert_int_equal(find_node(p, PROFILE_PROBE, "process 7", 0)->inclusive, 1000);
	assert_int_equal(find_node(p, PROFILE_PROBE, "process 7 thread 8 worker", 0)->inclusive, 1000);
	assert_int_equal(profile_nodes(p)[0].inclusive, 2000);
	assert_int_equal(profile_quality(p)->locations, 2);
	profile_free(p);
	fixture_free(a);
	fixture_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_inline_chain),
		cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_nameless_by_callsite),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_start_code),
		cmocka_unit_test(test_nameless_start),
		cmocka_unit_test(test_interrupted_in_handler),
		cmocka_unit_test(test_interrupted_modes),
		cmocka_unit_test(test_start_code_stays),
		cmocka_unit_test(test_libhybrid),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_no_folding),
		cmocka_unit_test(test_folding_functions),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_split_locations),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
