/* A thread's way told by hand: what each bin shows; and any way against one that looks at every ns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "profile/views/bins.h"

/*
 *   1 main
 *     2 solve
 *       3 a  4 b  5 c
 *     6 write
 */
enum { ROOT, MAIN, SOLVE, A, B, C, WRITE, NODES };
static uint32_t parents[NODES] = {0, ROOT, MAIN, SOLVE, SOLVE, SOLVE, MAIN};
static const struct weave_tree tree = {.parent = parents, .count = NODES};

#define MOST 16u

struct run {
	struct bins bins;
	uint64_t edges[MOST + 1];
	uint32_t where[MOST];
};

static void begin(struct run *run, uint64_t from, uint64_t to, size_t count)
{
	bins_divide(run->edges, count, from, to);
	assert_int_equal(bins_init(&run->bins, &tree, run->edges, count), 0);
	bins_begin(&run->bins, run->where);
}

/* Numbers of nodes, a space where the thread was not. */
static void end(struct run *run, const char *expected)
{
	bins_end(&run->bins);
	assert_int_equal(strlen(expected), run->bins.count);
	for (size_t i = 0; i < run->bins.count; i++)
		assert_int_equal(run->where[i] == BIN_NOWHERE ? ' ' : '0' + (char)run->where[i], expected[i]);
	bins_release(&run->bins);
}

static void each_bin(void **state)
{
	struct run run;

	begin(&run, 0, 1000, 10);
	bins_spend(&run.bins, ROOT, 150, 300);
	bins_spend(&run.bins, A, 300, 651);
	bins_spend(&run.bins, WRITE, 651, 800);
	end(&run, " 0033336  ");
}

static void outside_of_the_edges(void **state)
{
	struct run run;

	begin(&run, 100, 300, 2);
	bins_spend(&run.bins, A, 0, 50);
	bins_spend(&run.bins, B, 50, 210);
	bins_spend(&run.bins, C, 210, 5000);
	bins_spend(&run.bins, WRITE, 5000, 9000);
	end(&run, "45");
}

/* 60 in solve's callees, each of which has less than the 40 of write. */
static void callees_together(void **state)
{
	struct run run;

	begin(&run, 0, 100, 1);
	bins_spend(&run.bins, WRITE, 0, 40);
	bins_spend(&run.bins, A, 40, 58);
	bins_spend(&run.bins, B, 58, 80);
	bins_spend(&run.bins, C, 80, 100);
	end(&run, "4");
}

/* A caller that itself has more than any callee. */
static void own_time(void **state)
{
	struct run run;

	begin(&run, 0, 100, 1);
	bins_spend(&run.bins, SOLVE, 0, 51);
	bins_spend(&run.bins, A, 51, 100);
	end(&run, "2");
}

static void threads_take_turns(void **state)
{
	struct run run;

	begin(&run, 0, 40, 4);
	bins_spend(&run.bins, A, 0, 35);
	bins_end(&run.bins);
	bins_begin(&run.bins, run.where);
	bins_spend(&run.bins, B, 20, 25);
	end(&run, "  4 ");
}

/* ---------------------------------------------------------------- any way */

static uint64_t all_of(const uint64_t own[NODES], uint32_t node)
{
	uint64_t sum = own[node];

	for (uint32_t i = node + 1; i < NODES; i++)
		sum += parents[i] == node ? all_of(own, i) : 0;
	return sum;
}

static uint64_t most_below(const uint64_t own[NODES], uint32_t node)
{
	uint64_t most = 0;

	for (uint32_t i = node + 1; i < NODES; i++)
		if (parents[i] == node && all_of(own, i) > most)
			most = all_of(own, i);
	return most;
}

/* Each step from the root leads to most, and the last one has more itself. */
static void assert_shows(const uint64_t own[NODES], uint32_t node)
{
	if (!all_of(own, ROOT)) {
		assert_int_equal(node, BIN_NOWHERE);
		return;
	}
	assert_in_range(node, 0, NODES - 1);
	assert_true(!most_below(own, node) || most_below(own, node) < own[node]);
	for (; node; node = parents[node]) {
		assert_int_equal(all_of(own, node), most_below(own, parents[node]));
		assert_true(all_of(own, node) >= own[parents[node]]);
	}
}

static void any_way(void **state)
{
	uint64_t random = 7;

	for (unsigned n = 0; n < 1000; n++) {
		size_t count = 1 + n % MOST;
		uint64_t from = n % 50, to = from + 1 + n % 997, time = 0, own[MOST][NODES] = {{0}};
		struct run run;

		begin(&run, from, to, count);
		while (time < to) {
			uint32_t node;
			uint64_t last = time;

			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			time += random >> 58;
			node = (uint32_t)(random >> 40) % (NODES + 1);
			if (node == NODES) /* away */
				continue;
			bins_spend(&run.bins, node, last, time);
			for (uint64_t ns = last; ns < time; ns++)
				for (size_t i = 0; i < count; i++)
					own[i][node] += ns >= run.edges[i] && ns < run.edges[i + 1];
		}
		bins_end(&run.bins);
		for (size_t i = 0; i < count; i++)
			assert_shows(own[i], run.where[i]);
		bins_release(&run.bins);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_bin),
		cmocka_unit_test(outside_of_the_edges),
		cmocka_unit_test(callees_together),
		cmocka_unit_test(own_time),
		cmocka_unit_test(threads_take_turns),
		cmocka_unit_test(any_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
