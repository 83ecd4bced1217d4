/* Files of several processes, and experiments of several files, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hyb_writer.h"
#include "hybrid/reader.h"
#include "reader_help.h"

static bool damaged(const struct hyb_experiment *e, const char *what)
{
	for (size_t i = 0; i < hyb_damage_count(e); i++)
		if (strstr(hyb_damage_text(e, i), what))
			return true;
	return false;
}

/* A rank with a thread, a region of MPI, an own module 1 and handle 1, a message and a record of it. */
static void add_rank(struct writer *w, uint32_t rank, uint32_t size)
{
	char name[32];
	uint32_t comm, root, region, leaf;

	writer_world(w, 0x77, rank, size);
	snprintf(name, sizeof(name), "comm of %u", rank);
	comm = writer_handle(w, HYB_HANDLE_COMM, 5, 0, rank, size, name);
	snprintf(name, sizeof(name), "/bin/rank%u", rank);
	root = writer_location(w, 1, 1000 + rank, 1000 + rank);
	leaf = writer_node(w, 1, root, HYB_NODE_LEAF, HYB_CODE(writer_module(w, name, "", 0), 0x10));
	region = writer_node(w, 1, root, HYB_NODE_REGION, writer_region(w, name, "", 0, HYB_REGION_MPI));
	writer_message_node(
		w, 1, region, HYB_MESSAGE(HYB_MESSAGE_SEND, 1, comm, (rank + 1) % size), rank, 0, rank, 0);
	writer_enter(w, 1, 2000 + rank, region);
	writer_send(w, 1, 3000 + rank, comm, (rank + 1) % size, 0, rank, 0);
	writer_leave(w, 1, 3000 + rank);
	writer_sample(w, 1, 4000 + rank, leaf, 5, 0, 1);
}

#define RANKS 5

static struct writer *make(void)
{
	struct writer *w = writer_new();

	for (uint32_t rank = 0; rank < RANKS; rank++) {
		assert_int_equal(writer_process(w), rank + 1);
		writer_header(w)->first = writer_header(w)->last =
			(struct hyb_anchor){1000 + rank, 1000 + rank};
		writer_header(w)->realtime += rank ? 1 : 0;
		add_rank(w, rank, RANKS);
	}
	return w;
}

static void check_rank(const struct hyb_process *p, uint32_t rank, uint32_t size)
{
	const struct hyb_location_info *l = p->locations;
	char name[32];

	assert_int_equal(p->rank, rank);
	assert_int_equal(p->world_size, size);
	assert_int_equal(p->handle_count, 1);
	snprintf(name, sizeof(name), "comm of %u", rank);
	assert_string_equal(p->handles[0].name, name);
	snprintf(name, sizeof(name), "/bin/rank%u", rank);
	assert_int_equal(p->location_count, 1);
	assert_int_equal(l->tid, 1000 + rank);
	assert_int_equal(l->node_count, 4);
	assert_string_equal(l->nodes[1].module->path, name);
	assert_string_equal(l->nodes[2].region->name, name);
	assert_int_equal(l->nodes[3].calls, rank);
	assert_ptr_equal(l->nodes[3].handle, p->handles);
	assert_int_equal(l->nodes[3].peer, (rank + 1) % size);
}

static void test_several(void **state)
{
	struct writer *w = make();
	struct hyb_experiment *e = help_open(w);
	struct hyb_events *events = hyb_events_open(e, NULL, true, NULL);
	struct hyb_event event;
	uint64_t size = 0;
	size_t length;

	assert_int_equal(hyb_damage_count(e), 0);
	assert_int_equal(hyb_process_count(e), RANKS);
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		const struct hyb_process *p = hyb_process_at(e, rank);

		check_rank(p, rank, RANKS);
		assert_int_equal(p->pid, 100 + rank);
		assert_int_equal(p->start, 1000 + rank);
		assert_string_equal(p->host, "testhost");
		assert_string_equal(p->file, hyb_process_at(e, 0)->file);
		size += p->file_size;
	}
	writer_data(w, &length);
	/* All but the first page, and what is left empty at the ends of segments. */
	assert_true(size <= length - HYB_PAGE);
	for (unsigned kind = 0; kind < 4; kind++) {
		static const unsigned kinds[] = {
			HYB_EVENT_ENTER, HYB_EVENT_MESSAGE, HYB_EVENT_LEAVE, HYB_EVENT_SAMPLE};

		/* A rank's MESSAGE and LEAVE are of the same time. */
		for (uint32_t rank = 0; rank < RANKS && kind != 2; rank++) {
			assert_int_equal(hyb_events_next(events, &event), 1);
			assert_int_equal(event.kind, kinds[kind]);
			assert_int_equal(event.location->process->rank, rank);
			if (kind != 1)
				continue;
			assert_int_equal(event.sent, rank);
			assert_int_equal(hyb_events_next(events, &event), 1);
			assert_int_equal(event.kind, HYB_EVENT_LEAVE);
			assert_int_equal(event.location->process->rank, rank);
		}
	}
	assert_int_equal(hyb_events_next(events, &event), 0);
	hyb_events_close(events);
	help_close(e, w);
}

/* The chunk of that kind of process `number`. */
static struct hyb_chunk *find(struct writer *w, unsigned kind, unsigned number)
{
	size_t length;
	uint8_t *data = writer_data(w, &length);

	for (size_t at = HYB_PAGE; at < length; at += HYB_PAGE) {
		struct hyb_chunk *chunk = (struct hyb_chunk *)(data + at);

		if (chunk->magic == HYB_CHUNK_MAGIC && chunk->kind == kind && chunk->process == number)
			return chunk;
	}
	abort();
}

/* Without process 3: the others are there, and one line says which is not. */
static void expect_without(struct writer *w, const char *what)
{
	struct hyb_experiment *e = help_open(w);

	help_read_all(e, true);
	assert_int_equal(hyb_process_count(e), RANKS - 1);
	for (uint32_t i = 0; i < RANKS - 1; i++)
		check_rank(hyb_process_at(e, i), i < 2 ? i : i + 1, RANKS);
	if (!damaged(e, what))
		fail_msg("%s", hyb_damage_text(e, 0));
	assert_int_equal(hyb_damage_count(e), 1);
	help_close(e, w);
}

static void test_process_missing(void **state)
{
	struct writer *w = make();
	size_t length;
	uint8_t *data;

	memset(find(w, HYB_CHUNK_PROCESS, 3), 0, HYB_PAGE);
	expect_without(w, "4 chunks of process 3, which is not there");

	w = make();
	memset(find(w, HYB_CHUNK_PROCESS, 3) + 1, 0, HYB_PAGE - sizeof(struct hyb_chunk));
	expect_without(w, "process 3 is left out");

	w = make();
	((struct hyb_header *)(find(w, HYB_CHUNK_PROCESS, 3) + 1))->version_major = 2;
	expect_without(w, "use a newer hybrid");

	w = make();
	data = writer_data(w, &length);
	for (size_t at = HYB_PAGE; at < length;) {
		struct hyb_chunk *chunk = (struct hyb_chunk *)(data + at);

		at += chunk->size;
		if (chunk->process == 3)
			memset(chunk, 0, chunk->size);
	}
	expect_without(w, "1 of 5 processes that began have left nothing");
}

static void expect_all(struct writer *w, const char *what)
{
	struct hyb_experiment *e = help_open(w);

	assert_int_equal(hyb_process_count(e), RANKS);
	for (uint32_t i = 0; i < RANKS; i++)
		check_rank(hyb_process_at(e, i), i, RANKS);
	assert_true(damaged(e, what));
	assert_int_equal(hyb_damage_count(e), 1);
	help_close(e, w);
}

static void test_foreign_chunks(void **state)
{
	struct writer *w = make();
	size_t length;
	uint64_t at = writer_chunk(w, HYB_CHUNK_TRACE, HYB_PAGE, 1, 0);
	uint8_t *data = writer_data(w, &length);

	((struct hyb_chunk *)(data + at))->process = 0;
	expect_all(w, "1 chunks of process 0, which is not there");

	w = make();
	at = writer_chunk(w, HYB_CHUNK_PROCESS, HYB_PAGE, 0, 0);
	data = writer_data(w, &length);
	((struct hyb_chunk *)(data + at))->process = 2;
	expect_all(w, "process 2 is there twice");

	w = make();
	at = writer_chunk(w, HYB_CHUNK_NODES, HYB_PAGE, 1, 0);
	data = writer_data(w, &length);
	((struct hyb_chunk *)(data + at))->process = 999;
	expect_all(w, "1 chunks of process 999, which is not there");
}

static void test_foreign_chunk_in_a_file_of_one(void **state)
{
	struct writer *w = writer_new();
	size_t length;
	uint64_t at;
	struct hyb_experiment *e;

	add_rank(w, 0, 1);
	at = writer_chunk(w, HYB_CHUNK_LOCATION, HYB_LOCATION_CHUNK, 1, 0);
	((struct hyb_chunk *)(writer_data(w, &length) + at))->process = 1;
	e = help_open(w);
	check_rank(hyb_process_at(e, 0), 0, 1);
	assert_int_equal(hyb_damage_count(e), 1);
	assert_true(damaged(e, "a chunk of process 1 in the file of one"));
	help_close(e, w);
}

static void expect_none(const void *data, size_t length)
{
	struct hyb_experiment *e;
	struct hyb_error err;

	assert_int_equal(help_open_bytes(data, length, &e, &err), HYB_EFORMAT);
	assert_non_null(strstr(err.text, "no process had begun"));
}

static void test_no_process(void **state)
{
	struct writer *w = make();
	struct hyb_header *file;
	size_t length;

	file = (struct hyb_header *)writer_data(w, &length);
	expect_none(file, HYB_PAGE);
	file->processes = 0;
	expect_none(file, HYB_PAGE);
	writer_free(w);
}

static void flip(uint8_t *data, size_t length, size_t from, size_t count)
{
	for (size_t i = from; i < from + count; i++) {
		uint8_t before = data[i];

		for (unsigned k = 0; k < 2; k++) {
			struct hyb_experiment *e;
			struct hyb_error err;

			data[i] = (uint8_t)(before ^ (k ? 1u << i % 8 : 0xff));
			if (help_open_bytes(data, length, &e, &err))
				continue;
			help_read_all(e, false);
			hyb_experiment_close(e);
		}
		data[i] = before;
	}
}

/* Each byte of the first page's header, and of all headers of chunks and processes. */
static void test_flipped(void **state)
{
	struct writer *w = writer_new();
	uint8_t *data;
	size_t length;

	for (uint32_t rank = 0; rank < 2; rank++) {
		writer_process(w);
		add_rank(w, rank, 2);
	}
	data = writer_data(w, &length);
	flip(data, length, 0, sizeof(struct hyb_header));
	for (size_t at = HYB_PAGE, size; at < length; at += size) {
		const struct hyb_chunk *chunk = (const struct hyb_chunk *)(data + at);

		size = chunk->size;
		flip(data, length, at,
			sizeof(*chunk) + (chunk->kind == HYB_CHUNK_PROCESS ? sizeof(struct hyb_header) : 0));
	}
	writer_free(w);
}

/* ------------------------------------------------------------------ files */

struct place {
	char directory[64], path[128];
};

static void make_place(struct place *place)
{
	strcpy(place->directory, "/tmp/hybrid-several-XXXXXX");
	assert_non_null(mkdtemp(place->directory));
}

static const char *file_in(struct place *place, unsigned number)
{
	snprintf(place->path, sizeof(place->path), "%s/%05u.hyb", place->directory, number);
	return place->path;
}

static void remove_place(struct place *place, unsigned files)
{
	for (unsigned i = 0; i < files; i++)
		unlink(file_in(place, i));
	assert_int_equal(rmdir(place->directory), 0);
}

/* More than keep their file open, and the largest file of one descriptor each would not do. */
#define FILES 1500

static void test_many_files(void **state)
{
	struct place place;
	struct hyb_experiment *e;
	bool seen[FILES] = {false};

	make_place(&place);
	for (uint32_t rank = 0; rank < FILES; rank++) {
		struct writer *w = writer_new();

		add_rank(w, rank, FILES);
		writer_write(w, file_in(&place, rank));
		writer_free(w);
	}
	assert_int_equal(hyb_experiment_open(place.directory, &e, NULL), HYB_OK);
	assert_int_equal(hyb_process_count(e), FILES);
	for (size_t i = 0; i < FILES; i++) {
		const struct hyb_process *p = hyb_process_at(e, i);

		assert_false(seen[p->rank]);
		seen[p->rank] = true;
		check_rank(p, p->rank, FILES);
	}
	assert_int_equal(help_read_all(e, false), FILES * 4);
	assert_int_equal(hyb_damage_count(e), 0);
	hyb_experiment_close(e);
	remove_place(&place, FILES);
}

/* Of six ranks one file is missing, one empty, one cut in its header, one cut behind it, one of zeros. */
static void test_bad_files(void **state)
{
	struct place place;
	struct hyb_experiment *e;
	size_t left[] = {0, 1000000, 0, 100, HYB_PAGE + 100, 0};

	make_place(&place);
	for (uint32_t rank = 0; rank < 6; rank++) {
		struct writer *w = writer_new();
		size_t length;

		writer_data(w, &length);
		add_rank(w, rank, 6);
		if (rank == 5)
			memset(writer_data(w, &length), 0, HYB_PAGE);
		writer_write(w, file_in(&place, rank));
		if (rank == 0)
			assert_int_equal(unlink(place.path), 0);
		else if (rank > 1 && rank < 5)
			assert_int_equal(truncate(place.path, (off_t)left[rank]), 0);
		writer_free(w);
	}
	assert_int_equal(hyb_experiment_open(place.directory, &e, NULL), HYB_OK);
	assert_int_equal(hyb_process_count(e), 2);
	assert_true(damaged(e, "too short for a .hyb file (0 bytes)"));
	assert_true(damaged(e, "too short for a .hyb file (100 bytes)"));
	assert_true(damaged(e, "the file ends inside a chunk"));
	assert_true(damaged(e, "empty: the measurement had not begun"));
	hyb_experiment_close(e);
	remove_place(&place, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_process_missing),
		cmocka_unit_test(test_foreign_chunks),
		cmocka_unit_test(test_foreign_chunk_in_a_file_of_one),
		cmocka_unit_test(test_no_process),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_many_files),
		cmocka_unit_test(test_bad_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
