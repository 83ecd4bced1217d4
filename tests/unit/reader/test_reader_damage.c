/* Files that are damaged, cut short, foreign, or newer: refused or read in part, never believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hyb_writer.h"
#include "hybrid/reader.h"
#include "reader_help.h"

#define OPEN_NONE UINT32_MAX

/* A file with something of every kind. */
static struct writer *make(void)
{
	struct writer *w = writer_new();
	uint64_t region = writer_region(w, "region", "file.c", 1, HYB_REGION_USER);
	uint64_t counter = writer_counter(w, "counter", "unit", 1), text = writer_text(w, "text");
	uint32_t module = writer_module(w, "/bin/prog", "0123", 4), root, probe, leaf;
	uint64_t function = writer_region(w, "f", "f.py", 1, HYB_REGION_PYTHON);

	writer_metadata(w, "key", "value");
	writer_note(w, 1001, HYB_NOTE_INFO, "note");
	writer_child(w, 1002, 5, HYB_CHILD_EXEC, "/bin/true");
	for (uint32_t l = 1; l <= 2; l++) {
		root = writer_location(w, l, l, 1000);
		probe = writer_node(w, l, root, HYB_NODE_REGION, region);
		leaf = writer_node(w, l, probe, HYB_NODE_PYTHON, HYB_PYTHON(function, 2));
		leaf = writer_node(w, l, leaf, HYB_NODE_LEAF, HYB_CODE(module, 0x1000));
		writer_node(w, l, probe, HYB_NODE_AWAIT, 0);
		writer_open(w, l, probe, 1010);
		writer_enter(w, l, 1010, probe);
		writer_sample(w, l, 1020, leaf, 10, 3, 2);
		writer_count(w, l, 1030, counter, -7);
		writer_marker(w, l, 1040, text);
		writer_trace_break(w, l, false, 1);
		writer_sample(w, l, 1050, leaf, WRITER_NOT_FIRST, 0, 1);
		writer_leave(w, l, 1060);
		writer_complete(w, l, 1061, probe);
		writer_other(w, l, 1062, 99, "xyz", 3);
	}
	help_add_mpi(w, 3);
	return w;
}

/* OPEN_NONE if it was refused, else the number of damages. */
static size_t try(const void *data, size_t length)
{
	struct hyb_experiment *e;
	struct hyb_error err = {0};
	size_t damage;

	if (help_open_bytes(data, length, &e, &err)) {
		assert_true(err.code < 0);
		assert_true(strlen(err.text) > 10 && !strchr(err.text, '\n'));
		return OPEN_NONE;
	}
	help_read_all(e, true);
	help_read_all(e, false);
	damage = hyb_damage_count(e);
	hyb_experiment_close(e);
	return damage;
}

/* Only bytes that are not zero, and the first zeros behind them, have a meaning to spoil. */
static bool worth(const uint8_t *data, size_t i, size_t length)
{
	for (size_t k = i < 8 ? 0 : i - 8; k < i + 8 && k < length; k++)
		if (data[k])
			return true;
	return false;
}

static struct writer *make_metrics(bool enters)
{
	struct writer *w = writer_new();

	writer_header(w)->trace_events = enters;
	writer_metric(w, "count", "", "of something", HYB_METRIC_COUNT, 0, 10);
	writer_metric(w, "level", "B", "", HYB_METRIC_LEVEL, HYB_METRIC_PROCESS, 0);
	help_add_metrics(w, 1, enters);
	return w;
}

static void flip_each_byte(struct writer *w)
{
	size_t length;
	const uint8_t *data = writer_data(w, &length);
	uint8_t *copy = malloc(length);

	memcpy(copy, data, length);
	assert_int_equal(try(copy, length), 0);
	for (size_t i = 0; i < length; i++) {
		if (!worth(data, i, length))
			continue;
		copy[i] ^= 0xff;
		try(copy, length);
		copy[i] = data[i] ^ (uint8_t)(1u << i % 8);
		try(copy, length);
		copy[i] = data[i];
	}
	free(copy);
	writer_free(w);
}

static void test_each_byte_flipped(void **state)
{
	flip_each_byte(make());
	flip_each_byte(make_metrics(false));
	flip_each_byte(make_metrics(true));
}

static void cut_at_each_length(struct writer *w)
{
	size_t length;
	const uint8_t *data = writer_data(w, &length);

	for (size_t i = 0; i<length; i += i> 0 && !worth(data, i, length) ? 61 : 1) {
		size_t damage = try(data, i);

		if (i < sizeof(struct hyb_header))
			assert_true(damage == OPEN_NONE);
		else
			assert_true(damage != OPEN_NONE);
	}
	writer_free(w);
}

static void test_each_length(void **state)
{
	cut_at_each_length(make());
	cut_at_each_length(make_metrics(false));
}

/* Many bytes changed at once; the same changes each time. */
static void test_random_changes(void **state)
{
	struct writer *w = make();
	uint64_t random = 88172645463325252u;
	size_t length;
	const uint8_t *data = writer_data(w, &length);
	uint8_t *copy = malloc(length);

	for (unsigned round = 0; round < 3000; round++) {
		memcpy(copy, data, length);
		for (unsigned i = 0; i < 1 + round % 16;) {
			size_t at;

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			at = (random >> 16) % length;
			if (at >= 24 && worth(data, at, length)) {
				copy[at] = random & 0x100 ? (uint8_t)random : data[random % length];
				i++;
			}
		}
		try(copy, length);
	}
	free(copy);
	writer_free(w);
}

static void expect_refused(struct writer *w, int code, const char *text)
{
	struct hyb_experiment *e = (struct hyb_experiment *)1;
	struct hyb_error err;
	size_t length;
	const uint8_t *data = writer_data(w, &length);

	assert_int_equal(help_open_bytes(data, length, &e, &err), code);
	assert_int_equal(err.code, code);
	assert_ptr_equal(e, (struct hyb_experiment *)1);
	if (!strstr(err.text, text))
		fail_msg("'%s' is not in '%s'", text, err.text);
	writer_free(w);
}

static void test_refused(void **state)
{
	struct writer *w = make();
	struct hyb_experiment *e;
	struct hyb_error err;

	writer_header(w)->version_major = HYB_VERSION_MAJOR + 1;
	expect_refused(w, HYB_EVERSION, "format 2.");
	w = make();
	writer_header(w)->version_major = 0;
	expect_refused(w, HYB_EFORMAT, "header");
	w = make();
	memcpy(writer_header(w)->magic,
		"\x7f"
		"ELF",
		4);
	expect_refused(w, HYB_EFORMAT, "not a .hyb file");
	w = make();
	memset(writer_header(w), 0, sizeof(struct hyb_header));
	expect_refused(w, HYB_EFORMAT, "empty");
	assert_int_equal(hyb_experiment_open("/nonexistent/x", &e, &err), HYB_EIO);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
	assert_int_equal(hyb_experiment_open("/dev/null", &e, &err), HYB_EFORMAT);
	assert_non_null(strstr(err.text, "not a regular file"));
	assert_int_equal(help_open_bytes("", 0, &e, &err), HYB_EFORMAT);
	assert_non_null(strstr(err.text, "too short"));
}

static void expect_damage(struct writer *w, size_t count, const char *text)
{
	struct hyb_experiment *e = help_open(w);

	help_read_all(e, false);
	assert_int_equal(hyb_damage_count(e), count);
	if (count && !strstr(hyb_damage_text(e, 0), text))
		fail_msg("'%s' is not in '%s'", text, hyb_damage_text(e, 0));
	help_close(e, w);
}

/* What a newer minor version may bring is skipped in silence, elsewhere it is damage. */
static void test_unknown_kinds(void **state)
{
	for (unsigned newer = 0; newer < 2; newer++) {
		struct writer *w = make();

		writer_chunk(w, 99, HYB_PAGE, 1, 0);
		writer_def(w, 77, &(struct hyb_def_metadata){.key_len = 0}, sizeof(struct hyb_def_metadata),
			"", "");
		writer_node(w, 1, writer_location_at(w, 1)->root, 42, 5);
		writer_header(w)->version_minor = (uint16_t)(HYB_VERSION_MINOR + newer);
		expect_damage(w, newer ? 0 : 3, "chunk of unknown kind 99");
	}
}

/* Functions that are of another kind, or not there; awaiting where there is no coroutine. */
static void test_python(void **state)
{
	struct writer *w = make();
	uint32_t root = writer_location_at(w, 1)->root, await, below;
	uint64_t user = writer_region(w, "user", "f.py", 1, HYB_REGION_USER), functions[] = {user, 16};
	const struct hyb_location_info *l;
	struct hyb_experiment *e;

	for (unsigned i = 0; i < 2; i++)
		writer_node(w, 1, root, HYB_NODE_PYTHON, HYB_PYTHON(functions[i], 3));
	writer_node(w, 1, root, HYB_NODE_AWAIT, 0);
	await = writer_node(w, 1, root + 1, HYB_NODE_AWAIT, 0);
	below = writer_node(w, 1, await, HYB_NODE_CALL, 1);
	assert_int_equal(below, await + 1);
	e = help_open(w);
	help_read_all(e, true);
	l = &hyb_process_at(e, 0)->locations[0];
	assert_int_equal(l->node_count, 1 + 4 + 2 + 2);
	for (unsigned i = 5; i < 7; i++) {
		assert_string_equal(l->nodes[i].region->name, "(unknown function)");
		assert_int_equal(l->nodes[i].line, 3);
	}
	assert_int_equal(l->nodes[7].type, HYB_TYPE_AWAIT);
	assert_int_equal(l->nodes[8].type, HYB_TYPE_CALL);
	assert_int_equal(l->nodes[8].parent, 0);
	assert_int_equal(hyb_damage_count(e), 2 + 2);
	help_close(e, w);
}

static void test_nodes_without_parent(void **state)
{
	struct writer *w = make();
	uint32_t root = writer_location_at(w, 1)->root, own, forward, foreign, orphan;
	struct hyb_experiment *e;
	const struct hyb_location_info *l;

	own = writer_node(w, 1, root, HYB_NODE_CALL, 1);
	writer_node_at(w, own)->parent = own;
	forward = writer_node(w, 1, root, HYB_NODE_CALL, 2);
	writer_node_at(w, forward)->parent = forward + 1;
	foreign = writer_node(w, 1, writer_location_at(w, 2)->root, HYB_NODE_CALL, 3);
	orphan = writer_node(w, 1, 0, HYB_NODE_CALL, 4);
	writer_node(w, 1, root, HYB_NODE_ROOT, 0);
	writer_node(w, 1, orphan, HYB_NODE_REGION, 4711);
	assert_true(own < forward && forward < foreign && foreign < orphan);

	e = help_open(w);
	l = &hyb_process_at(e, 0)->locations[0];
	assert_int_equal(l->node_count, 10);
	for (unsigned i = 5; i < 9; i++) {
		assert_int_equal(l->nodes[i].address, i - 4);
		assert_int_equal(l->nodes[i].parent, 0);
	}
	assert_int_equal(l->nodes[9].parent, 8);
	assert_string_equal(l->nodes[9].region->name, "(unknown region)");
	assert_int_equal(hyb_damage_count(e), 6);
	help_close(e, w);
}

static void test_missing_root(void **state)
{
	struct writer *w = make();
	struct hyb_experiment *e;
	const struct hyb_location_info *l;

	writer_node_at(w, writer_location_at(w, 1)->root)->kind = 0;
	writer_location_end(w, 1, 5000);
	e = help_open(w);
	l = &hyb_process_at(e, 0)->locations[0];
	assert_int_equal(l->nodes[0].type, HYB_TYPE_ROOT);
	assert_int_equal(l->nodes[0].inclusive, 4000);
	assert_int_equal(l->nodes[1].parent, 0);
	assert_true(hyb_damage_count(e) > 0);
	help_close(e, w);
}

static void test_threads_twice_and_not_there(void **state)
{
	struct writer *w = make();
	uint64_t copy = writer_chunk(w, HYB_CHUNK_LOCATION, HYB_LOCATION_CHUNK, 1, 0);
	size_t length;

	((struct hyb_location *)(writer_data(w, &length) + copy + sizeof(struct hyb_chunk)))->id = 1;
	expect_damage(w, 1, "thread 1 is there twice");
	w = make();
	writer_chunk(w, HYB_CHUNK_NODES, HYB_PAGE, 7, 0);
	expect_damage(w, 1, "thread 7, which is not there");
	/* Claimed, not yet written: nothing is wrong. */
	w = make();
	writer_chunk(w, HYB_CHUNK_LOCATION, HYB_LOCATION_CHUNK, 8, 0);
	expect_damage(w, 0, "");
}

static void test_pages_between_chunks(void **state)
{
	struct writer *w = make();
	size_t length;
	uint8_t *data = writer_data(w, &length);
	uint64_t at = writer_chunk(w, HYB_CHUNK_DEFS, 4 * HYB_PAGE, 0, 0);

	/* Zero pages are claimed and not yet used. */
	memset(data + at, 0, 4 * HYB_PAGE);
	writer_location(w, 4, 4, 1000);
	expect_damage(w, 0, "");
	w = make();
	data = writer_data(w, &length);
	at = writer_chunk(w, HYB_CHUNK_DEFS, 4 * HYB_PAGE, 0, 0);
	memset(data + at, 0xa5, 4 * HYB_PAGE);
	writer_location(w, 4, 4, 1000);
	expect_damage(w, 1, "4 pages are not part of any chunk");
}

/* A definition that a killed thread left behind hides none of its neighbours. */
static void test_torn_definition(void **state)
{
	struct writer *w = writer_new();
	uint64_t torn;
	struct hyb_experiment *e;
	size_t length;

	writer_metadata(w, "a", "1");
	torn = writer_metadata(w, "torn", "never finished, and long enough to span words");
	writer_metadata(w, "b", "2");
	((struct hyb_def *)(writer_data(w, &length) + torn))->type = 0;
	e = help_open(w);
	assert_int_equal(hyb_damage_count(e), 0);
	assert_int_equal(hyb_process_at(e, 0)->metadata_count, 2);
	hyb_experiment_close(e);

	memset(writer_data(w, &length) + torn, 0, 48);
	e = help_open(w);
	assert_int_equal(hyb_process_at(e, 0)->metadata_count, 2);
	assert_string_equal(hyb_process_at(e, 0)->metadata[1].key, "b");
	help_close(e, w);
}

/* The file is cut while it is read. */
static void test_shrinking_file(void **state)
{
	char path[] = "/tmp/hyb-test-XXXXXX";
	int fd = mkstemp(path);
	struct writer *w = make();
	struct hyb_experiment *e;
	struct hyb_events *events;
	struct hyb_event event;
	int result;

	assert_true(fd >= 0);
	writer_write(w, path);
	assert_int_equal(hyb_experiment_open(path, &e, NULL), 0);
	assert_int_equal(truncate(path, HYB_PAGE), 0);
	events = hyb_events_open(e, NULL, true, NULL);
	assert_non_null(events);
	while ((result = hyb_events_next(events, &event)) > 0)
		;
	assert_int_equal(result, 0);
	assert_non_null(strstr(hyb_damage_text(e, 0), "shorter"));
	hyb_events_close(events);
	hyb_experiment_close(e);
	close(fd);
	unlink(path);
	writer_free(w);
}

/* Opened when the last nodes of a thread were not yet there; read to the end, when they are if `written`. */
static size_t read_growing(uint8_t *data, size_t length, bool written)
{
	char path[] = "/tmp/hybrid-test-XXXXXX";
	int fd = mkstemp(path);
	struct hyb_chunk *nodes = NULL;
	struct hyb_experiment *e;
	size_t damage;

	for (size_t at = HYB_PAGE; !nodes && at < length; at += HYB_PAGE)
		if (((struct hyb_chunk *)(data + at))->kind == HYB_CHUNK_NODES)
			nodes = (struct hyb_chunk *)(data + at);
	assert_non_null(nodes);
	nodes->used -= 2 * HYB_NODE_SIZE;
	assert_int_equal(write(fd, data, length), length);
	assert_int_equal(hyb_experiment_open(path, &e, NULL), 0);
	assert_int_equal(hyb_damage_count(e), 0);
	nodes->used += 2 * HYB_NODE_SIZE;
	if (written)
		assert_int_equal(pwrite(fd, data, length, 0), length);
	help_read_all(e, false);
	damage = hyb_damage_count(e);
	hyb_experiment_close(e);
	close(fd);
	unlink(path);
	return damage;
}

static void test_growing_file(void **state)
{
	struct writer *w = make();
	size_t length;
	uint8_t *data = writer_data(w, &length);

	assert_int_equal(writer_header(w)->state, HYB_STATE_RUNNING);
	assert_int_equal(read_growing(data, length, true), 0);
	assert_true(read_growing(data, length, false) > 0);
	writer_header(w)->state = HYB_STATE_EXITED;
	assert_true(read_growing(data, length, true) > 0);
	writer_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_byte_flipped),
		cmocka_unit_test(test_each_length),
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unknown_kinds),
		cmocka_unit_test(test_nodes_without_parent),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_missing_root),
		cmocka_unit_test(test_threads_twice_and_not_there),
		cmocka_unit_test(test_pages_between_chunks),
		cmocka_unit_test(test_torn_definition),
		cmocka_unit_test(test_shrinking_file),
		cmocka_unit_test(test_growing_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
