/* Python and native code in one tree: what of the interpreter vanishes, and where its samples go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile/state.h"
#include "profile/views/views.h"
#include "profile_fixture.h"

static const struct hyb_module interpreter = {.path = "/usr/lib/libpython3.11.so.1.0"};
static const struct hyb_module executable = {.path = "/usr/bin/python3.11"};
static const struct hyb_module hybrid = {.path = "/usr/lib/libhybrid.so.0"};
static const struct hyb_module libc = {.path = "/lib/libc.so.6"};
static const struct hyb_module ctypes = {.path = "/usr/lib/python3.11/lib-dynload/_ctypes.so"};

enum address {
	MAIN = 1,
	START_MAIN,
	RUN,
	EVAL,
	CALL,
	NAMELESS,
	FINALIZE,
	MEMCPY,
	QSORT,
	WRAPPER,
	HOOK,
	FFI,
	COLLECT,
	START
};

static const struct fixture_symbol symbols[] = {
	{&executable, MAIN, {{.function = "main", .file = ""}}, 1, false},
	{&libc, START_MAIN, {{.function = "__libc_start_main_impl", .file = ""}}, 1, false},
	{&interpreter, RUN, {{.function = "Py_RunMain", .file = ""}}, 1, false},
	{&interpreter, EVAL, {{.function = "_PyEval_EvalFrameDefault", .file = "ceval.c", .line = 7}}, 1,
		false},
	{&interpreter, CALL, {{.function = "PyObject_Call", .file = "call.c", .line = 8}}, 1, false},
	{&interpreter, NAMELESS, {{.function = "", .file = ""}}, 1, false},
	{&interpreter, FINALIZE, {{.function = "Py_FinalizeEx", .file = ""}}, 1, false},
	{&interpreter, COLLECT, {{.function = "gc_collect_main.constprop.0", .file = ""}}, 1, false},
	{&interpreter, START, {{.function = "pymain_init", .file = ""}}, 1, false},
	{&libc, MEMCPY, {{.function = "memcpy", .file = ""}}, 1, false},
	{&libc, QSORT, {{.function = "qsort", .file = ""}}, 1, false},
	{&hybrid, WRAPPER, {{.function = "nanosleep", .file = ""}}, 1, false},
	{&hybrid, HOOK, {{.function = "on_frame", .file = ""}}, 1, false},
	{&ctypes, FFI, {{.function = "_call_function_pointer", .file = ""}}, 1, false},
};

static const struct hyb_text_pair metadata[] = {{"hybrid.python", "CPython 3.11.2, frames"},
	{"hybrid.python.module", "/usr/lib/libpython3.11.so.1.0"}};

static int set_up(void **state)
{
	fixture_symbols(symbols, sizeof(symbols) / sizeof(*symbols));
	return 0;
}

/* A process with Python whose thread ran 1000 ns. */
static struct fixture *new_fixture(void)
{
	struct fixture *f = fixture_new();

	f->process.metadata = metadata;
	f->process.metadata_count = 2;
	fixture_root(f, 1000, 1000);
	return f;
}

static uint32_t call(struct fixture *f, uint32_t parent, const struct hyb_module *module, uint64_t address)
{
	return fixture_code(f, parent, HYB_TYPE_CALL, module, address, 0);
}

static uint32_t leaf(struct fixture *f, uint32_t parent, const struct hyb_module *module, uint64_t address,
	uint64_t samples)
{
	return fixture_code(f, parent, HYB_TYPE_LEAF, module, address, samples);
}

/* What starts a Python program, with the interpreter in a library. */
static uint32_t start(struct fixture *f)
{
	return call(f, call(f, call(f, 0, &libc, START_MAIN), &executable, MAIN), &interpreter, RUN);
}

static void expect(struct fixture *f, const struct profile_options *options, const char *expected)
{
	struct profile *p = profile_new(options);
	struct hyb_error err;
	char *text;

	assert_non_null(p);
	fixture_add(f, p);
	fixture_free(f);
	assert_int_equal(profile_finish(p, &err), 0);
	assert_exact(p);
	text = tree_text(p);
	assert_string_equal(text, expected);
	free(text);
	profile_free(p);
}

static const struct profile_options routines = {.mode = PROFILE_ROUTINE};

/*
 * <module> at line 3 calls f: 2 samples in f at line 12, 1 at line 13; <module> itself 4 at line 3.
 * As 3.10 does, each frame has an evaluation of its own below it.
 */
static struct fixture *pure(void)
{
	struct fixture *f = new_fixture();
	uint32_t run = start(f), module = fixture_python(f, run, "<module>", 3);
	uint32_t eval = call(f, module, &interpreter, EVAL), in_call, function;

	leaf(f, eval, &interpreter, NAMELESS, 3);
	leaf(f, module, &interpreter, EVAL, 1);
	in_call = call(f, eval, &interpreter, CALL);
	function = fixture_python(f, in_call, "f", 12);
	leaf(f, function, &interpreter, EVAL, 2);
	leaf(f, fixture_python(f, in_call, "f", 13), &interpreter, EVAL, 1);
	leaf(f, function, &libc, MEMCPY, 3);
	return f;
}

static void test_pure_python(void **state)
{
	struct profile_options options = {.mode = PROFILE_ROUTINE};

	expect(pure(), &options,
		"[total]\n"
		"  [<module>]\n"
		"    [f]\n"
		"      memcpy 300\n"
		"    f:12 200\n"
		"    f:13 100\n"
		"  <module>:3 400\n");
	options.mode = PROFILE_CALLSITE;
	expect(pure(), &options,
		"[total]\n"
		"  [<module>:3]\n"
		"    [f:12]\n"
		"      memcpy 300\n"
		"    f:12 200\n"
		"    f:13 100\n"
		"  <module>:3 400\n");
	options.mode = PROFILE_FUNCTION;
	expect(pure(), &options,
		"[total]\n"
		"  <module> 400\n"
		"    f 300\n"
		"      memcpy 300\n");
}

/* With the internals the tree is as it was recorded, but for the start of the program. */
static void test_internals(void **state)
{
	expect(pure(), &(struct profile_options){.python_internals = true},
		"[total]\n"
		"  [main]\n"
		"    [Py_RunMain]\n"
		"      [<module>]\n"
		"        [_PyEval_EvalFrameDefault]\n"
		"          [PyObject_Call]\n"
		"            [f]\n"
		"              _PyEval_EvalFrameDefault:7 300\n"
		"              memcpy 300\n"
		"          [libpython3.11.so.1.0+0x6] 300\n"
		"        _PyEval_EvalFrameDefault:7 100\n");
}

/* What ctypes calls hangs on the Python line; what ctypes itself does stays. */
static void test_extension(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t module = fixture_python(f, start(f), "<module>", 3), ffi, work;

	ffi = call(f, call(f, module, &interpreter, EVAL), &ctypes, FFI);
	work = fixture_call(f, ffi, "work", 20);
	fixture_leaf(f, work, "kernel", 30, 6);
	/* the library asks the interpreter: its line's own time */
	leaf(f, call(f, work, &interpreter, CALL), &interpreter, EVAL, 3);
	leaf(f, call(f, module, &interpreter, EVAL), &ctypes, FFI, 1);
	expect(f, &routines,
		"[total]\n"
		"  [<module>]\n"
		"    [work]\n"
		"      kernel:30 600\n"
		"    work:20 300\n"
		"    _call_function_pointer 100\n");
}

/* C runs Python, which calls C, which calls Python back: the C frames stay, also those above all Python. */
static void test_embedded(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t c_main = fixture_call(f, call(f, 0, &libc, START_MAIN), "main", 5);
	uint32_t outer = fixture_python(f, call(f, c_main, &interpreter, CALL), "<module>", 3);
	uint32_t sort =
		call(f, call(f, call(f, outer, &interpreter, EVAL), &interpreter, CALL), &libc, QSORT);
	uint32_t back = call(f, fixture_call(f, sort, "compare", 40), &interpreter, CALL);
	uint32_t inner = fixture_python(f, back, "<lambda>", 9);

	leaf(f, inner, &interpreter, EVAL, 5);
	fixture_leaf(f, sort, "compare", 41, 2);
	leaf(f, back, &interpreter, NAMELESS, 1);
	fixture_leaf(f, c_main, "setup", 7, 2);
	expect(f, &routines,
		"[total]\n"
		"  [main]\n"
		"    [<module>]\n"
		"      [qsort]\n"
		"        [compare]\n"
		"          <lambda>:9 500\n"
		"        compare:41 200\n"
		"        compare:40 100\n"
		"    setup:7 200\n");
}

/* The interpreter's start and end, with no Python above or below, are one frame. */
static void test_without_python(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t run = start(f), end = call(f, run, &interpreter, START);

	leaf(f, call(f, fixture_python(f, run, "<module>", 3), &interpreter, EVAL), &interpreter, EVAL, 4);
	leaf(f, end, &interpreter, CALL, 2);
	leaf(f, end, &libc, MEMCPY, 4);
	/* a finaliser of Python's below it: its way down is without the interpreter */
	leaf(f, fixture_python(f, call(f, call(f, end, &libc, QSORT), &interpreter, CALL), "__del__", 30),
		&interpreter, EVAL, 10);
	expect(f, &routines,
		"[total]\n"
		"  [qsort]\n"
		"    __del__:30 500\n"
		"  <module>:3 200\n"
		"  [Python interpreter]\n"
		"    memcpy 200\n"
		"  Python interpreter 100\n");
}

/* What the interpreter does for itself has its name, with Python near and without. */
static void test_parts(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t run = start(f), end = call(f, run, &interpreter, FINALIZE);
	uint32_t line = call(f, fixture_python(f, run, "<module>", 3), &interpreter, EVAL);
	uint32_t collect = call(f, line, &interpreter, COLLECT);

	leaf(f, line, &interpreter, CALL, 1);
	leaf(f, collect, &interpreter, NAMELESS, 2);
	leaf(f, collect, &libc, MEMCPY, 1);
	leaf(f, fixture_python(f, call(f, collect, &interpreter, CALL), "__del__", 30), &interpreter, EVAL,
		3);
	leaf(f, end, &interpreter, CALL, 1);
	leaf(f, call(f, call(f, end, &interpreter, COLLECT), &interpreter, COLLECT), &interpreter, NAMELESS,
		4);
	leaf(f, fixture_python(f, call(f, end, &interpreter, CALL), "at_exit", 40), &interpreter, EVAL, 5);
	leaf(f, run, &interpreter, START, 3);
	expect(f, &routines,
		"[total]\n"
		"  [finalisation]\n"
		"    at_exit:40 250\n"
		"    garbage collection 200\n"
		"  [<module>]\n"
		"    [garbage collection]\n"
		"      __del__:30 150\n"
		"      memcpy 50\n"
		"    garbage collection 100\n"
		"  Python interpreter 150\n"
		"  <module>:3 50\n"
		"  finalisation 50\n");
}

/* Without the metadata nobody knows what the interpreter is. */
static void test_other_process(void **state)
{
	struct fixture *f = new_fixture();

	f->process.metadata_count = 0;
	leaf(f, fixture_python(f, start(f), "<module>", 3), &interpreter, EVAL, 10);
	expect(f, &routines,
		"[total]\n"
		"  [main]\n"
		"    [Py_RunMain]\n"
		"      [<module>]\n"
		"        _PyEval_EvalFrameDefault:7 1000\n");
}

/*
 * Hooks: functions are probes. Their own frame folds into them, hooks and interpreter vanish. In
 * <module> 400 ns for 4 samples, in f 600 for 3.
 */
static struct fixture *hooked(void)
{
	struct fixture *f = new_fixture();
	uint32_t run = start(f), module, frame, function, eval;

	module = fixture_hooked(f, call(f, run, &hybrid, HOOK), "<module>", 1000, 1);
	function = fixture_hooked(f, module, "f", 600, 20);
	frame = fixture_python(f, call(f, module, &hybrid, HOOK), "<module>", 3);
	eval = call(f, frame, &interpreter, EVAL);
	leaf(f, eval, &interpreter, EVAL, 1);
	leaf(f, eval, &libc, MEMCPY, 2);
	/* without its frame: the probe's own */
	leaf(f, call(f, module, &interpreter, EVAL), &interpreter, CALL, 1);
	frame = fixture_python(f, function, "f", 12);
	leaf(f, frame, &interpreter, EVAL, 1);
	/* f again, demoted */
	leaf(f, fixture_python(f, frame, "f", 13), &interpreter, EVAL, 1);
	leaf(f, call(f, call(f, frame, &interpreter, CALL), &hybrid, WRAPPER), &hybrid, HOOK, 1);
	f->nodes[module].ran = 400;
	f->nodes[function].ran = 600;
	return f;
}

static void test_hooks(void **state)
{
	struct profile_options options = {.mode = PROFILE_ROUTINE};

	expect(hooked(), &options,
		"[total]\n"
		"  (<module>) 100\n"
		"    (f)\n"
		"      f:12 200\n"
		"      f:13 200\n"
		"      nanosleep 200\n"
		"    memcpy 200\n"
		"    <module>:3 100\n");
	options.mode = PROFILE_FUNCTION;
	expect(hooked(), &options,
		"[total]\n"
		"  (<module>) 200\n"
		"    (f) 200\n"
		"      f 200\n"
		"      nanosleep 200\n"
		"    memcpy 200\n");
}

/* A region of the user's inside Python: its time is whole, its frames are Python's. */
static void test_user_region(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t region = fixture_region(f, 0, "phase", HYB_REGION_USER, 600, 1);
	uint32_t frame = fixture_python(f, region, "run", 5);

	leaf(f, call(f, frame, &interpreter, EVAL), &interpreter, CALL, 2);
	leaf(f, fixture_python(f, start(f), "<module>", 3), &interpreter, EVAL, 1);
	expect(f, &routines,
		"[total]\n"
		"  (phase)\n"
		"    run:5 600\n"
		"  <module>:3 400\n");
}

/* A probe that stands in the interpreter, with Python below it, is where Python is. */
static void test_probe_between(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t run = start(f);
	uint32_t with = fixture_region(f, run, "read", HYB_REGION_USER, 300, 1);
	uint32_t without = fixture_region(f, run, "wait", HYB_REGION_USER, 200, 1);

	f->nodes[with].ran = 300;
	f->nodes[without].ran = 200;
	leaf(f, fixture_python(f, call(f, with, &interpreter, CALL), "decode", 5), &interpreter, EVAL, 1);
	leaf(f, call(f, with, &interpreter, CALL), &interpreter, NAMELESS, 2);
	leaf(f, fixture_python(f, run, "<module>", 3), &interpreter, EVAL, 1);
	expect(f, &routines,
		"[total]\n"
		"  <module>:3 500\n"
		"  (read)\n"
		"    Python interpreter 200\n"
		"    decode:5 100\n"
		"  [Python interpreter]\n"
		"    (wait) 200\n");
}

/* Importing is the time of the import statement, and of the module's own code. */
static void test_import(void **state)
{
	static const struct hyb_region load = {
		"_find_and_load", "<frozen importlib._bootstrap>", 9, HYB_REGION_PYTHON, true, false};
	struct fixture *f = new_fixture();
	uint32_t outer = fixture_python(f, start(f), "<module>", 3);
	uint32_t import = fixture_python(f, outer, "_find_and_load", 900);
	uint32_t first = fixture_python(f, call(f, 0, &interpreter, CALL), "_find_and_load", 900);

	f->nodes[import].region = f->nodes[first].region = &load;
	leaf(f, fixture_python(f, import, "inner", 7), &interpreter, EVAL, 5);
	leaf(f, call(f, import, &interpreter, EVAL), &interpreter, CALL, 2);
	leaf(f, import, &libc, MEMCPY, 1);
	leaf(f, first, &interpreter, EVAL, 2);
	expect(f, &routines,
		"[total]\n"
		"  [<module>]\n"
		"    inner:7 500\n"
		"    memcpy 100\n"
		"  <module>:3 200\n"
		"  _find_and_load:900 200\n");
}

/* A gap in the native path: what stands above it and what below is kept apart. */
static void test_partial(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t gap = fixture_code(f, 0, HYB_TYPE_PARTIAL, NULL, 0, 1);
	uint32_t frame = fixture_python(f, call(f, gap, &interpreter, CALL), "f", 5);
	uint32_t inner;

	f->nodes[gap].reason = HYB_PARTIAL_NO_RULE;
	leaf(f, frame, &interpreter, EVAL, 3);
	inner = fixture_code(f, frame, HYB_TYPE_PARTIAL, NULL, 0, 0);
	f->nodes[inner].reason = HYB_PARTIAL_TOO_DEEP;
	leaf(f, inner, &interpreter, EVAL, 4);
	leaf(f, inner, &libc, MEMCPY, 2);
	expect(f, &routines,
		"[total]\n"
		"  [incomplete: code without unwind information] 100\n"
		"    [f]\n"
		"      [incomplete: more frames than are followed] 400\n"
		"        memcpy 200\n"
		"    f:5 300\n");
}

/* A frame of Python says so, whose file and line it is, and in which interpreter. */
static void test_labels(void **state)
{
	struct profile *p = fixture_profile(pure(), PROFILE_ROUTINE, 2);
	const struct profile_node *n = find_node(p, PROFILE_LEAF, "f", 12);
	size_t count;

	assert_true(n->python);
	assert_string_equal(n->file, "/src/app.py");
	assert_string_equal(n->module, interpreter.path);
	assert_false(find_node(p, PROFILE_LEAF, "memcpy", 0)->python);
	assert_true(find_node(p, PROFILE_INTERMEDIATE, "f", 0)->python);
	/* what vanished needs no name */
	profile_unresolved(p, &count);
	assert_int_equal(count, 0);
	profile_free(p);
}

/* Time of coroutines is told apart: it is no time of the thread. */
static void test_awaits(void **state)
{
	struct fixture *f = new_fixture();
	uint32_t a = fixture_hooked(f, 0, "fetch", 300, 10), b = fixture_hooked(f, a, "fetch", 100, 5);
	uint32_t c = fixture_hooked(f, 0, "serve", 400, 1);
	const uint32_t parents[] = {a, b, c, c};
	const uint64_t calls[] = {10, 5, 2, 0}, times[] = {7000, 2000, 9500, 0};
	const struct profile_node *rows;
	struct profile *p;
	size_t count;

	for (unsigned i = 0; i < 4; i++) {
		uint32_t n = fixture_code(f, parents[i], HYB_TYPE_AWAIT, NULL, 0, 0);

		f->nodes[n].calls = calls[i];
		f->nodes[n].inclusive = times[i];
	}
	p = fixture_profile(f, PROFILE_ROUTINE, 2);
	rows = profile_awaits(p, &count);
	assert_int_equal(count, 2);
	assert_string_equal(rows[0].name, "serve");
	assert_int_equal(rows[0].calls, 4);
	assert_int_equal(rows[0].inclusive, 19000);
	assert_string_equal(rows[1].name, "fetch");
	assert_string_equal(rows[1].file, "/src/app.py");
	assert_int_equal(rows[1].calls, 30);
	assert_int_equal(rows[1].inclusive, 18000);
	assert_int_equal(profile_nodes(p)[0].inclusive, 2000);
	assert_int_equal(profile_count(p), 4);
	assert_int_equal(profile_quality(p)->probe_calls, 2 * 16);
	assert_exact(p);
	profile_free(p);
}

/* Waiting for the GIL is told apart from other waiting. */
static void test_gil(void **state)
{
	struct fixture *f = new_fixture();
	const struct profile_quality *q;
	struct profile *p;

	fixture_root(f, 1000, 400);
	fixture_region(f, 0, PROFILE_GIL, HYB_REGION_WAIT, 450, 9);
	fixture_region(f, 0, "read", HYB_REGION_USER, 150, 1);
	f->nodes[0].ran = 400;
	f->location.python[HYB_PYTHON_WOVEN] = 5;
	f->location.python[HYB_PYTHON_RELEASED] = 2;
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	q = profile_quality(p);
	assert_int_equal(q->gil_wait, 450);
	assert_int_equal(q->gil_waits, 9);
	assert_int_equal(q->blocked, 150);
	assert_int_equal(q->python[HYB_PYTHON_WOVEN], 5);
	assert_int_equal(q->python[HYB_PYTHON_RELEASED], 2);
	profile_free(p);
}

/* Whatever hangs on whatever: no sample is lost, and all sums agree. */
static void test_random(void **state)
{
	static const struct hyb_module *const modules[] = {&interpreter, &interpreter, &libc, &hybrid};
	static const uint64_t addresses[] = {EVAL, NAMELESS, QSORT, HOOK};

	for (unsigned seed = 1; seed <= 200; seed++) {
		struct fixture *f = new_fixture();
		unsigned number = seed;
		uint64_t samples = 0, seen = 0;
		struct profile *p;

		for (uint32_t i = 0; i < 60; i++) {
			uint32_t parent = (number = number * 1103515245u + 12345u, (number >> 16) % (i + 1));
			unsigned kind = number >> 8 & 7, which = number >> 12 & 3;

			if (kind < 2)
				fixture_python(f, parent, kind ? "f" : "g", which);
			else if (kind == 2)
				fixture_hooked(f, parent, which & 1 ? "f" : "g", 900 / (i + 1), 1);
			else if (kind == 3)
				fixture_region(f, parent, "user", HYB_REGION_USER, 900 / (i + 1), 1);
			else if (kind == 4)
				call(f, parent, modules[which], addresses[which]);
			else if (kind == 5)
				fixture_code(f, parent, HYB_TYPE_PARTIAL, NULL, 0, which);
			else
				leaf(f, parent, modules[which], addresses[which], which);
			samples += f->nodes[i + 1].samples;
		}
		p = fixture_profile(f, (enum profile_mode)(seed % 3), 1);
		assert_exact(p);
		assert_int_equal(profile_nodes(p)[0].inclusive, 1000);
		for (size_t i = 0; i < profile_count(p); i++)
			seen += profile_nodes(p)[i].samples;
		assert_int_equal(seen, samples);
		profile_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pure_python),
		cmocka_unit_test(test_internals),
		cmocka_unit_test(test_extension),
		cmocka_unit_test(test_embedded),
		cmocka_unit_test(test_without_python),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_other_process),
		cmocka_unit_test(test_hooks),
		cmocka_unit_test(test_user_region),
		cmocka_unit_test(test_probe_between),
		cmocka_unit_test(test_import),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_awaits),
		cmocka_unit_test(test_gil),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
