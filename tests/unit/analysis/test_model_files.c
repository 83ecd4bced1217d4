/* The event model over files whose every event is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/matching/matching.h"
#include "hyb_writer.h"
#include "hybrid/model.h"
#include "reader_help.h"

#define WORLD 0xfeed
#define COMM 0xc0ffee

enum { WORK, SEND, RECV, ISEND, IRECV, WAIT, BCAST, REGIONS };
static const char *const names[REGIONS] = {
	"work", "MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Bcast"};

struct rank {
	uint32_t comm;
	uint32_t nodes[REGIONS]; /* all but the first below it */
};

static uint64_t world = WORLD, comm = COMM;

/* Rank `number` of `size`: from now on all that is written is its. */
static struct rank add_rank(struct writer *w, uint32_t number, uint32_t size)
{
	struct rank r;
	uint32_t root;

	writer_process(w);
	writer_header(w)->trace_events = 1;
	writer_header(w)->state = HYB_STATE_EXITED;
	writer_world(w, world, number, size);
	r.comm = writer_handle(w, HYB_HANDLE_COMM, comm, 0, number, size, "MPI_COMM_WORLD");
	root = writer_location(w, 1, 1, 1000);
	for (unsigned i = 0; i < REGIONS; i++)
		r.nodes[i] = writer_node(w, 1, i ? r.nodes[WORK] : root, HYB_NODE_REGION,
			writer_region(w, names[i], "", 0, i ? HYB_REGION_MPI : HYB_REGION_USER));
	writer_enter(w, 1, 1000, r.nodes[WORK]);
	return r;
}

static void finish_rank(struct writer *w)
{
	writer_leave(w, 1, 9000);
	writer_location_end(w, 1, 9500);
}

struct walk {
	struct hyb_experiment *e;
	struct hyb_model *model;
	struct writer *w;
};

static struct walk start(struct writer *w)
{
	struct walk walk = {.w = w};
	struct hyb_error err = {0};

	walk.e = help_open(w);
	assert_int_equal(hyb_damage_count(walk.e), 0);
	walk.model = hyb_model_open(walk.e, &err);
	assert_string_equal(err.text, "");
	assert_non_null(walk.model);
	return walk;
}

static void stop(struct walk *walk)
{
	hyb_model_close(walk->model);
	help_close(walk->e, walk->w);
}

/* Up to the next step that is no event; NULL: there is none. */
static const struct hyb_step *next_answer(struct walk *walk)
{
	const struct hyb_step *step;
	int result;

	do
		result = hyb_model_next(walk->model, &step);
	while (result > 0 && step->kind == HYB_STEP_EVENT);
	assert_true(result >= 0);
	return result ? step : NULL;
}

/* Rank 0 sends to rank 1, which waited for it. Positions: see the comments. */
static struct writer *one_message(void)
{
	struct writer *w = writer_new();
	struct rank r = add_rank(w, 0, 2); /* 1: enter work */

	writer_enter(w, 1, 2000, r.nodes[SEND]); /* 4 */
	writer_send(w, 1, 3000, r.comm, 1, 5, 800, 0); /* 7 */
	writer_leave(w, 1, 3000); /* 8 */
	finish_rank(w); /* 9 */
	r = add_rank(w, 1, 2); /* 2 */
	writer_enter(w, 1, 1500, r.nodes[RECV]); /* 3 */
	writer_recv(w, 1, 2500, r.comm, 0, 5, 800, 0); /* 5 */
	writer_leave(w, 1, 2500); /* 6 */
	finish_rank(w); /* 10 */
	return w;
}

/* A process sends to one of another world. That has its own identity for the communicator, or left no file.
 */
static void check_foreign(bool there, enum hyb_lone why)
{
	struct writer *w = writer_new();
	struct rank r = add_rank(w, 0, 2);
	const struct hyb_step *step;
	struct walk walk;

	writer_enter(w, 1, 2000, r.nodes[SEND]);
	writer_send(w, 1, 3000, r.comm, HYB_PEER_FOREIGN | 1, 5, 800, 0);
	writer_leave(w, 1, 3000);
	finish_rank(w);
	world = WORLD + 1;
	comm = COMM + 1;
	if (there) {
		add_rank(w, 0, 2);
		finish_rank(w);
	}
	world = WORLD;
	comm = COMM;
	walk = start(w);
	step = next_answer(&walk);
	assert_non_null(step);
	assert_int_equal(step->kind, HYB_STEP_LONE);
	assert_int_equal(step->lone, why);
	stop(&walk);
}

static void test_other_world(void **state)
{
	check_foreign(true, HYB_LONE_UNKNOWN);
	check_foreign(false, HYB_LONE_ABSENT);
}

static void test_match(void **state)
{
	struct walk walk = start(one_message());
	const struct hyb_step *step = next_answer(&walk);

	assert_non_null(step);
	assert_int_equal(step->kind, HYB_STEP_MATCH);
	assert_int_equal(step->pos, 7);
	assert_false(step->unsure);
	assert_int_equal(step->send->started.pos, 7);
	assert_int_equal(step->send->started.time, 3000);
	assert_int_equal(step->send->started.call.pos, 4);
	assert_int_equal(step->send->started.call.time, 2000);
	assert_int_equal(step->send->started.call.node, 1 + SEND);
	assert_int_equal(step->send->partner->rank, 1);
	assert_int_equal(step->recv->started.pos, 5);
	assert_int_equal(step->recv->completed.time, 2500);
	assert_int_equal(step->recv->completed.call.pos, 3);
	assert_int_equal(step->recv->completed.location->process->rank, 1);
	assert_int_equal(step->recv->tag, 5);
	assert_int_equal(step->recv->bytes, 800);
	assert_null(next_answer(&walk));
	assert_int_equal(hyb_model_totals(walk.model)->matched, 1);
	assert_int_equal(hyb_model_totals(walk.model)->reversed, 0);
	stop(&walk);
}

static void check_call(struct walk *walk, uint64_t pos, unsigned kind, uint64_t call, size_t depth)
{
	const struct hyb_step *step;
	const struct hyb_call *stack;
	size_t count;

	assert_int_equal(hyb_model_seek(walk->model, pos, &step), 1);
	assert_int_equal(step->pos, pos);
	assert_int_equal(step->event->kind, kind);
	assert_int_equal(step->call.pos, call);
	stack = hyb_model_stack(walk->model, step->event->location, &count);
	assert_int_equal(count, depth);
	for (size_t i = 1; i < count; i++)
		assert_true(stack[i].pos > stack[i - 1].pos && stack[i - 1].node == 1);
}

/* Forwards, and back again. */
static void test_seek(void **state)
{
	struct walk walk = start(one_message());
	const struct hyb_step *step;

	check_call(&walk, 1, HYB_EVENT_ENTER, 0, 1);
	check_call(&walk, 4, HYB_EVENT_ENTER, 1, 2);
	check_call(&walk, 7, HYB_EVENT_MESSAGE, 4, 2);
	check_call(&walk, 3, HYB_EVENT_ENTER, 2, 2);
	check_call(&walk, 5, HYB_EVENT_MESSAGE, 3, 2);
	check_call(&walk, 6, HYB_EVENT_LEAVE, 3, 1);
	check_call(&walk, 6, HYB_EVENT_LEAVE, 3, 1);
	check_call(&walk, 10, HYB_EVENT_LEAVE, 2, 0);
	assert_int_equal(hyb_model_seek(walk.model, 11, &step), 0);
	stop(&walk);
}

static void test_queue(void **state)
{
	struct writer *w = writer_new();
	struct rank r = add_rank(w, 0, 2);
	const struct hyb_process *p[2];
	const struct hyb_step *step;
	const struct hyb_end *sends[3];
	struct walk walk;

	for (unsigned i = 0; i < 3; i++) {
		writer_enter(w, 1, 2000 + 10 * i, r.nodes[ISEND]);
		writer_send(w, 1, 2005 + 10 * i, r.comm, i != 1, (int32_t)(2 - i), 8 * i, i + 1);
		writer_leave(w, 1, 2005 + 10 * i);
	}
	finish_rank(w);
	r = add_rank(w, 1, 2);
	writer_enter(w, 1, 3000, r.nodes[RECV]);
	writer_recv(w, 1, 3100, r.comm, 0, 0, 16, 0);
	writer_leave(w, 1, 3100);
	finish_rank(w);
	walk = start(w);
	p[0] = hyb_process_at(walk.e, 0);
	p[1] = hyb_process_at(walk.e, 1);
	assert_int_equal(hyb_model_seek(walk.model, 11, &step), 1);
	assert_int_equal(hyb_model_queue(walk.model, NULL, NULL, sends, 3), 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(sends[i]->bytes, 8 * i);
		assert_int_equal(sends[i]->request, i + 1);
	}
	assert_int_equal(hyb_model_queue(walk.model, p[0], p[0], sends, 3), 1);
	assert_int_equal(sends[0]->tag, 1);
	assert_int_equal(hyb_model_queue(walk.model, NULL, p[1], NULL, 0), 2);
	assert_int_equal(hyb_model_queue(walk.model, p[1], NULL, NULL, 0), 0);
	step = next_answer(&walk);
	assert_int_equal(step->kind, HYB_STEP_MATCH);
	assert_int_equal(step->send->tag, 0);
	assert_int_equal(hyb_model_queue(walk.model, NULL, NULL, sends, 3), 2);
	step = next_answer(&walk);
	assert_int_equal(step->kind, HYB_STEP_LONE);
	assert_int_equal(step->lone, HYB_LONE_NONE);
	assert_int_equal(step->send->tag, 2);
	assert_null(step->recv);
	assert_int_equal(next_answer(&walk)->send->tag, 1);
	assert_null(next_answer(&walk));
	stop(&walk);
}

/* Posted a, posted b, b is complete first: the first send is a's. Steps tell where requests began. */
static void test_posted_order(void **state)
{
	struct writer *w = writer_new();
	struct rank r = add_rank(w, 0, 2);
	const struct hyb_step *step;
	struct walk walk;

	for (unsigned i = 1; i < 3; i++) {
		writer_enter(w, 1, 2000 + i, r.nodes[SEND]);
		writer_send(w, 1, 2000 + i, r.comm, 1, 0, i, 0);
		writer_leave(w, 1, 2000 + i);
	}
	finish_rank(w);
	r = add_rank(w, 1, 2);
	for (unsigned i = 1; i < 3; i++) {
		writer_enter(w, 1, 1500 + i, r.nodes[IRECV]);
		writer_request(w, 1, 1500 + i, HYB_OTHER_POSTED, 10 + i);
		writer_leave(w, 1, 1500 + i);
	}
	for (unsigned i = 2; i > 0; i--) {
		writer_enter(w, 1, 4000 - i, r.nodes[WAIT]);
		writer_recv(w, 1, 4000 - i, r.comm, 0, 0, i, 10 + i);
		writer_leave(w, 1, 4000 - i);
	}
	finish_rank(w);
	walk = start(w);
	do
		assert_int_equal(hyb_model_next(walk.model, &step), 1);
	while (step->event->kind != HYB_EVENT_MESSAGE || step->event->message != HYB_RECV);
	assert_int_equal(step->event->request, 12);
	assert_non_null(step->started);
	assert_int_equal(step->started->time, 1502);
	for (unsigned i = 1; i < 3; i++) {
		step = next_answer(&walk);
		assert_int_equal(step->kind, HYB_STEP_MATCH);
		assert_int_equal(step->send->bytes, i);
		assert_int_equal(step->recv->bytes, i);
		assert_int_equal(step->recv->started.time, 1500 + i);
		assert_int_equal(step->recv->completed.call.node, 1 + WAIT);
		assert_false(step->unsure);
	}
	assert_null(next_answer(&walk));
	stop(&walk);
}

/* A file that does not say that it follows pauses: behind one nothing is certain. */
static void test_pause_not_followed(void **state)
{
	struct writer *w = writer_new();
	struct rank r = add_rank(w, 0, 2);
	uint32_t pause = writer_node(
		w, 1, r.nodes[WORK], HYB_NODE_REGION, writer_region(w, "(paused)", "", 0, HYB_REGION_PAUSED));
	const struct hyb_step *step;
	struct walk walk;

	writer_enter(w, 1, 1200, pause);
	writer_leave(w, 1, 1300);
	writer_enter(w, 1, 2000, r.nodes[SEND]);
	writer_send(w, 1, 2100, r.comm, 1, 5, 800, 0);
	writer_leave(w, 1, 2100);
	finish_rank(w);
	r = add_rank(w, 1, 2);
	writer_enter(w, 1, 1500, r.nodes[RECV]);
	writer_recv(w, 1, 2500, r.comm, 0, 5, 800, 0);
	writer_leave(w, 1, 2500);
	finish_rank(w);
	walk = start(w);
	step = next_answer(&walk);
	assert_non_null(step);
	assert_int_equal(step->kind, HYB_STEP_MATCH);
	assert_true(step->unsure);
	assert_null(next_answer(&walk));
	stop(&walk);
}

/* Both with one request, as MPI_Isendrecv does it; each to the other. */
static void test_both_ways(void **state)
{
	struct writer *w = writer_new();
	struct walk walk;

	for (uint32_t i = 0; i < 2; i++) {
		struct rank r = add_rank(w, i, 2);

		writer_enter(w, 1, 2000, r.nodes[ISEND]);
		writer_send(w, 1, 2100, r.comm, !i, 5, 100 + i, 9);
		writer_request(w, 1, 2100, HYB_OTHER_POSTED, 9);
		writer_leave(w, 1, 2100);
		writer_enter(w, 1, 2200, r.nodes[WAIT]);
		writer_request(w, 1, 2300, HYB_OTHER_SENT, 9);
		writer_recv(w, 1, 2300, r.comm, !i, 5, 101 - i, 9);
		writer_leave(w, 1, 2300);
		finish_rank(w);
	}
	walk = start(w);
	for (uint32_t i = 0; i < 2; i++) {
		const struct hyb_step *step = next_answer(&walk);

		assert_non_null(step);
		assert_int_equal(step->kind, HYB_STEP_MATCH);
		assert_int_equal(step->send->bytes, step->recv->bytes);
		assert_int_equal(step->recv->started.time, 2100);
		assert_int_equal(step->recv->completed.time, 2300);
	}
	assert_null(next_answer(&walk));
	stop(&walk);
}

/* Received before it was sent: no clock allows that. */
static void test_reversed(void **state)
{
	struct writer *w = writer_new();
	struct rank r = add_rank(w, 0, 2);
	struct walk walk;

	writer_enter(w, 1, 2000, r.nodes[SEND]);
	writer_send(w, 1, 2100, r.comm, 1, 5, 800, 0);
	writer_leave(w, 1, 2100);
	finish_rank(w);
	r = add_rank(w, 1, 2);
	writer_enter(w, 1, 1500, r.nodes[RECV]);
	writer_recv(w, 1, 1600, r.comm, 0, 5, 801, 0);
	writer_leave(w, 1, 1600);
	finish_rank(w);
	walk = start(w);
	assert_int_equal(next_answer(&walk)->kind, HYB_STEP_MATCH);
	assert_int_equal(hyb_model_totals(walk.model)->reversed, 1);
	assert_int_equal(hyb_model_totals(walk.model)->worst, 400);
	assert_int_equal(hyb_model_totals(walk.model)->resized, 1);
	stop(&walk);
}

static void add_bcast(struct writer *w, const struct rank *r, uint64_t from, uint64_t to, uint32_t root)
{
	writer_enter(w, 1, from, r->nodes[BCAST]);
	writer_exchange(w, 1, to, HYB_OTHER_COLLECTIVE, r->comm, root, 8, 8, 0);
	writer_leave(w, 1, to);
}

/* Two instances; of the third rank there is no file. */
static void test_collective(void **state)
{
	struct writer *w = writer_new();
	const struct hyb_step *step;
	struct walk walk;

	for (uint32_t i = 0; i < 2; i++) {
		struct rank r = add_rank(w, i, 3);

		add_bcast(w, &r, 2000 + i, 3000 + i, 0);
		add_bcast(w, &r, 3500 + 400 * i, 4000 + i, 1);
		finish_rank(w);
	}
	walk = start(w);
	for (uint32_t n = 0; n < 2; n++) {
		step = next_answer(&walk);
		assert_non_null(step);
		assert_int_equal(step->kind, HYB_STEP_COLLECTIVE);
		assert_int_equal(step->collective->identity, COMM);
		assert_int_equal(step->collective->number, n);
		assert_int_equal(step->collective->count, 2);
		assert_int_equal(step->collective->missing, 1);
		assert_false(step->collective->differ);
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(step->collective->members[i].root, n);
			assert_int_equal(step->collective->members[i].moment.location->process->rank, i);
		}
	}
	assert_int_equal(step->collective->members[1].moment.call.time, 3900);
	assert_null(next_answer(&walk));
	assert_int_equal(hyb_model_totals(walk.model)->partial, 2);
	stop(&walk);
}

/* Two ranks in a call of the same function each, which the operation or the request tells apart. */
static bool they_differ(const uint64_t operations[2], const uint64_t requests[2])
{
	struct writer *w = writer_new();
	const struct hyb_step *step;
	struct walk walk;
	bool differ;

	for (uint32_t i = 0; i < 2; i++) {
		struct rank r = add_rank(w, i, 2);

		writer_enter(w, 1, 2000, r.nodes[BCAST]);
		writer_collective(w, 1, 2100 + i, r.comm, 0, 8, 8, requests[i], operations[i]);
		writer_leave(w, 1, 2200);
		finish_rank(w);
	}
	walk = start(w);
	step = next_answer(&walk);
	assert_non_null(step);
	assert_int_equal(step->kind, HYB_STEP_COLLECTIVE);
	assert_int_equal(step->collective->count, 2);
	assert_int_equal(step->collective->members[1].collective, operations[1]);
	differ = step->collective->differ;
	assert_int_equal(hyb_model_totals(walk.model)->differing, differ);
	stop(&walk);
	return differ;
}

static void test_collectives_that_differ(void **state)
{
	const uint64_t bcast = HYB_COLLECTIVE_BCAST, reduce = HYB_COLLECTIVE_REDUCE;

	(void)state;
	assert_false(they_differ((uint64_t[]){bcast, bcast}, (uint64_t[]){0, 0}));
	assert_false(they_differ((uint64_t[]){bcast, bcast}, (uint64_t[]){7, 9}));
	assert_true(they_differ((uint64_t[]){bcast, reduce}, (uint64_t[]){7, 9}));
	assert_true(they_differ((uint64_t[]){bcast, bcast}, (uint64_t[]){0, 9}));
	assert_false(they_differ((uint64_t[]){bcast, 0}, (uint64_t[]){0, 0}));
}

/* Behind a gap regions are open that nobody saw, and nothing is certain. */
static void test_gap(void **state)
{
	struct writer *w = writer_new();
	struct rank r = add_rank(w, 0, 2);
	const struct hyb_step *step;
	struct walk walk;

	writer_enter(w, 1, 2000, r.nodes[SEND]);
	writer_trace_break(w, 1, true, 1);
	writer_send(w, 1, 2100, r.comm, 1, 5, 8, 0);
	writer_leave(w, 1, 2100);
	finish_rank(w);
	r = add_rank(w, 1, 2);
	writer_enter(w, 1, 2300, r.nodes[RECV]);
	writer_recv(w, 1, 2400, r.comm, 0, 5, 8, 0);
	writer_leave(w, 1, 2400);
	writer_enter(w, 1, 2500, r.nodes[RECV]);
	writer_recv(w, 1, 2600, r.comm, 0, 5, 8, 0);
	writer_leave(w, 1, 2600);
	finish_rank(w);
	walk = start(w);
	step = next_answer(&walk);
	assert_int_equal(step->kind, HYB_STEP_MATCH);
	assert_true(step->unsure);
	assert_int_equal(step->send->started.call.pos, 0);
	step = next_answer(&walk);
	assert_int_equal(step->kind, HYB_STEP_LONE);
	assert_int_equal(step->lone, HYB_LONE_CUT);
	assert_null(next_answer(&walk));
	stop(&walk);
}

static void test_without_regions(void **state)
{
	struct writer *w = one_message();
	struct hyb_error err = {0};
	struct hyb_experiment *e;

	writer_header(w)->trace_events = 0;
	e = help_open(w);
	assert_non_null(hyb_process_at(e, 1));
	/* The other process's are there. */
	hyb_model_close(hyb_model_open(e, &err));
	assert_string_equal(err.text, "");
	help_close(e, w);

	w = writer_new();
	writer_location(w, 1, 1, 1000);
	e = help_open(w);
	assert_null(hyb_model_open(e, &err));
	assert_int_equal(err.code, HYB_EEMPTY);
	assert_non_null(strstr(err.text, "hybrid-run --trace"));
	help_close(e, w);
}

static bool ask_once(void *data)
{
	return ++*(unsigned *)data > 1;
}

/* A long trace is given up on the way, a stop that nobody asks for changes nothing. */
static void test_stopped(void **state)
{
	struct writer *w = writer_new();
	struct rank r = add_rank(w, 0, 1);
	struct matching matching;
	struct hyb_error err = {0};
	struct hyb_experiment *e;
	unsigned asked = 0;
	struct analysis_watch stop = {ask_once, &asked};

	for (uint64_t i = 0; i < 5000; i++) {
		writer_enter(w, 1, 2000 + i, r.nodes[SEND]);
		writer_leave(w, 1, 2000 + i);
	}
	finish_rank(w);
	e = help_open(w);
	assert_int_equal(matching_make(e, &stop, &matching, &err), HYB_EIO);
	assert_non_null(strstr(err.text, ": interrupted"));
	assert_true(asked > 1 && asked < 10);
	assert_int_equal(matching_make(e, NULL, &matching, &err), 0);
	assert_int_equal(matching.totals.events, 10002);
	matching_release(&matching);
	help_close(e, w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_other_world),
		cmocka_unit_test(test_seek),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_posted_order),
		cmocka_unit_test(test_pause_not_followed),
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_reversed),
		cmocka_unit_test(test_collective),
		cmocka_unit_test(test_collectives_that_differ),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_without_regions),
		cmocka_unit_test(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
