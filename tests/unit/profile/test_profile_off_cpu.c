/* Off-CPU time: where what was blocked is put, on nodes made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/format.h"
#include "profile_fixture.h"

/*
 * 1000 ns wall, 600 of them CPU: 400 blocked. `busy` ran all of its 500 ns,
 * `wait` ran 100 of 400, the root none of its 100: rooms 300 and 100.
 */
static void test_blocked(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t busy = fixture_region(f, 0, "busy", HYB_REGION_USER, 500, 1);
	uint32_t wait = fixture_region(f, 0, "wait", HYB_REGION_USER, 400, 1);
	struct profile *p;

	fixture_root(f, 1000, 600);
	f->nodes[busy].ran = 500;
	f->nodes[wait].ran = 100;
	fixture_leaf(f, busy, "burn", 1, 5);
	fixture_leaf(f, wait, "read", 2, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_PROBE, "busy", 1)->blocked, 0);
	assert_int_equal(find_node(p, PROFILE_PROBE, "wait", 1)->blocked, 300);
	assert_int_equal(find_node(p, PROFILE_LEAF, "burn", 1)->exclusive, 500);
	assert_int_equal(find_node(p, PROFILE_LEAF, "read", 2)->exclusive, 100);
	assert_int_equal(profile_nodes(p)[0].blocked, 100);
	assert_exact(p);
	profile_free(p);
}

/*
 * What was seen of it stands at frames: of 400 blocked, 60 of them ready, 250 were seen in `wait` and 30 in
 * no probe; the rest follows the rooms that are left, 50 and 70. Only what is in no probe is idle.
 */
static void test_blocked_where_seen(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t busy = fixture_region(f, 0, "busy", HYB_REGION_USER, 500, 1);
	uint32_t wait = fixture_region(f, 0, "wait", HYB_REGION_USER, 400, 1);
	uint32_t read = fixture_leaf(f, wait, "read", 2, 1), nap = fixture_leaf(f, 0, "nap", 3, 0);
	const struct profile_node *n;
	struct profile *p;

	fixture_root(f, 1000, 600);
	f->location.ready = 60;
	f->location.ready_known = true;
	f->nodes[busy].ran = 500;
	f->nodes[wait].ran = 100;
	f->nodes[read].waited = 230;
	f->nodes[read].ready = 20;
	f->nodes[nap].waited = 30;
	fixture_leaf(f, busy, "burn", 1, 5);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	n = find_node(p, PROFILE_LEAF, "read", 2);
	assert_int_equal(n->exclusive, 100);
	assert_int_equal(n->blocked, 250);
	assert_int_equal(n->ready, 20);
	assert_int_equal(n->idle, 0);
	n = find_node(p, PROFILE_LEAF, "nap", 3);
	assert_int_equal(n->blocked, 30);
	assert_int_equal(n->idle, 30);
	n = find_node(p, PROFILE_PROBE, "wait", 1);
	assert_int_equal(n->blocked, 50);
	assert_int_equal(n->ready, 17); /* 40 by 50 : 70 */
	n = profile_nodes(p);
	assert_int_equal(n->blocked, 70);
	assert_int_equal(n->ready, 23);
	assert_int_equal(n->idle, 100);
	assert_int_equal(profile_whole(n), 900);
	assert_exact(p);
	profile_free(p);
}

/* Estimates may say more than there was: 100 blocked, 600 seen in a probe that has room for 300. */
static void test_blocked_too_much_seen(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t wait = fixture_region(f, 0, "wait", HYB_REGION_USER, 400, 1);
	uint32_t read = fixture_leaf(f, wait, "read", 2, 1), write = fixture_leaf(f, wait, "write", 3, 0);
	struct profile *p;

	fixture_root(f, 1000, 900);
	f->nodes[wait].ran = 100;
	f->nodes[read].waited = 450;
	f->nodes[write].waited = 100;
	f->nodes[write].ready = 50; /* of a location that has none */
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_LEAF, "read", 2)->blocked, 75);
	assert_int_equal(find_node(p, PROFILE_LEAF, "write", 3)->blocked, 25);
	assert_int_equal(find_node(p, PROFILE_LEAF, "write", 3)->ready, 0);
	assert_int_equal(profile_nodes(p)[0].blocked, 0);
	assert_exact(p);
	profile_free(p);
	f = fixture_new();
	fixture_root(f, 1000, 900);
	read = fixture_leaf(f, 0, "read", 2, 1);
	write = fixture_leaf(f, 0, "write", 3, 1);
	f->nodes[read].waited = UINT64_MAX; /* damage */
	f->nodes[write].waited = 2;
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(profile_nodes(p)[0].blocked, 100);
	assert_exact(p);
	profile_free(p);
}

/* Three probes alike, each seen to wait for so long; rounding each of them would place more than there is. */
static void test_blocked_in_several(void **state)
{
	static const uint64_t cases[][2] = {{500, 1501}, {2000, 1}, {1000, 2999}, {333, 2001}};

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct fixture *f = fixture_new();
		struct profile *p;
		uint64_t blocked = 0;

		fixture_root(f, 3000, cases[c][1]);
		for (unsigned i = 1; i <= 3; i++) {
			uint32_t probe = fixture_region(
				f, 0, (const char *[]){"", "a", "b", "c"}[i], HYB_REGION_USER, 1000, 1);
			uint32_t read = fixture_leaf(f, probe, "read", i, 1);

			f->nodes[read].waited = cases[c][0];
		}
		p = fixture_profile(f, PROFILE_ROUTINE, 1);
		assert_exact(p);
		for (size_t i = 0; i < profile_count(p); i++)
			blocked += profile_nodes(p)[i].blocked;
		assert_int_equal(blocked, 3000 - cases[c][1]);
		profile_free(p);
	}
}

/* Samples of wall time say where it waited: nothing is blocked. */
static void test_wall_source(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t wait = fixture_region(f, 0, "wait", HYB_REGION_USER, 1000, 1);
	struct profile *p;

	fixture_root(f, 1000, 10);
	f->location.source = HYB_SOURCE_WALL;
	fixture_leaf(f, wait, "nanosleep", 1, 7);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_LEAF, "nanosleep", 1)->exclusive, 1000);
	assert_int_equal(profile_nodes(p)[0].blocked, 0);
	profile_free(p);
}

/* Without sampling it is not known what was blocked. */
static void test_no_sampling(void **state)
{
	struct fixture *f = fixture_new();
	struct profile *p;

	fixture_root(f, 1000, 10);
	f->location.source = HYB_SOURCE_NONE;
	fixture_region(f, 0, "wait", HYB_REGION_USER, 900, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(find_node(p, PROFILE_PROBE, "wait", 1)->exclusive, 900);
	assert_int_equal(profile_nodes(p)[0].exclusive, 100);
	assert_int_equal(profile_nodes(p)[0].blocked, 0);
	profile_free(p);
}

/* A thread that only waits gets no CPU samples at all: its clock says that it was blocked. */
static void test_idle_thread(void **state)
{
	struct fixture *f = fixture_new();
	struct profile *p;

	fixture_root(f, 1000, 10);
	fixture_region(f, 0, "wait", HYB_REGION_USER, 900, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	/* 990 of 1000, by 900 : 100 */
	assert_int_equal(find_node(p, PROFILE_PROBE, "wait", 1)->blocked, 891);
	assert_int_equal(find_node(p, PROFILE_PROBE, "wait", 1)->exclusive, 9);
	assert_int_equal(profile_nodes(p)[0].blocked, 99);
	assert_exact(p);
	profile_free(p);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_blocked_where_seen),
		cmocka_unit_test(test_blocked_too_much_seen),
		cmocka_unit_test(test_blocked_in_several),
		cmocka_unit_test(test_wall_source),
		cmocka_unit_test(test_no_sampling),
		cmocka_unit_test(test_idle_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
