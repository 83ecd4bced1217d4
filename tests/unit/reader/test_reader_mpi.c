/* What MPI did: worlds, handles, message nodes and records, sound and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/varint.h"
#include "hyb_writer.h"
#include "hybrid/reader.h"
#include "format/mpi_record.h"
#include "reader_help.h"

#define WORLD 0xabcdefu

/* Rank 1 of 4 with its world's communicator and a region of MPI in its first thread. */
struct rank {
	struct writer *w;
	uint32_t world, root, send;
};

static struct rank make(void)
{
	struct rank r = {.w = writer_new()};
	uint64_t region = writer_region(r.w, "MPI_Send", "", 0, HYB_REGION_MPI);

	writer_world(r.w, WORLD, 1, 4);
	r.world = writer_handle(r.w, HYB_HANDLE_COMM, 77, 0, 1, 4, "MPI_COMM_WORLD");
	r.root = writer_location(r.w, 1, 1, 1000);
	r.send = writer_node(r.w, 1, r.root, HYB_NODE_REGION, region);
	return r;
}

static bool damaged(const struct hyb_experiment *e, const char *what)
{
	for (size_t i = 0; i < hyb_damage_count(e); i++)
		if (strstr(hyb_damage_text(e, i), what))
			return true;
	return false;
}

static void test_world_and_handles(void **state)
{
	struct rank r = make();
	const struct hyb_process *p;
	struct hyb_experiment *e;
	uint32_t inter, window;

	inter = writer_handle_full(r.w,
		(struct hyb_def_handle){.kind = HYB_HANDLE_COMM,
			.identity = 78,
			.parent = 77,
			.rank = 0,
			.size = 2,
			.remote = 3,
			.group = 1},
		"");
	window = writer_handle(r.w, HYB_HANDLE_WINDOW, 79, 77, 1, 4, "");
	writer_handle_name(r.w, inter, "first");
	writer_handle_name(r.w, inter, "bridge");
	writer_location_at(r.w, 1)->mpi[HYB_MPI_INSIDE] = 5;
	e = help_open(r.w);
	p = hyb_process_at(e, 0);

	assert_int_equal(hyb_damage_count(e), 0);
	assert_int_equal(p->world, WORLD);
	assert_int_equal(p->rank, 1);
	assert_int_equal(p->world_size, 4);
	assert_int_equal(p->handle_count, 3);
	assert_int_equal(p->handles[0].id, r.world);
	assert_string_equal(p->handles[0].name, "MPI_COMM_WORLD");
	assert_int_equal(p->handles[0].identity, 77);
	assert_int_equal(p->handles[0].type, HYB_COMM);
	assert_int_equal(p->handles[1].id, inter);
	assert_string_equal(p->handles[1].name, "bridge");
	assert_int_equal(p->handles[1].parent, 77);
	assert_int_equal(p->handles[1].remote, 3);
	assert_int_equal(p->handles[1].group, 1);
	assert_int_equal(p->handles[2].id, window);
	assert_int_equal(p->handles[2].type, HYB_WINDOW);
	assert_string_equal(p->handles[2].name, "");
	assert_int_equal(p->locations[0].mpi[HYB_MPI_INSIDE], 5);
	assert_true(p->locations[0].nodes[1].region->mpi);
	help_close(e, r.w);
}

static void test_no_rank(void **state)
{
	struct writer *w = writer_new();
	struct hyb_experiment *e = help_open(w);
	const struct hyb_process *p = hyb_process_at(e, 0);

	assert_int_equal(p->world, 0);
	assert_int_equal(p->rank, HYB_RANK_NONE);
	assert_int_equal(p->handle_count, 0);
	assert_int_equal(p->offset_count, 0);
	help_close(e, w);
}

static void test_damaged_definitions(void **state)
{
	static const struct hyb_def_world bad[] = {
		{.identity = 0, .rank = 0, .size = 1},
		{.identity = 1, .rank = 1, .size = 1},
		{.identity = 1, .rank = 0, .size = 0},
		{.identity = 1, .rank = 0, .size = UINT32_MAX},
		{.identity = 1, .rank = 0, .size = 1, .threads = 4},
	};
	static const struct hyb_def_handle handles[] = {
		{.kind = 0, .size = 1},
		{.kind = 4, .size = 1},
		{.kind = HYB_HANDLE_COMM, .rank = 1, .size = 1},
		{.kind = HYB_HANDLE_COMM, .size = 1, .group = 2},
	};
	struct writer *w = writer_new();
	struct hyb_experiment *e;
	const struct hyb_process *p;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		writer_def(w, HYB_DEF_WORLD, &bad[i], sizeof(bad[i]), NULL, NULL);
	writer_def(w, HYB_DEF_WORLD, &bad[0], 16, NULL, NULL);
	writer_def(w, HYB_DEF_CLOCK, &bad[0], 16, NULL, NULL);
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++)
		writer_handle_full(w, handles[i], "");
	writer_handle_name(w, 2, "of a damaged one");
	writer_handle_name(w, 0, "of none");
	e = help_open(w);
	p = hyb_process_at(e, 0);
	assert_int_equal(hyb_damage_count(e), 5 + 2 + 4 + 2);
	assert_int_equal(p->world, 0);
	assert_int_equal(p->handle_count, 0);
	help_close(e, w);
}

/* Ids out of order, one of them twice: the first holds. */
static void test_handle_ids(void **state)
{
	static const uint32_t ids[] = {9, 2, 70000, 2};
	struct writer *w = writer_new();
	struct hyb_experiment *e;
	const struct hyb_process *p;

	for (size_t i = 0; i < 4; i++) {
		struct hyb_def_handle def = {.id = ids[i], .kind = HYB_HANDLE_FILE, .size = 1, .parent = i};

		writer_def(w, HYB_DEF_HANDLE, &def, sizeof(def), "", NULL);
	}
	writer_handle_name(w, 70000, "x");
	e = help_open(w);
	p = hyb_process_at(e, 0);
	assert_int_equal(p->handle_count, 3);
	assert_int_equal(p->handles[0].id, 2);
	assert_int_equal(p->handles[0].parent, 1);
	assert_int_equal(p->handles[1].id, 9);
	assert_string_equal(p->handles[2].name, "x");
	assert_int_equal(hyb_damage_count(e), 1);
	assert_true(damaged(e, "handle 2 is defined twice"));
	help_close(e, w);
}

static void test_message_nodes(void **state)
{
	struct rank r = make();
	const struct hyb_node_info *n;
	struct hyb_experiment *e;

	writer_message_node(r.w, 1, r.send, HYB_MESSAGE(HYB_MESSAGE_SEND, 4, r.world, 3), 10, 500, 80, 0);
	writer_message_node(
		r.w, 1, r.send, HYB_MESSAGE(HYB_MESSAGE_COLLECTIVE, 63, 0, HYB_PEER_NONE), 1, 2, 3, 4);
	writer_message_node(
		r.w, 1, r.send, HYB_MESSAGE(HYB_MESSAGE_RECV, 0, r.world, HYB_PEER_FOREIGN | 7), 1, 0, 0, 0);
	e = help_open(r.w);
	n = hyb_process_at(e, 0)->locations[0].nodes;

	assert_int_equal(hyb_damage_count(e), 0);
	assert_int_equal(hyb_process_at(e, 0)->locations[0].node_count, 5);
	assert_int_equal(n[1].peer, HYB_RANK_NONE);
	assert_int_equal(n[2].type, HYB_TYPE_MESSAGE);
	assert_int_equal(n[2].parent, 1);
	assert_int_equal(n[2].probe, 1);
	assert_int_equal(n[2].message, HYB_SEND);
	assert_int_equal(n[2].size_class, 4);
	assert_ptr_equal(n[2].handle, hyb_process_at(e, 0)->handles);
	assert_int_equal(n[2].peer, 3);
	assert_int_equal(n[2].calls, 10);
	assert_int_equal(n[2].inclusive, 500);
	assert_int_equal(n[2].sent, 80);
	assert_int_equal(n[2].received, 0);
	assert_int_equal(n[2].ran, 0);
	assert_int_equal(n[2].skipped, 0);
	assert_null(n[2].region);
	assert_int_equal(n[3].message, HYB_COLLECTIVE);
	assert_int_equal(n[3].size_class, 63);
	assert_int_equal(n[3].peer, HYB_RANK_NONE);
	assert_null(n[3].handle);
	assert_int_equal(n[3].sent, 3);
	assert_int_equal(n[3].received, 4);
	assert_int_equal(n[4].peer, HYB_RANK_FOREIGN | 7);
	help_close(e, r.w);
}

/* Single calls: of a function that was left, and of one that was called once and never left. */
static void test_ranges(void **state)
{
	struct rank r = make();
	uint64_t wait = writer_region(r.w, "MPI_Wait", "", 0, HYB_REGION_MPI);
	uint32_t once = writer_node(r.w, 1, r.root, HYB_NODE_REGION, wait);
	struct hyb_node *range = writer_node_at(r.w, writer_node(r.w, 1, r.send, HYB_NODE_RANGE, 0));
	const struct hyb_node_info *n;
	struct hyb_experiment *e;

	range->least = 20;
	range->most = 700;
	writer_node_at(r.w, once)->count = 1;
	writer_open(r.w, 1, once, 1500);
	writer_location_at(r.w, 1)->end = 1900;
	writer_node(r.w, 1, r.root, HYB_NODE_RANGE, 0);
	e = help_open(r.w);
	n = hyb_process_at(e, 0)->locations[0].nodes;

	assert_int_equal(hyb_damage_count(e), 1);
	assert_true(damaged(e, "a range without its region of MPI"));
	assert_int_equal(hyb_process_at(e, 0)->locations[0].node_count, 3);
	assert_int_equal(n[1].least, 20);
	assert_int_equal(n[1].most, 700);
	assert_int_equal(n[2].least, 400);
	assert_int_equal(n[2].most, 400);
	assert_int_equal(n[0].most, 0);
	help_close(e, r.w);
}

static void test_damaged_message_nodes(void **state)
{
	struct rank r = make();
	uint64_t region = writer_region(r.w, "user", "", 0, HYB_REGION_USER);
	uint32_t user = writer_node(r.w, 1, r.root, HYB_NODE_REGION, region), message;
	const struct hyb_location_info *l;
	struct hyb_experiment *e;

	/* Left out: below no region of MPI, of no known operation. */
	writer_message_node(r.w, 1, user, HYB_MESSAGE(HYB_MESSAGE_SEND, 1, 1, 1), 1, 1, 1, 1);
	writer_message_node(r.w, 1, r.root, HYB_MESSAGE(HYB_MESSAGE_SEND, 1, 1, 1), 1, 1, 1, 1);
	writer_message_node(r.w, 1, r.send, HYB_MESSAGE(0, 1, 1, 1), 1, 1, 1, 1);
	writer_message_node(r.w, 1, r.send, HYB_MESSAGE(9, 1, 1, 1), 1, 1, 1, 1);
	/* Kept without what is not known: rank 4 of 4, handle 5. */
	message = writer_message_node(r.w, 1, r.send, HYB_MESSAGE(HYB_MESSAGE_SEND, 1, 5, 4), 1, 1, 1, 1);
	/* Nothing hangs below a message. */
	writer_node(r.w, 1, message, HYB_NODE_LEAF, 0x10);
	e = help_open(r.w);
	l = &hyb_process_at(e, 0)->locations[0];
	assert_int_equal(hyb_damage_count(e), 4 + 2 + 1);
	assert_int_equal(l->node_count, 5);
	assert_int_equal(l->nodes[3].type, HYB_TYPE_MESSAGE);
	assert_int_equal(l->nodes[3].peer, HYB_RANK_NONE);
	assert_null(l->nodes[3].handle);
	assert_int_equal(l->nodes[4].parent, 0);
	help_close(e, r.w);
}

static void test_records(void **state)
{
	struct rank r = make();
	uint32_t window = writer_handle(r.w, HYB_HANDLE_WINDOW, 80, 77, 1, 4, "");
	uint32_t file = writer_handle(r.w, HYB_HANDLE_FILE, 81, 77, 1, 4, "/scratch/out");
	const uint64_t none = UINT64_MAX;

	writer_enter(r.w, 1, 1100, r.send);
	writer_send(r.w, 1, 1110, r.world, 3, -7, 8, 0);
	writer_send(r.w, 1, 1110, r.world, HYB_PEER_FOREIGN | 2, 0x7fffffff, 1ul << 40, 12);
	writer_recv(r.w, 1, 1120, r.world, 0, INT32_MIN, 0, 13);
	writer_request(r.w, 1, 1120, HYB_OTHER_POSTED, 13);
	writer_request(r.w, 1, 1120, HYB_OTHER_SENT, 12);
	writer_request(r.w, 1, 1120, HYB_OTHER_TESTED, 14);
	writer_request(r.w, 1, 1120, HYB_OTHER_CANCELLED, 15);
	writer_exchange(r.w, 1, 1130, HYB_OTHER_COLLECTIVE, r.world, HYB_PEER_NONE, 5, 6, 0);
	writer_request(r.w, 1, 1130, HYB_OTHER_COLLECTED, 16);
	writer_exchange(r.w, 1, 1130, HYB_OTHER_PUT, window, 2, 9, 0, 0);
	writer_exchange(r.w, 1, 1130, HYB_OTHER_GET, window, 2, 0, 9, 0);
	writer_exchange(r.w, 1, 1130, HYB_OTHER_UPDATE, window, 2, 9, 9, 17);
	writer_request(r.w, 1, 1130, HYB_OTHER_DONE, 17);
	writer_epoch(r.w, 1, 1130, window, HYB_PEER_NONE);
	writer_transfer(r.w, 1, 1140, HYB_OTHER_READ, file, 4096, 100, 0);
	writer_transfer(r.w, 1, 1140, HYB_OTHER_WRITE, file, none, 200, 18);
	writer_failed(r.w, 1, 1150, 42);
	writer_request(r.w, 1, 1150, HYB_OTHER_CREATED, window);
	writer_request(r.w, 1, 1150, HYB_OTHER_FREED, r.world);
	writer_leave(r.w, 1, 1150);
	writer_other(r.w, 1, 1160, 63, "of a later version", 18);

	const struct {
		unsigned kind, message;
		uint64_t time;
		uint32_t handle, peer;
		int32_t tag;
		uint64_t sent, received, offset, request;
		int64_t value;
	} x[] = {
		{HYB_EVENT_MESSAGE, HYB_SEND, 1110, r.world, 3, -7, 8, 0, none, 0, 0},
		{HYB_EVENT_MESSAGE, HYB_SEND, 1110, r.world, HYB_RANK_FOREIGN | 2, INT32_MAX, 1ul << 40, 0,
			none, 12, 0},
		{HYB_EVENT_MESSAGE, HYB_RECV, 1120, r.world, 0, INT32_MIN, 0, 0, none, 13, 0},
		{HYB_EVENT_POSTED, 0, 1120, 0, HYB_RANK_NONE, 0, 0, 0, none, 13, 0},
		{HYB_EVENT_SENT, 0, 1120, 0, HYB_RANK_NONE, 0, 0, 0, none, 12, 0},
		{HYB_EVENT_TESTED, 0, 1120, 0, HYB_RANK_NONE, 0, 0, 0, none, 14, 0},
		{HYB_EVENT_CANCELLED, 0, 1120, 0, HYB_RANK_NONE, 0, 0, 0, none, 15, 0},
		{HYB_EVENT_MESSAGE, HYB_COLLECTIVE, 1130, r.world, HYB_RANK_NONE, 0, 5, 6, none, 0, 0},
		{HYB_EVENT_COLLECTED, 0, 1130, 0, HYB_RANK_NONE, 0, 0, 0, none, 16, 0},
		{HYB_EVENT_MESSAGE, HYB_PUT, 1130, window, 2, 0, 9, 0, none, 0, 0},
		{HYB_EVENT_MESSAGE, HYB_GET, 1130, window, 2, 0, 0, 9, none, 0, 0},
		{HYB_EVENT_MESSAGE, HYB_UPDATE, 1130, window, 2, 0, 9, 9, none, 17, 0},
		{HYB_EVENT_DONE, 0, 1130, 0, HYB_RANK_NONE, 0, 0, 0, none, 17, 0},
		{HYB_EVENT_EPOCH, 0, 1130, window, HYB_RANK_NONE, 0, 0, 0, none, 0, 0},
		{HYB_EVENT_MESSAGE, HYB_READ, 1140, file, HYB_RANK_NONE, 0, 0, 100, 4096, 0, 0},
		{HYB_EVENT_MESSAGE, HYB_WRITE, 1140, file, HYB_RANK_NONE, 0, 200, 0, none, 18, 0},
		{HYB_EVENT_FAILED, 0, 1150, 0, HYB_RANK_NONE, 0, 0, 0, none, 0, 42},
		{HYB_EVENT_CREATED, 0, 1150, window, HYB_RANK_NONE, 0, 0, 0, none, 0, 0},
		{HYB_EVENT_FREED, 0, 1150, r.world, HYB_RANK_NONE, 0, 0, 0, none, 0, 0},
	};
	struct hyb_experiment *e = help_open(r.w);
	struct hyb_events *events = hyb_events_open(e, NULL, true, NULL);
	struct hyb_event event;

	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.kind, HYB_EVENT_ENTER);
	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++) {
		assert_int_equal(hyb_events_next(events, &event), 1);
		assert_int_equal(event.kind, x[i].kind);
		assert_int_equal(event.message, x[i].message);
		assert_int_equal(event.time, x[i].time);
		assert_int_equal(event.node, 1);
		assert_int_equal(event.handle ? event.handle->id : 0, x[i].handle);
		assert_int_equal(event.peer, x[i].peer);
		assert_int_equal(event.tag, x[i].tag);
		assert_int_equal(event.sent, x[i].sent);
		assert_int_equal(event.received, x[i].received);
		assert_int_equal(event.offset, x[i].offset);
		assert_int_equal(event.request, x[i].request);
		assert_int_equal(event.value.integer, x[i].value);
	}
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.kind, HYB_EVENT_LEAVE);
	assert_int_equal(hyb_events_next(events, &event), 0);
	assert_int_equal(hyb_damage_count(e), 0);
	hyb_events_close(events);
	help_close(e, r.w);
}

/* Of three collective calls in a function of that name, in a file of that minor version. */
static void check_operations(unsigned minor, const char *function, const unsigned expected[3])
{
	struct rank r = make();
	uint64_t region = writer_region(r.w, function, "", 0, HYB_REGION_MPI);
	uint32_t call = writer_node(r.w, 1, r.root, HYB_NODE_REGION, region);
	struct hyb_experiment *e;
	struct hyb_events *events;
	struct hyb_event event;

	writer_header(r.w)->version_minor = (uint16_t)minor;
	writer_header(r.w)->trace_events = 1;
	writer_enter(r.w, 1, 1100, call);
	writer_collective(r.w, 1, 1110, r.world, 0, 8, 8, 0, HYB_COLLECTIVE_ALLREDUCE);
	writer_collective(r.w, 1, 1110, r.world, 0, 8, 8, 5, 1u << 20);
	writer_exchange(r.w, 1, 1110, HYB_OTHER_COLLECTIVE, r.world, 0, 8, 8, 0);
	e = help_open(r.w);
	events = hyb_events_open(e, NULL, false, NULL);
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.collective, 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(hyb_events_next(events, &event), 1);
		assert_int_equal(event.message, HYB_COLLECTIVE);
		assert_int_equal(event.collective, expected[i]);
		assert_int_equal(event.request, i == 1 ? 5 : 0);
	}
	hyb_events_close(events);
	help_close(e, r.w);
}

/* The record tells it; in older files the name of the function does. */
static void test_operations(void **state)
{
	(void)state;
	check_operations(HYB_VERSION_MINOR, "MPI_Start", (unsigned[]){HYB_COLLECTIVE_ALLREDUCE, 0, 0});
	check_operations(5, "MPI_Igatherv",
		(unsigned[]){HYB_COLLECTIVE_GATHERV, HYB_COLLECTIVE_GATHERV, HYB_COLLECTIVE_GATHERV});
	check_operations(5, "MPI_Start", (unsigned[]){0, 0, 0});
}

/* Each kind's body, shorter by a byte at a time; and a byte too many. */
static void test_short_bodies(void **state)
{
	static const unsigned least[] = {[HYB_OTHER_SEND] = 4,
		[HYB_OTHER_RECV] = 4,
		[HYB_OTHER_POSTED] = 1,
		[HYB_OTHER_SENT] = 1,
		[HYB_OTHER_TESTED] = 1,
		[HYB_OTHER_CANCELLED] = 1,
		[HYB_OTHER_COLLECTIVE] = 4,
		[HYB_OTHER_COLLECTED] = 1,
		[HYB_OTHER_PUT] = 4,
		[HYB_OTHER_GET] = 4,
		[HYB_OTHER_UPDATE] = 4,
		[HYB_OTHER_EPOCH] = 2,
		[HYB_OTHER_READ] = 3,
		[HYB_OTHER_WRITE] = 3,
		[HYB_OTHER_DONE] = 1,
		[HYB_OTHER_FAILED] = 1,
		[HYB_OTHER_CREATED] = 1,
		[HYB_OTHER_FREED] = 1};
	static const uint8_t body[] = {1, 1, 1, 1, 1, 0x80, 0x80};
	struct mpi_record r;

	for (unsigned kind = 1; kind <= HYB_OTHER_FREED; kind++) {
		if (kind == HYB_OTHER_METRICS) /* not of MPI */
			continue;
		for (unsigned length = 0; length < least[kind]; length++)
			assert_int_equal(mpi_record_decode(kind, body, length, &r), -1);
		for (unsigned length = least[kind]; length <= 5; length++)
			assert_int_equal(mpi_record_decode(kind, body, length, &r), 1);
		/* The number in the place of what is needed does not end. */
		assert_int_equal(mpi_record_decode(kind, body + 6 - (least[kind] - 1), least[kind], &r), -1);
	}
	assert_int_equal(mpi_record_decode(HYB_OTHER_SEND, body, 7, &r), 1);
	assert_int_equal(mpi_record_decode(0, body, 5, &r), 0);
	assert_int_equal(mpi_record_decode(HYB_OTHER_UNMEASURED + 1, body, 5, &r), 0);
	assert_int_equal(mpi_record_decode(UINT64_MAX, body, 5, &r), 0);
}

/* One in another: of a pause. */
static void test_unmeasured(void **state)
{
	static const uint8_t body[] = {HYB_OTHER_SEND, 1, 2, 4, 5};
	static const uint8_t unknown[] = {HYB_OTHER_UNMEASURED, HYB_OTHER_SENT, 1};
	struct mpi_record r;

	for (unsigned length = 0; length < sizeof(body); length++)
		assert_int_equal(mpi_record_decode(HYB_OTHER_UNMEASURED, body, length, &r), -1);
	assert_int_equal(mpi_record_decode(HYB_OTHER_UNMEASURED, body, sizeof(body), &r), 1);
	assert_true(r.unmeasured);
	assert_int_equal(r.what, HYB_OTHER_SEND);
	assert_int_equal(r.peer, 2);
	assert_int_equal(r.sent, 5);
	assert_int_equal(mpi_record_decode(HYB_OTHER_UNMEASURED, unknown, sizeof(unknown), &r), 0);
}

/* Handles, peers and tags have 32 bits. */
static void test_large_numbers(void **state)
{
	for (unsigned at = 0; at < 3; at++) {
		uint8_t body[VARINT_MAX * 4], *p = body;
		struct mpi_record r;

		for (unsigned i = 0; i < 4; i++)
			p = varint_put(p, i == at ? 1ul << 33 : 1);
		assert_int_equal(mpi_record_decode(HYB_OTHER_SEND, body, (size_t)(p - body), &r), -1);
	}
}

static void test_damaged_records(void **state)
{
	struct rank r = make();
	struct hyb_experiment *e;
	struct hyb_events *events;
	struct hyb_event event;

	writer_other(r.w, 1, 1100, HYB_OTHER_SEND, "\1\1", 2);
	writer_send(r.w, 1, 1110, 9, 1, 0, 0, 0);
	writer_trace_break(r.w, 1, false, 1);
	writer_send(r.w, 1, 1120, r.world, 4, 0, 0, 0);
	e = help_open(r.w);
	events = hyb_events_open(e, NULL, false, NULL);
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.time, 1110);
	assert_null(event.handle);
	assert_int_equal(event.peer, 1);
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.time, 1120);
	assert_non_null(event.handle);
	assert_int_equal(event.peer, HYB_RANK_NONE);
	assert_int_equal(hyb_events_next(events, &event), 0);
	hyb_events_close(events);
	/* Once a chunk. */
	assert_int_equal(hyb_damage_count(e), 2);
	assert_true(damaged(e, "a record of MPI is too short"));
	assert_true(damaged(e, "a message with an unknown rank"));
	help_close(e, r.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_world_and_handles),
		cmocka_unit_test(test_no_rank),
		cmocka_unit_test(test_damaged_definitions),
		cmocka_unit_test(test_handle_ids),
		cmocka_unit_test(test_message_nodes),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_damaged_message_nodes),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_short_bodies),
		cmocka_unit_test(test_unmeasured),
		cmocka_unit_test(test_large_numbers),
		cmocka_unit_test(test_damaged_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
