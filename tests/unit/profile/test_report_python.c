/* What hybrid-report prints of a Python program, from the file to the screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile/profile.h"
#include "reader_help.h"
#include "quality/facts.h"
#include "report/sheet.h"

static const struct report_options defaults = {.look.threshold = 0.5};
static const struct selection all;

static uint32_t probe(struct writer *w, uint32_t parent, uint64_t region, uint64_t count, uint64_t ticks)
{
	uint32_t id = writer_node(w, 1, parent, HYB_NODE_REGION, region);

	writer_node_at(w, id)->count = count;
	writer_node_at(w, id)->inclusive = ticks;
	return id;
}

static void await(struct writer *w, uint32_t parent, uint64_t count, uint64_t ticks)
{
	uint32_t id = writer_node(w, 1, parent, HYB_NODE_AWAIT, 0);

	writer_node_at(w, id)->count = count;
	writer_node_at(w, id)->inclusive = ticks;
}

/*
 * A thread of 10 ms that ran 6: <module> calls work (4 samples of 6), 3 ms it waits for the GIL.
 * Coroutines: fetch awaits 300 us in 2 suspensions, serve 50 ms in 1000.
 */
static struct writer *make_file(void)
{
	struct writer *w = writer_new();
	uint64_t module = writer_region(w, "<module>", "/src/app.py", 1, HYB_REGION_PYTHON);
	uint64_t work = writer_region(w, "Task.work", "/src/lib/task.py", 40, HYB_REGION_PYTHON);
	uint64_t fetch = writer_region(w, "fetch", "/src/app.py", 20, HYB_REGION_PYTHON);
	uint64_t serve = writer_region(w, "serve", "/src/app.py", 30, HYB_REGION_PYTHON);
	uint64_t gil = writer_region(w, PROFILE_GIL, "", 0, HYB_REGION_WAIT);
	uint32_t python = writer_module(w, "/nowhere/python3.11", NULL, 0);
	uint32_t library = writer_module(w, "/nowhere/fast.so", NULL, 0);
	uint32_t root, frame, eval, inner, leaf;
	struct hyb_location *l;

	writer_metadata(w, "hybrid.python", "CPython 3.11.2, frames");
	writer_metadata(w, "hybrid.python.module", "/nowhere/python3.11");
	root = writer_location(w, 1, 100, 1000);
	frame = writer_node(w, 1, root, HYB_NODE_PYTHON, HYB_PYTHON(module, 9));
	eval = writer_node(w, 1, frame, HYB_NODE_CALL, HYB_CODE(python, 0x1000));
	writer_node_at(w, writer_node(w, 1, eval, HYB_NODE_LEAF, HYB_CODE(python, 0x1100)))->samples = 2;
	inner = writer_node(w, 1, eval, HYB_NODE_PYTHON, HYB_PYTHON(work, 42));
	leaf = writer_node(w, 1, inner, HYB_NODE_LEAF, HYB_CODE(python, 0x1200));
	writer_node_at(w, leaf)->samples = 3;
	eval = writer_node(w, 1, inner, HYB_NODE_CALL, HYB_CODE(python, 0x1000));
	writer_node_at(w, writer_node(w, 1, eval, HYB_NODE_LEAF, HYB_CODE(library, 0x10)))->samples = 1;
	probe(w, root, gil, 1234, 3000000);
	await(w, probe(w, root, serve, 5, 0), 1000, 50000000);
	await(w, probe(w, root, fetch, 2, 0), 2, 300000);
	writer_node_at(w, root)->ran = 6000000;
	writer_location_end(w, 1, 10001000);
	l = writer_location_at(w, 1);
	l->cpu = 6000000;
	l->samples = l->taken = 6;
	l->period = 1000000;
	l->source = HYB_SOURCE_TIMER;
	l->python[HYB_PYTHON_WOVEN] = 6;
	l->python[HYB_PYTHON_LOST] = 1;
	l->python[HYB_PYTHON_RELEASED] = 2;
	writer_header(w)->rate = 1000;
	writer_header(w)->end = 10001000;
	writer_header(w)->state = HYB_STATE_EXITED;
	return w;
}

/* All that is printed for a profile, with samples of that source. */
static char *print_from(enum hyb_source source, const struct report_options *options)
{
	struct hyb_symbols_options without_cache = {.no_cache = true};
	struct profile_options profile_options = {.python_internals = options->look.python_internals};
	struct writer *w = make_file();
	struct session_input input;
	struct quality quality = {.items = &input, .count = 1, .part = &all};
	struct profile *p = profile_new(&profile_options);
	struct hyb_error err = {0};
	struct style style = {.width = 100, .unit = 1e9, .unit_name = "s"};
	char *text;
	size_t size;

	writer_location_at(w, 1)->source = source;
	input = (struct session_input){.experiment = help_open(w)};
	input.symbols = hyb_symbols_open(input.experiment, &without_cache, &err);
	assert_non_null(input.symbols);
	assert_int_equal(hyb_damage_count(input.experiment), 0);
	assert_int_equal(profile_add(p, input.experiment, input.symbols, &err), 0);
	assert_int_equal(profile_finish(p, &err), 0);
	quality.facts = facts_gather(&quality);
	assert_non_null(quality.facts);
	style.out = open_memstream(&text, &size);
	if (options->output == REPORT_JSON) {
		style.json.out = style.out;
		json_object(&style.json, NULL);
		quality_json(&style.json, "quality", &quality, p);
		report_json_awaits(&style.json, p);
	} else if (options->view == REPORT_QUALITY) {
		report_quality(&style, &quality, p);
	} else {
		struct column_set set;
		struct sheet sheet = {.options = options,
			.set = &set,
			.nodes = profile_nodes(p),
			.count = profile_count(p),
			.is_tree = true};

		assert_int_equal(columns_init(&set, NULL, 0), 0);
		assert_int_equal(sheet_make(&sheet), 0);
		assert_int_equal(report_tree(&style, &sheet), 0);
		sheet_release(&sheet);
		columns_release(&set);
		report_awaits(&style, p);
	}
	fclose(style.out);
	facts_free(quality.facts);
	profile_free(p);
	hyb_symbols_close(input.symbols);
	help_close(input.experiment, w);
	return text;
}

static char *print(const struct report_options *options)
{
	return print_from(HYB_SOURCE_TIMER, options);
}

static void test_tree(void **state)
{
	char *text = print(&defaults);

	assert_string_equal(text,
		"\n"
		"     incl  incl%  excl%      cpu     wait   calls samples  call tree (milliseconds)\n"
		"   10.000  100.0                    1.000                  [total]\n"
		"    4.000   44.4                                           |-[<module app>:app.py]\n"
		"    3.000   33.3   33.3    3.000                        3  | |-Task.work:task.py:42\n"
		"    1.000   11.1                                           | `-[Task.work:task.py]\n"
		"    1.000   11.1   11.1    1.000                        1  |   `-[fast.so+0x10]\n"
		"    3.000   33.3   33.3             3.000    1234          |-[waiting for the GIL]\n"
		"    2.000   22.2   22.2    2.000                        2  `-<module app>:app.py:9\n"
		"\n"
		"     times       total        mean  awaiting (many may wait at once: not the threads' "
		"time)\n"
		"      1000     50.0 ms     50.0 us  serve (app.py:30)\n"
		"         2    300.0 us    150.0 us  fetch (app.py:20)\n");
	free(text);
}

static void test_quality(void **state)
{
	struct report_options options = {.view = REPORT_QUALITY};
	char *text = print(&options);

	assert_non_null(strstr(text,
		"\npython   CPython 3.11.2, frames; 6 samples with Python frames, 1 whose outer Python "
		"frames are\n"
		"         missing, 2 of native code without the GIL\n"
		"waiting  3.0 ms for the GIL in 1,234 calls, 1.0 ms at no known place\n"));
	free(text);
	text = print_from(HYB_SOURCE_WALL, &options);
	assert_non_null(strstr(text, "waiting  3.0 ms for the GIL in 1,234 calls\n"));
	free(text);
}

static void test_json(void **state)
{
	struct report_options options = {.output = REPORT_JSON};
	char *text = print(&options);

	assert_non_null(strstr(text,
		",\"python\":{\"versions\":[{\"text\":\"CPython 3.11.2, frames\",\"programs\":1}],"
		"\"woven\":6,\"lost\":1,\"unmatched\":0,\"released\":2,\"gil_waits\":1234,\"gil_wait_ns\":"
		"3000000}"));
	assert_non_null(strstr(text, ",\n\"awaiting\":[\n"
				     "{\"name\":\"serve\",\"file\":\"/src/"
				     "app.py\",\"line\":30,\"suspensions\":1000,\"awaited_ns\":50000000},\n"
				     "{\"name\":\"fetch\",\"file\":\"/src/"
				     "app.py\",\"line\":20,\"suspensions\":2,\"awaited_ns\":300000}]"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_quality),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
