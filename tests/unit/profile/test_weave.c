/* Events of one thread, made by hand, and the enters and leaves that they have to become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/views/weave.h"

/*
 * The location, and a tree that has the same nodes, in another order and with one that is nobody's:
 *
 *   0 thread
 *     1 main (frame)          main = 1
 *       2 solve (probe)       solve = 2
 *         3 inner (frame)     inner = 3
 *           4 call (probe)    call = 4
 *             5 deep (frame)  deep = 5
 *       6 write (probe)       write = 8
 *       7 rest (frame)        rest = 7
 */
enum { ROOT, MAIN, SOLVE, INNER, CALL, DEEP, WRITE, REST, NODES };
static const uint32_t parents[NODES] = {0, ROOT, MAIN, SOLVE, INNER, CALL, MAIN, MAIN};
static const uint32_t probes[NODES] = {ROOT, ROOT, SOLVE, SOLVE, CALL, CALL, WRITE, ROOT};
static const uint32_t own[NODES] = {0, 1, 2, 3, 4, 5, 8, 7};
#define TREE_NODES 9
static const uint32_t tree_parents[TREE_NODES] = {0, 0, 1, 2, 3, 4, 1, 1, 1};
static const char *const names[TREE_NODES] = {
	"", "main", "solve", "inner", "call", "deep", "nobody", "rest", "write"};

struct run {
	struct hyb_process process;
	struct hyb_location_info location;
	struct hyb_node_info nodes[NODES];
	struct profile_node tree_nodes[TREE_NODES];
	struct weave_tree tree;
	struct weave weave;
	char text[4096]; /* what happened: "time+name", "time-name"; with '!' an exact record */
	size_t used;
	uint32_t stack[TREE_NODES];
	size_t depth;
	uint64_t last;
};

static void tell(struct run *run, char what, uint32_t node, const struct hyb_event *event)
{
	assert_true(run->weave.time >= run->last);
	run->last = run->weave.time;
	run->used += (size_t)snprintf(run->text + run->used, sizeof(run->text) - run->used, "%s%u%c%s%s",
		run->used ? " " : "", (unsigned)run->weave.time, what, names[node], event ? "!" : "");
	assert_true(run->used < sizeof(run->text));
}

static void enter(void *data, uint32_t node, uint32_t probe, const struct hyb_event *event)
{
	struct run *run = data;

	assert_true(!probe || own[probe] == node);
	assert_true(!event || event->node == probe);
	if (run->weave.options.frames)
		assert_int_equal(tree_parents[node], run->depth ? run->stack[run->depth - 1] : 0);
	run->stack[run->depth++] = node;
	tell(run, '+', node, event);
}

static void leave(void *data, uint32_t node, uint32_t probe, const struct hyb_event *event)
{
	struct run *run = data;

	assert_true(!probe || own[probe] == node);
	assert_true(run->depth > 0);
	assert_int_equal(run->stack[--run->depth], node);
	tell(run, '-', node, event);
}

static void sampled(void *data, uint32_t node, const struct hyb_event *event)
{
	assert_int_equal(event->kind, HYB_EVENT_SAMPLE);
	tell(data, '*', node, NULL);
}

static struct run *begin(bool exact, bool frames, bool samples)
{
	struct run *run = calloc(1, sizeof(*run));
	struct weave_options options = {.frames = frames,
		.enter = enter,
		.leave = leave,
		.sample = samples ? sampled : NULL,
		.data = run};

	assert_non_null(run);
	run->process.trace_events = exact;
	run->location = (struct hyb_location_info){
		.process = &run->process, .start = 10, .end = 100, .nodes = run->nodes, .node_count = NODES};
	for (size_t i = 0; i < NODES; i++)
		run->nodes[i] = (struct hyb_node_info){.parent = parents[i], .probe = probes[i]};
	for (size_t i = 0; i < TREE_NODES; i++)
		run->tree_nodes[i] = (struct profile_node){.parent = tree_parents[i]};
	assert_int_equal(weave_tree_make(&run->tree, run->tree_nodes, TREE_NODES), 0);
	assert_int_equal(run->tree.deepest, 5);
	assert_int_equal(weave_init(&run->weave, &run->tree, &run->location, own, &options), 0);
	return run;
}

static void event(struct run *run, uint64_t time, unsigned kind, uint32_t node)
{
	struct hyb_event e = {.time = time, .location = &run->location, .kind = (uint8_t)kind, .node = node};

	weave_event(&run->weave, &e);
}

static void end(struct run *run, const char *expected)
{
	weave_finish(&run->weave);
	assert_string_equal(run->text, expected);
	assert_int_equal(run->depth, 0);
	assert_int_equal(run->weave.current, 0);
	assert_int_equal(run->weave.open, 0);
	weave_release(&run->weave);
	weave_tree_release(&run->tree);
	free(run);
}

static void samples_only(void **state)
{
	struct run *run = begin(false, true, false);

	event(run, 20, HYB_EVENT_SAMPLE, REST);
	event(run, 30, HYB_EVENT_SAMPLE, REST);
	event(run, 40, HYB_EVENT_SAMPLE, INNER);
	event(run, 50, HYB_EVENT_SAMPLE, MAIN);
	end(run, "20+main 20+rest 40-rest 40+solve 40+inner 50-inner 50-solve 100-main");
}

static void complete_without_enters(void **state)
{
	struct run *run = begin(false, true, false);

	event(run, 20, HYB_EVENT_SAMPLE, DEEP);
	event(run, 30, HYB_EVENT_COMPLETE, WRITE); /* the thread is not there */
	event(run, 40, HYB_EVENT_COMPLETE, CALL);
	event(run, 50, HYB_EVENT_SAMPLE, INNER);
	event(run, 60, HYB_EVENT_COMPLETE, SOLVE);
	end(run, "20+main 20+solve 20+inner 20+call 20+deep 40-deep 40-call 60-inner 60-solve 100-main");
}

static void probes_and_samples(void **state)
{
	struct run *run = begin(true, true, true);

	event(run, 20, HYB_EVENT_SAMPLE, REST);
	event(run, 30, HYB_EVENT_ENTER, SOLVE);
	event(run, 35, HYB_EVENT_SAMPLE, INNER);
	event(run, 40, HYB_EVENT_ENTER, CALL);
	event(run, 45, HYB_EVENT_SAMPLE, DEEP);
	event(run, 50, HYB_EVENT_LEAVE, CALL);
	event(run, 60, HYB_EVENT_LEAVE, SOLVE);
	end(run, "20*rest 20+main 20+rest 30-rest 30+solve! 35*inner 35+inner 40+call! 45*deep 45+deep "
		 "50-deep "
		 "50-call! 60-inner 60-solve! 60+rest 100-rest 100-main");
}

/* Before the first sample outside, only what all probes have in common is known of the time between. */
static void between_probes(void **state)
{
	struct run *run = begin(true, true, false);

	event(run, 20, HYB_EVENT_ENTER, SOLVE);
	event(run, 30, HYB_EVENT_LEAVE, SOLVE);
	event(run, 40, HYB_EVENT_ENTER, WRITE);
	event(run, 50, HYB_EVENT_LEAVE, WRITE);
	end(run, "20+main 20+solve! 30-solve! 40+write! 50-write! 100-main");
}

static void probes_only(void **state)
{
	struct run *run = begin(true, false, true);

	event(run, 20, HYB_EVENT_ENTER, SOLVE);
	event(run, 25, HYB_EVENT_SAMPLE, INNER);
	event(run, 30, HYB_EVENT_ENTER, CALL);
	assert_int_equal(run->weave.current, own[CALL]);
	event(run, 40, HYB_EVENT_LEAVE, CALL);
	assert_int_equal(run->weave.current, own[SOLVE]);
	event(run, 50, HYB_EVENT_LEAVE, SOLVE);
	assert_int_equal(run->weave.current, 0);
	end(run, "20+solve! 25*inner 30+call! 40-call! 50-solve!");
}

/* Behind a gap the thread is in CALL, then in WRITE: what is open on both sides stays. */
static void gaps(void **state)
{
	struct run *run = begin(true, true, false);

	event(run, 20, HYB_EVENT_ENTER, SOLVE);
	event(run, 30, HYB_EVENT_GAP, 0);
	event(run, 40, HYB_EVENT_SAMPLE, DEEP);
	event(run, 50, HYB_EVENT_GAP, 0);
	event(run, 60, HYB_EVENT_LEAVE, SOLVE);
	event(run, 70, HYB_EVENT_GAP, 0);
	event(run, 80, HYB_EVENT_LEAVE, WRITE);
	end(run, "20+main 20+solve! 40+inner 40+call 40+deep 60-deep 60-call 60-inner 60-solve! 80+write "
		 "80-write! 100-main");
}

/* Clocks that step back do not: nothing is told before what was told. */
static void steps_back(void **state)
{
	struct run *run = begin(true, true, false);

	event(run, 40, HYB_EVENT_ENTER, SOLVE);
	event(run, 30, HYB_EVENT_LEAVE, SOLVE);
	event(run, 35, HYB_EVENT_MARKER, 0);
	end(run, "40+main 40+solve! 40-solve! 100-main");
}

static void killed(void **state)
{
	struct run *run = begin(true, true, false);

	run->location.end = 35; /* before its last event */
	event(run, 20, HYB_EVENT_ENTER, SOLVE);
	event(run, 30, HYB_EVENT_SAMPLE, INNER);
	event(run, 40, HYB_EVENT_ENTER, CALL);
	end(run, "20+main 20+solve! 30+inner 40+call! 40-call 40-inner 40-solve 40-main");
}

/* Of MPI's events the call is known; a damaged file enters and leaves the thread. */
static void other_records(void **state)
{
	struct run *run = begin(true, true, false);

	event(run, 20, HYB_EVENT_LEAVE, ROOT);
	event(run, 20, HYB_EVENT_ENTER, ROOT);
	event(run, 30, HYB_EVENT_MESSAGE, CALL);
	event(run, 40, HYB_EVENT_LEAVE, CALL);
	event(run, 50, HYB_EVENT_COUNTER, 0);
	end(run, "30+main 30+solve 30+inner 30+call 40-call! 100-inner 100-solve 100-main");
}

/* The frames that called a probe stay until another probe's path, or the next sample, shows that they went.
 */
static void callers_stay(void **state)
{
	struct run *run = begin(true, true, false);

	event(run, 20, HYB_EVENT_ENTER, CALL);
	event(run, 30, HYB_EVENT_LEAVE, CALL);
	event(run, 40, HYB_EVENT_ENTER, CALL);
	event(run, 50, HYB_EVENT_LEAVE, CALL);
	event(run, 60, HYB_EVENT_LEAVE, SOLVE);
	event(run, 70, HYB_EVENT_SAMPLE, REST);
	end(run, "20+main 20+solve 20+inner 20+call! 30-call! 40+call! 50-call! 60-inner 60-solve! 70+rest "
		 "100-rest 100-main");
}

/* `rest` was sampled in 64 ns without a probe: it is entered again where there are 8, and not for less. */
static void short_stretches(void **state)
{
	struct run *run = begin(true, true, false);

	run->location.end = 200;
	event(run, 20, HYB_EVENT_SAMPLE, REST);
	event(run, 74, HYB_EVENT_ENTER, WRITE);
	for (unsigned time = 80; time < 100; time += 10) {
		event(run, time, HYB_EVENT_LEAVE, WRITE);
		event(run, time + 7, HYB_EVENT_ENTER, WRITE);
	}
	event(run, 110, HYB_EVENT_LEAVE, WRITE);
	event(run, 116, HYB_EVENT_COUNTER, 0);
	event(run, 118, HYB_EVENT_COUNTER, 0); /* now it is known; nothing is told before what was told */
	event(run, 120, HYB_EVENT_ENTER, WRITE);
	event(run, 130, HYB_EVENT_LEAVE, WRITE);
	end(run, "20+main 20+rest 74-rest 74+write! 80-write! 87+write! 90-write! 97+write! 110-write! "
		 "116+rest 120-rest 120+write! 130-write! 130+rest 200-rest 200-main");
}

/* A thread that was interrupted in front of a sample is seen again in its usual stretch. */
static void shortest_stretch_counts(void **state)
{
	struct run *run = begin(true, true, false);

	run->location.end = 2000;
	event(run, 20, HYB_EVENT_SAMPLE, REST);
	event(run, 1000, HYB_EVENT_ENTER, WRITE);
	event(run, 1010, HYB_EVENT_LEAVE, WRITE);
	event(run, 1015, HYB_EVENT_SAMPLE, REST);
	event(run, 1020, HYB_EVENT_ENTER, WRITE);
	event(run, 1030, HYB_EVENT_LEAVE, WRITE);
	event(run, 1035, HYB_EVENT_ENTER, WRITE);
	event(run, 1040, HYB_EVENT_LEAVE, WRITE);
	end(run, "20+main 20+rest 1000-rest 1000+write! 1010-write! 1015+rest 1020-rest 1020+write! "
		 "1030-write! "
		 "1030+rest 1035-rest 1035+write! 1040-write! 1040+rest 2000-rest 2000-main");
}

/* Whatever comes: enters and leaves balance, at times that do not fall (looked at by the callbacks). */
static void anything(void **state)
{
	static const uint32_t regions[] = {ROOT, SOLVE, CALL, WRITE};
	uint64_t random = 1;

	for (unsigned n = 0; n < 2000; n++) {
		struct run *run = begin(n & 1, !(n & 2), n & 4);

		for (unsigned i = 0; i < 40; i++) {
			unsigned kind;

			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			kind = (unsigned)(random >> 33) % 9;
			event(run, random >> 58, kind,
				kind <= HYB_EVENT_SAMPLE ? (uint32_t)(random >> 40) % NODES
							 : regions[(random >> 40) & 3]);
			run->used = 0;
		}
		run->used = 0;
		weave_finish(&run->weave);
		assert_int_equal(run->depth, 0);
		weave_release(&run->weave);
		weave_tree_release(&run->tree);
		free(run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_only),
		cmocka_unit_test(complete_without_enters),
		cmocka_unit_test(probes_and_samples),
		cmocka_unit_test(between_probes),
		cmocka_unit_test(probes_only),
		cmocka_unit_test(gaps),
		cmocka_unit_test(steps_back),
		cmocka_unit_test(killed),
		cmocka_unit_test(other_records),
		cmocka_unit_test(callers_stay),
		cmocka_unit_test(short_stretches),
		cmocka_unit_test(shortest_stretch_counts),
		cmocka_unit_test(anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
