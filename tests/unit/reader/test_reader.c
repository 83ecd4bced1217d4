/* The reader on files of known contents: every kind of record, and what is derived from them. */
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

/* One file with one of everything; returns the ids that tests need. */
struct sample_file {
	struct writer *w;
	uint32_t root, solve, call, leaf, inner, partial, function;
	uint64_t residual, energy, text;
};

static struct sample_file make(void)
{
	struct sample_file s = {.w = writer_new()};
	struct writer *w = s.w;
	uint64_t solve = writer_region(w, "solve", "main.c", 42, HYB_REGION_USER);
	uint64_t inner = writer_region(w, "inner", "", 0, HYB_REGION_DYNAMIC);
	uint32_t module = writer_module(w, "/usr/lib/libm.so.6", "\x01\x02\x03", 3);

	writer_metadata(w, "user.case", "a\nb");
	writer_note(w, 1500, HYB_NOTE_WARNING, "perf is forbidden");
	writer_child(w, 1600, 101, HYB_CHILD_FORK, "");
	writer_child(w, 1700, 100, HYB_CHILD_EXEC, "/bin/true");
	s.residual = writer_counter(w, "residual", "m", 1);
	s.energy = writer_counter(w, "energy", "J", 2);
	s.text = writer_text(w, "half way");
	s.root = writer_location(w, 1, 100, 1000);
	s.solve = writer_node(w, 1, s.root, HYB_NODE_REGION, solve);
	s.call = writer_node(w, 1, s.solve, HYB_NODE_CALL, HYB_CODE(module, 0x1234));
	s.leaf = writer_node(w, 1, s.call, HYB_NODE_LEAF, HYB_CODE(module, 0x4321));
	s.inner = writer_node(w, 1, s.call, HYB_NODE_REGION, inner | 1ull << 48);
	s.partial = writer_node(w, 1, s.inner, HYB_NODE_PARTIAL, HYB_PARTIAL_TOO_DEEP);
	s.function = writer_node(w, 1, s.root, HYB_NODE_FUNCTION, HYB_CODE(0, 0x7fff0010));
	*writer_node_at(w, s.solve) = (struct hyb_node){.parent = s.root,
		.key = solve,
		.count = 3,
		.inclusive = 600,
		.samples = 1,
		.ran = 77,
		.kind = HYB_NODE_REGION,
		.flags = HYB_NODE_DEMOTED};
	writer_node_at(w, s.leaf)->samples = 9;
	writer_node_at(w, s.function)->skipped = 5;
	return s;
}

static void test_definitions(void **state)
{
	struct sample_file s = make();
	struct hyb_experiment *e = help_open(s.w);
	const struct hyb_process *p = hyb_process_at(e, 0);

	assert_int_equal(hyb_damage_count(e), 0);
	assert_null(hyb_damage_text(e, 0));
	assert_int_equal(hyb_process_count(e), 1);
	assert_null(hyb_process_at(e, 1));
	assert_int_equal(p->pid, 100);
	assert_int_equal(p->ppid, 1);
	assert_string_equal(p->host, "testhost");
	assert_true(p->tick_ns == 1.0);
	assert_int_equal(p->start, 1000);
	assert_int_equal(p->realtime, 1700000000000000000 - 1000);
	assert_int_equal(p->module_count, 1);
	assert_string_equal(p->modules[0].path, "/usr/lib/libm.so.6");
	assert_int_equal(p->modules[0].build_id_len, 3);
	assert_memory_equal(p->modules[0].build_id, "\x01\x02\x03", 3);
	assert_int_equal(p->metadata_count, 1);
	assert_string_equal(p->metadata[0].key, "user.case");
	assert_string_equal(p->metadata[0].value, "a\nb");
	assert_int_equal(p->note_count, 1);
	assert_int_equal(p->notes[0].time, 1500);
	assert_int_equal(p->notes[0].severity, 2);
	assert_string_equal(p->notes[0].text, "perf is forbidden");
	assert_int_equal(p->child_count, 2);
	assert_int_equal(p->children[0].pid, 101);
	assert_int_equal(p->children[0].kind, 1);
	assert_int_equal(p->children[1].time, 1700);
	assert_string_equal(p->children[1].path, "/bin/true");
	help_close(e, s.w);
}

static void test_nodes(void **state)
{
	struct sample_file s = make();
	struct hyb_experiment *e = help_open(s.w);
	const struct hyb_location_info *l = &hyb_process_at(e, 0)->locations[0];
	const struct hyb_node_info *n = l->nodes;
	static const uint8_t types[] = {HYB_TYPE_ROOT, HYB_TYPE_REGION, HYB_TYPE_CALL, HYB_TYPE_LEAF,
		HYB_TYPE_REGION, HYB_TYPE_PARTIAL, HYB_TYPE_FUNCTION};
	static const uint32_t parents[] = {0, 0, 1, 2, 2, 4, 0};
	static const uint32_t probes[] = {0, 1, 1, 1, 4, 4, 6};

	assert_int_equal(l->node_count, 7);
	for (unsigned i = 0; i < 7; i++) {
		assert_int_equal(n[i].type, types[i]);
		assert_int_equal(n[i].parent, parents[i]);
		assert_int_equal(n[i].probe, probes[i]);
	}
	assert_string_equal(n[1].region->name, "solve");
	assert_string_equal(n[1].region->file, "main.c");
	assert_int_equal(n[1].region->line, 42);
	assert_int_equal(n[1].calls, 3);
	assert_int_equal(n[1].inclusive, 600);
	assert_int_equal(n[1].samples, 1);
	assert_int_equal(n[1].ran, 77);
	assert_true(n[1].demoted);
	assert_ptr_equal(n[2].module, &hyb_process_at(e, 0)->modules[0]);
	assert_int_equal(n[2].address, 0x1234);
	assert_int_equal(n[3].samples, 9);
	assert_string_equal(n[4].region->name, "inner");
	assert_int_equal(n[5].reason, 3);
	assert_null(n[6].module);
	assert_int_equal(n[6].address, 0x7fff0010);
	assert_int_equal(n[6].skipped, 5);
	assert_false(n[6].demoted);
	help_close(e, s.w);
}

static void test_open_regions(void **state)
{
	struct sample_file s = make();
	struct hyb_location *loc = writer_location_at(s.w, 1);

	writer_open(s.w, 1, s.solve, 5000);
	writer_open(s.w, 1, s.inner, 5400);
	loc->last = 5900;
	writer_header(s.w)->last = (struct hyb_anchor){9000, 9000};

	struct hyb_experiment *e = help_open(s.w);
	const struct hyb_location_info *l = &hyb_process_at(e, 0)->locations[0];

	/* It waits since its last word: the anchor says that the process still lived. */
	assert_int_equal(l->end, 9000);
	assert_false(l->ended);
	assert_int_equal(l->open, 2);
	assert_int_equal(l->nodes[0].inclusive, 8000);
	assert_int_equal(l->nodes[1].inclusive, 600 + 4000);
	assert_int_equal(l->nodes[1].calls, 3);
	assert_int_equal(l->nodes[4].inclusive, 3600);
	hyb_experiment_close(e);

	writer_header(s.w)->state = HYB_STATE_EXITED;
	e = help_open(s.w);
	assert_int_equal(hyb_process_at(e, 0)->locations[0].end, 9000);
	assert_int_equal(hyb_process_at(e, 0)->end, 9000);
	hyb_experiment_close(e);

	/* The latest word may be an enter, or a trace record. */
	writer_header(s.w)->state = HYB_STATE_RUNNING;
	writer_header(s.w)->last = (struct hyb_anchor){1500, 1500};
	loc->last = 2000;
	e = help_open(s.w);
	assert_int_equal(hyb_process_at(e, 0)->locations[0].end, 5400);
	hyb_experiment_close(e);
	writer_sample(s.w, 1, 6000, s.leaf, 1, 0, 1);
	writer_sample(s.w, 1, 6100, s.leaf, WRITER_NOT_FIRST, 0, 1);
	e = help_open(s.w);
	assert_int_equal(hyb_process_at(e, 0)->locations[0].end, 6100);
	help_close(e, s.w);
}

static void test_deep_stack(void **state)
{
	struct writer *w = writer_new();
	uint32_t root = writer_location(w, 1, 1, 1000), node = root;
	uint64_t region = writer_region(w, "r", "", 0, HYB_REGION_USER);

	for (unsigned i = 1; i < HYB_STACK_FIRST + 100; i++) {
		node = writer_node(w, 1, node, HYB_NODE_REGION, region);
		writer_open(w, 1, node, 1000 + i);
	}
	writer_location_at(w, 1)->last = 2000;

	struct hyb_experiment *e = help_open(w);
	const struct hyb_location_info *l = &hyb_process_at(e, 0)->locations[0];

	assert_int_equal(hyb_damage_count(e), 0);
	assert_int_equal(l->open, HYB_STACK_FIRST + 99);
	assert_int_equal(l->node_count, HYB_STACK_FIRST + 100);
	for (unsigned i = 0; i < l->node_count; i++)
		assert_int_equal(l->nodes[i].inclusive, 1000 - i);
	help_close(e, w);
}

static void test_counters_of_a_thread(void **state)
{
	struct sample_file s = make();
	struct hyb_location *loc = writer_location_at(s.w, 1);

	strcpy(loc->name, "worker");
	loc->cpu_start = 50;
	loc->cpu = 450;
	loc->samples = 11;
	loc->dropped[HYB_DROP_IDLE] = 4;
	loc->partial[HYB_PARTIAL_BAD_STACK] = 2;
	loc->faults[HYB_FAULT_NOT_LEFT] = 1;
	loc->handler_ticks = 123;
	writer_location_end(s.w, 1, 3000);

	struct hyb_experiment *e = help_open(s.w);
	const struct hyb_location_info *l = &hyb_process_at(e, 0)->locations[0];

	assert_string_equal(l->name, "worker");
	assert_int_equal(l->tid, 100);
	assert_int_equal(l->cpu, 400);
	assert_int_equal(l->samples, 11);
	assert_int_equal(l->dropped[3], 4);
	assert_int_equal(l->partial[2], 2);
	assert_int_equal(l->faults[1], 1);
	assert_int_equal(l->handler_time, 123);
	assert_true(l->ended);
	assert_int_equal(l->end, 3000);
	assert_int_equal(l->nodes[0].inclusive, 2000);
	help_close(e, s.w);
}

/* 3 GHz over a day: a tick is a third of a nanosecond, the second anchor is hit exactly. */
static void test_clock(void **state)
{
	struct writer *w = writer_new();
	uint64_t day = 86400000000000u;

	writer_header(w)->clock = HYB_CLOCK_TSC;
	writer_header(w)->first = (struct hyb_anchor){7000000, 5000000};
	writer_header(w)->last = (struct hyb_anchor){7000000 + 3 * day, 5000000 + day};
	writer_header(w)->state = HYB_STATE_EXITED;
	writer_location(w, 1, 1, 7000000);
	writer_note(w, 7000000 + 3 * day, HYB_NOTE_INFO, "anchor");
	writer_note(w, 7000000 + 3 * 1000, HYB_NOTE_INFO, "1000 ns behind the first");
	writer_note(w, 7000000 + 3 * 1000 - 1, HYB_NOTE_INFO, "just in front");
	writer_note(w, 7000000 - 3 * 1000, HYB_NOTE_INFO, "before the first");
	writer_note(w, 7000000 + 6 * day, HYB_NOTE_INFO, "behind the last");

	struct hyb_experiment *e = help_open(w);
	const struct hyb_process *p = hyb_process_at(e, 0);

	assert_int_equal(p->notes[0].time, 5000000 + day);
	assert_int_equal(p->notes[1].time, 5001000);
	assert_int_equal(p->notes[2].time, 5000999);
	assert_int_equal(p->notes[3].time, 4999000);
	assert_int_equal(p->notes[4].time, 5000000 + 2 * day);
	assert_true(p->tick_ns > 0.333333 && p->tick_ns < 0.333334);
	assert_int_equal(p->locations[0].end, 5000000 + day);
	help_close(e, w);
}

static void test_experiment_directory(void **state)
{
	char directory[64], path[128];
	const struct hyb_text_pair *values;
	struct hyb_experiment *e;
	size_t count;
	struct writer *w = writer_new();
	FILE *f;

	strcpy(directory, "/tmp/hyb-test-XXXXXX");
	assert_non_null(mkdtemp(directory));
	assert_int_equal(hyb_experiment_open(directory, &e, NULL), HYB_EEMPTY);
	snprintf(path, sizeof(path), "%s/b.hyb", directory);
	writer_write(w, path);
	writer_header(w)->first = writer_header(w)->last = (struct hyb_anchor){500, 500};
	writer_header(w)->pid = 7;
	writer_header(w)->realtime -= 500;
	snprintf(path, sizeof(path), "%s/c.hyb", directory);
	writer_write(w, path);
	snprintf(path, sizeof(path), "%s/a.hyb", directory);
	writer_header(w)->version_major = 2;
	writer_write(w, path);
	snprintf(path, sizeof(path), "%s/experiment", directory);
	f = fopen(path, "w");
	fputs("command ./prog a\\nb \\\\n\nwall_ns 12345\n\nalone\nlast x", f);
	fclose(f);

	assert_int_equal(hyb_experiment_open(directory, &e, NULL), HYB_OK);
	assert_int_equal(hyb_process_count(e), 2);
	assert_int_equal(hyb_process_at(e, 0)->pid, 7);
	assert_int_equal(hyb_process_at(e, 1)->pid, 100);
	assert_int_equal(hyb_damage_count(e), 1);
	assert_non_null(strstr(hyb_damage_text(e, 0), "a.hyb"));
	assert_string_equal(hyb_experiment_value(e, "command"), "./prog a\nb \\n");
	assert_string_equal(hyb_experiment_value(e, "wall_ns"), "12345");
	assert_string_equal(hyb_experiment_value(e, "alone"), "");
	assert_string_equal(hyb_experiment_value(e, "last"), "x");
	assert_null(hyb_experiment_value(e, "first"));
	values = hyb_experiment_values(e, &count);
	assert_int_equal(count, 4);
	assert_string_equal(values[3].key, "last");
	assert_string_equal(values[3].value, "x");
	hyb_experiment_close(e);

	for (const char *name = "abc"; *name; name++) {
		snprintf(path, sizeof(path), "%s/%c.hyb", directory, *name);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/experiment", directory);
	unlink(path);
	rmdir(directory);
	writer_free(w);
}

/* Frames of Python have their function, and the line that they came to; awaiting is no probe. */
static void test_python(void **state)
{
	static const unsigned lines[] = {10, 11, 0, 0xffffff};
	struct writer *w = writer_new();
	uint64_t region = writer_region(w, "Task.step", "app.py", 10, HYB_REGION_PYTHON);
	uint64_t other = writer_region(w, "step", "app.c", 10, HYB_REGION_FUNCTION);
	uint32_t root = writer_location(w, 1, 100, 1000), probe, await;
	const struct hyb_node_info *n;
	struct hyb_experiment *e;

	for (unsigned i = 0; i < 4; i++)
		writer_node(w, 1, root, HYB_NODE_PYTHON, HYB_PYTHON(region, lines[i]));
	probe = writer_node(w, 1, root, HYB_NODE_REGION, region);
	await = writer_node(w, 1, probe, HYB_NODE_AWAIT, 0);
	writer_node_at(w, await)->count = 3;
	writer_node_at(w, await)->inclusive = 5000;
	writer_node(w, 1, root, HYB_NODE_REGION, other);
	writer_location_at(w, 1)->python[HYB_PYTHON_LOST] = 7;
	e = help_open(w);
	assert_int_equal(hyb_damage_count(e), 0);
	n = hyb_process_at(e, 0)->locations[0].nodes;
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(n[1 + i].type, HYB_TYPE_PYTHON);
		assert_string_equal(n[1 + i].region->name, "Task.step");
		assert_true(n[1 + i].region->python);
		assert_int_equal(n[1 + i].line, lines[i]);
		assert_int_equal(n[1 + i].probe, 0);
	}
	assert_ptr_equal(n[5].region, n[1].region);
	assert_int_equal(n[6].type, HYB_TYPE_AWAIT);
	assert_int_equal(n[6].parent, 5);
	assert_int_equal(n[6].probe, 5);
	assert_int_equal(n[6].calls, 3);
	assert_int_equal(n[6].inclusive, 5000);
	assert_null(n[6].region);
	assert_false(n[7].region->python);
	assert_int_equal(hyb_process_at(e, 0)->locations[0].python[1], 7);
	help_close(e, w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_open_regions),
		cmocka_unit_test(test_deep_stack),
		cmocka_unit_test(test_counters_of_a_thread),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_experiment_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
