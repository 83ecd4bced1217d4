/* Several analyses in one pass over files whose every event is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "hyb_writer.h"
#include "reader_help.h"

/* What an analysis was told. */
struct told {
	unsigned begins, ends, by_kind[HYB_STEP_COLLECTIVE + 1];
	uint64_t last; /* pos */
	uint64_t matched;
	uint32_t leave_out; /* tid of a location, 0: none */
	unsigned fail_at; /* this step fails, 0: none does */
};

static int begin(void *data, struct hyb_experiment *experiment, const struct hyb_location_info *location)
{
	struct told *told = data;

	told->begins++;
	return location && location->tid == told->leave_out;
}

static int step(void *data, const struct hyb_step *step)
{
	struct told *told = data;

	told->by_kind[step->kind]++;
	told->last = step->pos;
	return told->by_kind[step->kind] == told->fail_at ? HYB_EFORMAT : 0;
}

static int end(void *data, const struct hyb_totals *totals)
{
	struct told *told = data;

	told->ends++;
	told->matched = totals ? totals->matched : 0;
	return 0;
}

static const struct analysis events = {.name = "events",
				     .steps = ANALYSIS_STEP(HYB_STEP_EVENT),
				     .begin = begin,
				     .step = step,
				     .end = end},
			     messages = {.name = "messages",
				     .steps = ANALYSIS_STEP(HYB_STEP_MATCH) | ANALYSIS_STEP(HYB_STEP_LONE),
				     .begin = begin,
				     .step = step,
				     .end = end},
			     apart = {.name = "apart",
				     .steps = ANALYSIS_STEP(HYB_STEP_EVENT),
				     .apart = true,
				     .begin = begin,
				     .step = step,
				     .end = end},
			     idle = {.name = "idle", .begin = begin, .end = end};

/* Rank 0 sends to rank 1, twice, which receives once: 6 and 5 events. */
static struct hyb_experiment *open_two(struct writer **ret_writer)
{
	struct writer *w = writer_new();

	for (uint32_t rank = 0; rank < 2; rank++) {
		uint32_t comm, root, work, call;

		writer_process(w);
		writer_header(w)->trace_events = 1;
		writer_header(w)->state = HYB_STATE_EXITED;
		writer_world(w, 0xfeed, rank, 2);
		comm = writer_handle(w, HYB_HANDLE_COMM, 0xc0ffee, 0, rank, 2, "MPI_COMM_WORLD");
		root = writer_location(w, 1, rank + 1, 1000);
		work = writer_node(
			w, 1, root, HYB_NODE_REGION, writer_region(w, "work", "", 0, HYB_REGION_USER));
		call = writer_node(w, 1, work, HYB_NODE_REGION,
			writer_region(w, rank ? "MPI_Recv" : "MPI_Send", "", 0, HYB_REGION_MPI));
		writer_enter(w, 1, 1000, work);
		writer_enter(w, 1, 2000 + rank, call);
		if (rank) {
			writer_recv(w, 1, 2600, comm, 0, 5, 8, 0);
		} else {
			writer_send(w, 1, 2400, comm, 1, 5, 8, 0);
			writer_send(w, 1, 2500, comm, 1, 5, 8, 0);
		}
		writer_leave(w, 1, 3000 + rank);
		writer_leave(w, 1, 9000);
		writer_location_end(w, 1, 9500);
	}
	*ret_writer = w;
	return help_open(w);
}

static void test_one_pass(void **state)
{
	struct writer *w;
	struct hyb_experiment *e = open_two(&w);
	struct told told[4] = {0};
	const struct analysis_item items[] = {
		{&events, &told[0]}, {&messages, &told[1]}, {&apart, &told[2]}, {&idle, &told[3]}};
	struct hyb_error err;

	told[2].leave_out = 2;
	assert_int_equal(analysis_run(e, items, 4, NULL, &err), 0);
	assert_int_equal(told[0].by_kind[HYB_STEP_EVENT], 11);
	assert_int_equal(told[0].by_kind[HYB_STEP_MATCH] + told[0].by_kind[HYB_STEP_LONE], 0);
	assert_int_equal(told[0].last, 11);
	assert_int_equal(told[1].by_kind[HYB_STEP_EVENT], 0);
	assert_int_equal(told[1].by_kind[HYB_STEP_MATCH], 1);
	assert_int_equal(told[1].by_kind[HYB_STEP_LONE], 1);
	assert_int_equal(told[1].matched, 1);
	assert_int_equal(told[2].begins, 2);
	assert_int_equal(told[2].ends, 1); /* the other location was left out */
	assert_int_equal(told[2].by_kind[HYB_STEP_EVENT], 6);
	assert_int_equal(told[2].last, 6);
	assert_int_equal(told[0].begins + told[1].begins, 2);
	assert_int_equal(told[0].ends + told[1].ends, 2);
	assert_int_equal(told[3].begins + told[3].ends, 0); /* it wants no steps */
	help_close(e, w);
}

/* A failure ends the pass, and no end is told of; the error is the callback's own. */
static void test_failure(void **state)
{
	struct writer *w;
	struct hyb_experiment *e = open_two(&w);
	struct told told[3] = {{.fail_at = 4}, {0}, {0}};
	const struct analysis_item items[] = {{&events, &told[0]}, {&messages, &told[1]}, {&apart, &told[2]}};
	struct hyb_error err = {.code = 1};

	assert_int_equal(analysis_run(e, items, 3, NULL, &err), HYB_EFORMAT);
	assert_int_equal(err.code, 0);
	assert_int_equal(told[0].by_kind[HYB_STEP_EVENT], 4);
	assert_int_equal(told[0].ends + told[1].ends + told[2].begins, 0);
	help_close(e, w);
}

static bool always(void *data)
{
	return true;
}

static void test_stop(void **state)
{
	struct writer *w;
	struct hyb_experiment *e = open_two(&w);
	struct told told = {0};
	const struct analysis_watch watch = {always, NULL};
	struct hyb_error err;

	assert_int_equal(
		analysis_run(e, &(struct analysis_item){&events, &told}, 1, &watch, &err), ANALYSIS_STOPPED);
	assert_int_equal(
		analysis_run(e, &(struct analysis_item){&apart, &told}, 1, &watch, &err), ANALYSIS_STOPPED);
	assert_int_equal(told.ends, 0);
	help_close(e, w);
}

/* The model needs regions; what reads locations apart does not. */
static void test_without_regions(void **state)
{
	struct writer *w = writer_new();
	struct told told = {0};
	struct hyb_experiment *e;
	struct hyb_error err;

	writer_process(w);
	writer_location(w, 1, 1, 1000);
	writer_location_end(w, 1, 9500);
	e = help_open(w);
	assert_int_equal(analysis_run(e, &(struct analysis_item){&events, &told}, 1, NULL, &err), HYB_EEMPTY);
	assert_non_null(strstr(err.text, "--trace"));
	assert_int_equal(told.begins, 0);
	assert_int_equal(analysis_run(e, &(struct analysis_item){&apart, &told}, 1, NULL, &err), 0);
	assert_int_equal(told.ends, 1);
	help_close(e, w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_pass),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_without_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
