/* What hybrid-report prints of profiles that are known: whole screens, and names that no format may stumble
 * over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "format/format.h"
#include "profile_fixture.h"
#include "reader_help.h"
#include "quality/facts.h"
#include "report/sheet.h"

static const struct report_options defaults = {.look.threshold = 0.5};
static const struct selection all;

/* A screen without colour, 80 columns, ASCII. */
struct screen {
	struct style style;
	char *text;
	size_t size;
};

static struct style *open_screen(struct screen *screen)
{
	*screen = (struct screen){.style = {.width = 80, .unit = 1e9, .unit_name = "s"}};
	screen->style.out = open_memstream(&screen->text, &screen->size);
	assert_non_null(screen->style.out);
	screen->style.json.out = screen->style.out;
	return &screen->style;
}

static void close_screen(struct screen *screen, const char *expected)
{
	fclose(screen->style.out);
	assert_string_equal(screen->text, expected);
	free(screen->text);
}

/* A tree without metrics, as the options say. */
static int print_tree(struct style *style, const struct report_options *options,
	const struct profile_node *nodes, size_t count)
{
	struct column_set set;
	struct sheet sheet = {
		.options = options, .set = &set, .nodes = nodes, .count = count, .is_tree = true};
	int r;

	assert_int_equal(columns_init(&set, NULL, 0), 0);
	assert_int_equal(sheet_make(&sheet), 0);
	r = options->output == REPORT_JSON  ? report_json_tree(&style->json, &sheet)
	    : options->output == REPORT_CSV ? report_csv_tree(style->out, &sheet)
					    : report_tree(style, &sheet);
	sheet_release(&sheet);
	columns_release(&set);
	return r;
}

static void print_flat(
	struct style *style, const struct report_options *options, const struct profile_tree *flat)
{
	struct column_set set;
	struct sheet sheet = {.options = options, .set = &set, .nodes = flat->nodes, .count = flat->count};

	assert_int_equal(columns_init(&set, NULL, 0), 0);
	assert_int_equal(sheet_make(&sheet), 0);
	assert_int_equal(report_flat(style, &sheet), 0);
	sheet_release(&sheet);
	columns_release(&set);
}

/*
 * main -> step -> solve -> {kernel, helper -> leaf}: 3 s of CPU, 300 samples; in main
 * the probe "wait", 1 s in which nothing runs. `kernel`: samples in its line 7.
 */
static struct profile *make(uint64_t kernel)
{
	struct fixture *f = fixture_new();
	uint32_t main_call = fixture_call(f, 0, "main", 3);
	uint32_t solve = fixture_call(f, fixture_call(f, main_call, "step", 30), "solve", 40);
	uint64_t cpu = (200 + kernel) * 10000000;

	fixture_region(f, main_call, "wait", HYB_REGION_USER, 1000000000, 5);
	fixture_root(f, 1000000000 + cpu, cpu);
	f->nodes[0].ran = cpu;
	fixture_leaf(f, solve, "kernel", 7, kernel);
	fixture_leaf(f, solve, "kernel", 8, 50);
	fixture_leaf(f, fixture_call(f, solve, "helper", 90), "leaf", 91, 149);
	fixture_leaf(f, main_call, "tiny", 5, 1);
	return fixture_profile(f, PROFILE_ROUTINE, 1);
}

static void test_tree(void **state)
{
	struct profile *p = make(100);
	struct screen screen;
	struct style *style = open_screen(&screen);

	assert_int_equal(report_hot(style, &defaults, NULL, p), 0);
	assert_int_equal(print_tree(style, &defaults, profile_nodes(p), profile_count(p)), 0);
	close_screen(&screen,
		"hot      kernel 50 %, leaf 50 % of CPU\n"
		"\n"
		"     incl  incl%  excl%      cpu     wait   calls samples  call tree (seconds)\n"
		"    4.000  100.0                                           [total]\n"
		"    4.000  100.0                                           `-[main]\n"
		"    2.990   74.8                                             |-[step]\n"
		"    2.990   74.8                                             | [solve]\n"
		"    1.490   37.2                                             | |-[helper]\n"
		"    1.490   37.2   37.2    1.490                      149    | | `-leaf:prog.c:91\n"
		"    1.000   25.0   25.0    1.000                      100    | |-kernel:prog.c:7\n"
		"    0.500   12.5   12.5    0.500                       50    | `-kernel:prog.c:8\n"
		"    1.000   25.0   25.0             1.000       5            `-wait (regions.c:1)\n");
	profile_free(p);
}

/* A label says where it is. */
static void test_hot_guess(void **state)
{
	static const struct hyb_module blas = {.path = "/usr/lib/libblas.so.3"};
	static const struct fixture_symbol symbol = {
		&blas, 0x40, {{.function = "kernel_loop~", .file = "", .guess = true}}, 1, false};
	struct fixture *f = fixture_new();
	struct profile *p;
	struct screen screen;

	fixture_symbols(&symbol, 1);
	fixture_root(f, 1000, 1000);
	f->nodes[0].ran = 1000;
	fixture_code(f, 0, HYB_TYPE_LEAF, &blas, 0x40, 3);
	fixture_leaf(f, 0, "kernel", 7, 1);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	assert_int_equal(report_hot(open_screen(&screen), &defaults, NULL, p), 0);
	close_screen(&screen, "hot      kernel_loop~ (libblas.so.3) 75 %, kernel 25 % of CPU\n");
	profile_free(p);
	fixture_symbols(NULL, 0);
}

/* A fifth is the threshold: what is left out below solve and main is told. */
static void test_threshold(void **state)
{
	struct report_options options = {.look.threshold = 20, .depth = 4};
	struct profile *p = make(100);
	struct screen screen;

	assert_int_equal(print_tree(open_screen(&screen), &options, profile_nodes(p), profile_count(p)), 0);
	close_screen(&screen,
		"\n"
		"     incl  incl%  excl%      cpu     wait   calls samples  call tree (seconds)\n"
		"    4.000  100.0                                           [total]\n"
		"    4.000  100.0                                           `-[main]\n"
		"    2.990   74.8                                             |-[step]\n"
		"    2.990   74.8                                             | [solve]\n"
		"    1.490   37.2                                             | |-[helper]\n"
		"    1.000   25.0   25.0    1.000                      100    | |-kernel:prog.c:7\n"
		"    0.500   12.5                                             | `-(1 more below 20 %)\n"
		"    1.000   25.0   25.0             1.000       5            `-wait (regions.c:1)\n");
	profile_free(p);
}

static void test_flat(void **state)
{
	struct report_options options = {
		.look.threshold = 0.5, .view = REPORT_FLAT, .sort = PROFILE_SORT_EXCLUSIVE};
	struct profile *p = make(100);
	struct profile_tree flat;
	struct screen screen;

	assert_int_equal(profile_flat(p, PROFILE_BY_FUNCTION, PROFILE_SORT_EXCLUSIVE, &flat), 0);
	print_flat(open_screen(&screen), &options, &flat);
	close_screen(&screen,
		"\n"
		"     incl  incl%  excl%      cpu     wait   calls samples  function (seconds)\n"
		"    1.500   37.5   37.5    1.500                      150  kernel:prog.c\n"
		"    1.490   37.2   37.2    1.490                      149  leaf:prog.c\n"
		"    1.000   25.0   25.0             1.000       5          wait (regions.c:1)\n"
		"(5 more below 0.5 %, together 0.010 s alone)\n");
	profile_tree_release(&flat);
	profile_free(p);
}

static void test_reverse(void **state)
{
	struct report_options options = {.look.threshold = 20, .view = REPORT_REVERSE};
	struct profile *p = make(100);
	struct profile_tree tree;
	struct screen screen;

	assert_int_equal(profile_reverse(p, &tree), 0);
	assert_int_equal(print_tree(open_screen(&screen), &options, tree.nodes, tree.count), 0);
	close_screen(&screen,
		"\n"
		"     time  time%   calls samples  where time was spent, and who called it (seconds)\n"
		"    4.000  100.0             300  [total]\n"
		"    1.500   37.5             150  |-kernel:prog.c\n"
		"    1.500   37.5             150  | `-[solve]\n"
		"    1.500   37.5             150  |   [step]\n"
		"    1.500   37.5             150  |   [main]\n"
		"    1.490   37.2             149  |-leaf:prog.c\n"
		"    1.490   37.2             149  | `-[helper]\n"
		"    1.490   37.2             149  |   [solve]\n"
		"    1.490   37.2             149  |   [step]\n"
		"    1.490   37.2             149  |   [main]\n"
		"    1.000   25.0       5          `-wait (regions.c:1)\n"
		"    1.000   25.0                    `-[main]\n");
	profile_tree_release(&tree);
	profile_free(p);
}

/* Line 7 takes 0.5 s more: 12.5 % of what it was. */
static void test_diff(void **state)
{
	struct profile *before = make(100), *after = make(150);
	struct profile_diff *diff = profile_diff_new(before, after);
	struct column_set set = {0};
	struct difference d;
	struct screen screen;

	assert_non_null(diff);
	assert_int_equal(columns_init(&set, NULL, 0), 0);
	assert_int_equal(difference_make(&d, &defaults, diff, &set), 0);
	assert_int_equal(report_tree(open_screen(&screen), &d.after), 0);
	close_screen(&screen, "\n"
			      "   before    after   change      %     excl  call tree (seconds)\n"
			      "    4.000    4.500   +0.500  +12.5   +0.000  [total]\n"
			      "    4.000    4.500   +0.500  +12.5   +0.000  `-[main]\n"
			      "    2.990    3.490   +0.500  +12.5   +0.000    `-[step]\n"
			      "    2.990    3.490   +0.500  +12.5   +0.000      `-[solve]\n"
			      "    1.000    1.500   +0.500  +12.5   +0.500        `-kernel:prog.c:7\n");
	difference_release(&d);
	columns_release(&set);
	profile_diff_free(diff);
	profile_free(before);
	profile_free(after);
}

/* ------------------------------------------------------------- quality */

static struct writer *make_file(void)
{
	struct writer *w = writer_new();
	struct hyb_location *l;
	uint32_t root = writer_location(w, 1, 10, 1000), leaf;
	uint32_t module = writer_module(w, "/nowhere/prog", NULL, 0);

	writer_header(w)->rate = 1000;
	writer_header(w)->state = HYB_STATE_STOPPED;
	leaf = writer_node(w, 1, root, HYB_NODE_LEAF, HYB_CODE(module, 0x1234));
	writer_node_at(w, leaf)->samples = 6;
	l = writer_location_at(w, 1);
	l->cpu = 6000000;
	l->samples = 6;
	l->dropped[HYB_DROP_PAUSED] = 2;
	l->handler_ticks = 60000;
	l->faults[HYB_FAULT_NOT_LEFT] = 1;
	l->source = HYB_SOURCE_TIMER;
	writer_location_end(w, 1, 1000 + 10000000);
	writer_note(
		w, 1000, HYB_NOTE_INFO, "perf_event_open is not permitted here: samples come from a timer");
	writer_note(w, 2000, HYB_NOTE_ERROR, "no space left for the experiment");
	writer_note(w, 3000, HYB_NOTE_ERROR, "no space left for the experiment");
	writer_note(w, 4000, HYB_NOTE_WARNING, "a thread is not sampled");
	return w;
}

static struct profile *load(struct session_input *input, unsigned times)
{
	struct hyb_symbols_options without_cache = {.no_cache = true};
	struct profile *p = profile_new(NULL);
	struct hyb_error err = {0};

	input->symbols = hyb_symbols_open(input->experiment, &without_cache, &err);
	assert_non_null(input->symbols);
	while (times--)
		assert_int_equal(profile_add(p, input->experiment, input->symbols, &err), 0);
	assert_int_equal(profile_finish(p, &err), 0);
	return p;
}

/* Without the first line, which names a file in memory. */
static void test_quality(void **state)
{
	struct writer *w = make_file();
	struct session_input input = {.experiment = help_open(w)};
	struct quality quality = {.items = &input, .count = 1, .part = &all};
	struct profile *p = load(&input, 1);
	struct screen screen;

	quality.facts = facts_gather(&quality);
	assert_non_null(quality.facts);
	report_quality(open_screen(&screen), &quality, p);
	fclose(screen.style.out);
	facts_free(quality.facts);
	assert_string_equal(strchr(screen.text, '\n'),
		"\n"
		"time     10.0 ms wall, 6.0 ms CPU; 1 process, 1 thread\n"
		"samples  6 taken (1000 a second of CPU, 1000 wanted; timer); 2 dropped (25 %):\n"
		"         while paused\n"
		"names    1 code address without a name (100 % of the samples): 1 prog\n"
		"cost     1.0 % of CPU: 60.0 us taking samples\n"
		"probes   1 fault: not left before the region around it\n"
		"waiting  4.0 ms at no known place\n"
		"note     1 measurement ended before its program\n"
		"error    no space left for the experiment\n"
		"warning  a thread is not sampled\n"
		"note     perf_event_open is not permitted here: samples come from a timer\n");
	free(screen.text);
	profile_free(p);
	hyb_symbols_close(input.symbols);
	help_close(input.experiment, w);
}

/* Each experiment has the notes: two processes. */
static void test_notes_of_many(void **state)
{
	struct writer *w = make_file();
	struct session_input input = {.experiment = help_open(w)}, both[2];
	struct quality quality = {.items = both, .count = 2, .part = &all};
	struct profile *p = load(&input, 2);
	struct screen screen;

	both[0] = both[1] = input;
	quality.facts = facts_gather(&quality);
	assert_non_null(quality.facts);
	report_quality(open_screen(&screen), &quality, p);
	fclose(screen.style.out);
	facts_free(quality.facts);
	assert_non_null(strstr(screen.text, "; 2 experiments, 2 processes, 2 threads\n"));
	assert_non_null(strstr(screen.text, "\nerror    no space left for the experiment (2 processes)\n"));
	free(screen.text);
	profile_free(p);
	hyb_symbols_close(input.symbols);
	help_close(input.experiment, w);
}

/* --------------------------------------------------------------- names */

static void assert_json(const char *name, const char *expected)
{
	struct screen screen;
	struct json json = {.out = open_screen(&screen)->out};

	json_text(&json, NULL, name);
	close_screen(&screen, expected);
}

/* RFC 8259 and 3629: what stands for each byte is known. */
static void test_json_strings(void **state)
{
	assert_json("", "\"\"");
	assert_json("a\"b\\c,d;/", "\"a\\\"b\\\\c,d;/\"");
	assert_json("\n\t\x01\x1f\x7f", "\"\\u000a\\u0009\\u0001\\u001f\\u007f\"");
	assert_json("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
	assert_json("\xff", "\"\\ufffd\""); /* no first byte */
	assert_json("\xc3", "\"\\ufffd\""); /* cut by the end */
	assert_json("\xe2\x82", "\"\\ufffd\\ufffd\"");
	assert_json("\xc3(", "\"\\ufffd(\"");
	assert_json("\xc0\xaf", "\"\\ufffd\\ufffd\""); /* too long a form */
	assert_json("\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"");
	assert_json("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* a surrogate */
	assert_json("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* above U+10FFFF */
}

static struct profile *make_nasty(void)
{
	struct fixture *f = fixture_new();

	fixture_root(f, 1000, 1000);
	fixture_region(f, fixture_region(f, 0, "a\"b,\n\033[1m", HYB_REGION_USER, 600, 2), "\xff;",
		HYB_REGION_USER, 200, 1);
	return fixture_profile(f, PROFILE_ROUTINE, 1);
}

static void test_json(void **state)
{
	struct report_options options = {.output = REPORT_JSON};
	struct profile *p = make_nasty();
	struct screen screen;

	assert_int_equal(print_tree(open_screen(&screen), &options, profile_nodes(p), profile_count(p)), 0);
	close_screen(&screen,
		"\n\"nodes\":["
		"\n{\"id\":0,\"parent\":null,\"depth\":0,\"name\":\"[total]\",\"kind\":\"root\",\"file\":"
		"\"\",\"line\":0,"
		"\"module\":\"\",\"calls\":0,\"skipped\":0,\"samples\":0,"
		"\"inclusive_ns\":1000,\"exclusive_ns\":400,\"blocked_ns\":0,\"ready_ns\":0,\"idle_ns\":0,"
		"\"idle_alone_ns\":0,"
		"\"guess\":false,\"python\":"
		"false,\"mpi\":false},"
		"\n{\"id\":1,\"parent\":0,\"depth\":1,\"name\":\"a\\\"b,\\u000a\\u001b[1m\",\"kind\":"
		"\"probe\","
		"\"file\":\"regions.c\",\"line\":1,\"module\":\"\",\"calls\":2,\"skipped\":0,\"samples\":0,"
		"\"inclusive_ns\":600,\"exclusive_ns\":400,\"blocked_ns\":0,\"ready_ns\":0,\"idle_ns\":0,"
		"\"idle_alone_ns\":0,"
		"\"guess\":false,\"python\":false,"
		"\"mpi\":false}"
		","
		"\n{\"id\":2,\"parent\":1,\"depth\":2,\"name\":\"\\ufffd;\",\"kind\":\"probe\","
		"\"file\":\"regions.c\",\"line\":1,\"module\":\"\",\"calls\":1,\"skipped\":0,\"samples\":0,"
		"\"inclusive_ns\":200,\"exclusive_ns\":200,\"blocked_ns\":0,\"ready_ns\":0,\"idle_ns\":0,"
		"\"idle_alone_ns\":0,"
		"\"guess\":false,\"python\":false,"
		"\"mpi\":false}"
		"]");
	profile_free(p);
}

static void test_csv(void **state)
{
	struct report_options options = {.output = REPORT_CSV};
	struct profile *p = make_nasty();
	struct screen screen;

	assert_int_equal(print_tree(open_screen(&screen), &options, profile_nodes(p), profile_count(p)), 0);
	close_screen(&screen, "depth,path,name,kind,file,line,module,calls,skipped,samples,"
			      "inclusive_ns,exclusive_ns,blocked_ns,ready_ns,idle_ns,idle_alone_ns,guess\n"
			      "0,\"[total]\",\"[total]\",root,\"\",0,\"\",0,0,0,1000,400,0,0,0,0,0\n"
			      "1,\"[total];a\"\"b,\n\033[1m\",\"a\"\"b,\n\033[1m\",probe,\"regions.c\",1,"
			      "\"\",2,0,0,600,400,0,0,0,0,0\n"
			      "2,\"[total];a\"\"b,\n\033[1m;\xef\xbf\xbd;\",\"\xef\xbf\xbd;\",probe,"
			      "\"regions.c\",1,\"\",1,0,0,200,200,0,"
			      "0,0,0,0\n");
	profile_free(p);
}

/* No name may steer the terminal. */
static void test_text_names(void **state)
{
	struct profile *p = make_nasty();
	struct screen screen;

	assert_int_equal(print_tree(open_screen(&screen), &defaults, profile_nodes(p), profile_count(p)), 0);
	close_screen(&screen, "\n"
			      "     incl  incl%  excl%     excl   calls samples  call tree (microseconds)\n"
			      "    1.000  100.0   40.0    0.400                  [total]\n"
			      "    0.600   60.0   40.0    0.400       2          `-a\"b,??[1m (regions.c:1)\n"
			      "    0.200   20.0   20.0    0.200       1            `-\xff; (regions.c:1)\n");
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_hot_guess),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_reverse),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_quality),
		cmocka_unit_test(test_notes_of_many),
		cmocka_unit_test(test_json_strings),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_text_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
