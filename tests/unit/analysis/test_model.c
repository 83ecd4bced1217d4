/* The event model: matching against a simulated MPI, region stacks, queues, and files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model_sim.h"

#define CASES 600 /* of each kind */

static uint64_t sum(const uint64_t *counts)
{
	uint64_t s = 0;

	for (unsigned i = 0; i < HYB_LONE_COUNT; i++)
		s += counts[i];
	return s;
}

static void simulate(struct sim_options options, struct sim_results *ret, uint64_t *matched)
{
	sim_run(&options, ret);
	if (ret->wrong || ret->torn || ret->reversed || ret->differing)
		print_error("seed %llu\n", (unsigned long long)options.seed);
	assert_int_equal(ret->wrong, 0);
	assert_int_equal(ret->torn, 0);
	assert_int_equal(ret->reversed, 0);
	assert_int_equal(ret->differing, 0);
	*matched += ret->matched;
}

static struct sim_options options_of(uint64_t seed)
{
	return (struct sim_options){.seed = seed,
		.steps = 200 + seed % 7 * 300,
		.threads = seed % 3 == 1,
		.worlds = seed % 5 == 1};
}

static void test_whole(void **state)
{
	struct sim_results r;
	uint64_t matched = 0, unsure = 0, cancelled = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		simulate(options_of(seed), &r, &matched);
		assert_int_equal(r.matched, r.true_matches);
		assert_int_equal(r.unsure_wrong, 0);
		assert_int_equal(r.resized, 0);
		assert_int_equal(r.sends[HYB_LONE_NONE] + r.sends[HYB_LONE_UNSEEN], r.unreceived);
		assert_int_equal(sum(r.sends), r.unreceived);
		assert_int_equal(r.receives[HYB_LONE_PENDING], r.pending);
		assert_int_equal(r.receives[HYB_LONE_CANCELLED], r.cancelled);
		assert_int_equal(sum(r.receives), r.pending + r.cancelled);
		assert_int_equal(r.partial, 0);
		unsure += r.unsure;
		cancelled += r.cancelled;
	}
	/* The cases are not empty ones. */
	assert_true(matched > 10 * CASES && unsure && unsure < matched && cancelled > CASES);
}

/* A rank's file is missing: whatever it was a partner of is alone, and the rest is as before. */
static void test_absent(void **state)
{
	struct sim_results r;
	uint64_t matched = 0, absent = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct sim_options o = options_of(seed);

		o.absent = true;
		simulate(o, &r, &matched);
		assert_int_equal(r.matched, r.true_matches);
		assert_int_equal(r.unsure_wrong, 0);
		/* The only member of another world leaves nothing that tells what it took the communicator
		 * for. */
		assert_int_equal(r.sends[HYB_LONE_ABSENT] + r.sends[HYB_LONE_UNKNOWN] +
					 r.sends[HYB_LONE_NONE] + r.sends[HYB_LONE_UNSEEN],
			sum(r.sends));
		assert_int_equal(r.receives[HYB_LONE_NONE], 0);
		absent += r.sends[HYB_LONE_ABSENT] + r.receives[HYB_LONE_ABSENT];
	}
	assert_true(matched > 10 * CASES && absent > 10 * CASES);
}

/* A rank's trace ends: what is told as certain is certain, and what is alone has that reason. */
static void test_cut(void **state)
{
	struct sim_results r;
	uint64_t matched = 0, cut = 0, whole = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct sim_options o = options_of(seed);

		o.cut = true;
		simulate(o, &r, &matched);
		whole += r.true_matches;
		cut += r.sends[HYB_LONE_CUT] + r.receives[HYB_LONE_CUT];
		assert_int_equal(r.receives[HYB_LONE_NONE], 0);
	}
	assert_true(matched >= whole && cut > CASES);
}

/* The program ends without asking for all that it received: only what stands behind that is unsure. */
static void test_unfinished(void **state)
{
	struct sim_results r;
	uint64_t matched = 0, unsure = 0, wrong = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct sim_options o = options_of(seed);

		o.unfinished = true;
		simulate(o, &r, &matched);
		unsure += r.unsure;
		wrong += r.unsure_wrong;
	}
	assert_true(wrong && wrong < unsure && unsure < matched);
}

/* Threads whose messages are all alike: those whose calls overlap are unsure, the others right. */
static void test_alike(void **state)
{
	struct sim_results r;
	uint64_t matched = 0, unsure = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct sim_options o = options_of(seed);

		o.threads = o.alike = true;
		simulate(o, &r, &matched);
		assert_int_equal(r.matched, r.true_matches);
		assert_int_equal(r.resized, 0);
		assert_int_equal(r.sends[HYB_LONE_NONE] + r.sends[HYB_LONE_UNSEEN], r.unreceived);
		unsure += r.unsure;
	}
	assert_true(unsure > CASES && unsure < matched / 2);
}

/* What is measured is told, right and certain, however many threads pause meanwhile. */
static void test_pauses(void **state)
{
	struct sim_results r;
	uint64_t matched = 0, unsure = 0, unreceived = 0, unsent = 0, whole = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct sim_options o = options_of(seed);

		o.pauses = true;
		simulate(o, &r, &matched);
		assert_int_equal(r.matched, r.true_matches);
		assert_int_equal(r.unsure_wrong, 0);
		unsure += r.unsure;
		assert_int_equal(r.resized, 0);
		assert_int_equal(sum(r.sends), r.unreceived);
		assert_int_equal(r.receives[HYB_LONE_CUT], r.unsent);
		unreceived += r.sends[HYB_LONE_CUT];
		unsent += r.unsent;
		whole += r.collectives - r.partial;
	}
	assert_true(unsure < matched / 10);
	assert_true(matched > 5 * CASES && unreceived > CASES && unsent > CASES && whole > CASES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_pauses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
