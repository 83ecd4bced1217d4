/* Parts of the runtime that need no measured process: reading memory, CFI expressions, the filter. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <dwarf.h>

#include "runtime/unwind/cfi.h"
#include "runtime/probe/filter.h"
#include "runtime/memory.h"

/* Two pages, of which the second cannot be read. */
static char *half_readable(void)
{
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	assert_int_equal(mprotect(at + 4096, 4096, PROT_NONE), 0);
	memset(at, 7, 4096);
	return at;
}

static void test_readable(void **state)
{
	char *at = half_readable();

	assert_true(memory_readable((uintptr_t)at));
	assert_true(memory_readable((uintptr_t)at + 4095));
	assert_false(memory_readable((uintptr_t)at + 4096));
	assert_false(memory_readable(0)); /* a null set is not read by the kernel, and would pass */
	assert_false(memory_readable(8));
	assert_false(memory_readable(UINTPTR_MAX - 7));
	assert_false(memory_readable(0x800000000000)); /* not an address of x86-64 */
	munmap(at, 8192);
}

static void test_copy(void **state)
{
	char *at = half_readable(), to[64] = "";

	assert_true(memory_copy(to, (uintptr_t)at + 4096 - 64, 64));
	assert_int_equal(to[63], 7);
	assert_false(memory_copy(to, (uintptr_t)at + 4096 - 63, 64));
	assert_false(memory_copy(to, 8, 8));
	munmap(at, 8192);
}

/* Addresses that a register used for something else can lead to, on a stack of known and of unknown bounds.
 */
static void test_stack_reads(void **state)
{
	char *at = half_readable();
	struct cfi_stack known = {(uintptr_t)at + 1024, (uintptr_t)at + 4096, 0}, unknown = {0, 0, 0};
	struct cfi_stack *stacks[] = {&known, &unknown};
	const volatile uintptr_t bad[] = {(uintptr_t)at + 4096, (uintptr_t)at + 4089, 0, 8, 4096,
		UINTPTR_MAX - 7, UINTPTR_MAX, UINTPTR_MAX - 4000};
	uint64_t v;

	for (int i = 0; i < 2; i++) {
		assert_true(cfi_read(stacks[i], (uintptr_t)at + 4088, &v));
		assert_int_equal(v, 0x0707070707070707);
		assert_true(cfi_read(stacks[i], (uintptr_t)at, &v)); /* below the known part, but there */
		assert_true(cfi_read(stacks[i], (uintptr_t)at + 3, &v));
		for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++)
			assert_false(cfi_read(stacks[i], bad[n], &v));
	}
	munmap(at, 8192);
}

static bool evaluate(const uint8_t *p, size_t length, uint64_t *ret_v)
{
	struct cfi_regs regs = {.known = 1u << ARCH_SP | 1u << ARCH_RA};
	struct cfi_stack stack = {0, 0, 0};

	regs.value[ARCH_SP] = 1000;
	regs.value[ARCH_RA] = 0x40100b;
	return cfi_evaluate(p, length, &regs, &stack, NULL, ret_v);
}

static void test_expressions(void **state)
{
	/* What binutils writes for PLT stubs: rsp + 8, and 8 more in the second half of a stub. */
	static const uint8_t plt[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
		DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	static const uint8_t negative[] = {DW_OP_const1s, 0x9c, DW_OP_breg7, 0x7c, DW_OP_plus};
	static const uint8_t skip[] = {
		DW_OP_lit1, DW_OP_lit5, DW_OP_swap, DW_OP_bra, 1, 0, DW_OP_lit9, DW_OP_dup, DW_OP_mul};
	static const uint8_t back[] = {DW_OP_skip, 0xfd, 0xff};
	static const uint8_t cut[] = {DW_OP_const8u, 1, 2};
	static const uint8_t empty_stack[] = {DW_OP_plus};
	static const uint8_t unknown_register[] = {DW_OP_breg3, 0};
	static const uint8_t null[] = {DW_OP_lit0, DW_OP_deref};
	uint8_t deep[64];
	uint64_t v;

	assert_true(evaluate(plt, sizeof(plt), &v));
	assert_int_equal(v, 1016);
	assert_true(evaluate(negative, sizeof(negative), &v));
	assert_int_equal(v, 1000 - 4 - 100);
	assert_true(evaluate(skip, sizeof(skip), &v));
	assert_int_equal(v, 25);
	assert_false(evaluate(back, sizeof(back), &v));
	assert_false(evaluate(cut, sizeof(cut), &v));
	assert_false(evaluate(empty_stack, sizeof(empty_stack), &v));
	assert_false(evaluate(unknown_register, sizeof(unknown_register), &v));
	assert_false(evaluate(null, sizeof(null), &v));
	assert_false(evaluate(NULL, 0, &v));
	memset(deep, DW_OP_lit1, sizeof(deep));
	assert_false(evaluate(deep, sizeof(deep), &v));
}

/* Any bytes: an answer or none, but no fault. */
static void test_random_expressions(void **state)
{
	uint8_t p[24];
	uint64_t v;

	srand(1);
	for (int i = 0; i < 200000; i++) {
		for (size_t n = 0; n < sizeof(p); n++)
			p[n] = (uint8_t)rand();
		evaluate(p, sizeof(p), &v);
	}
}

static void test_qualified_names(void **state)
{
	static const struct {
		const char *symbol, *name;
	} cases[] = {
		{"_ZN2ns4type6methodEi", "ns::type::method"},
		{"_ZNK2ns4type3getEv", "ns::type::get"},
		{"_Z4freev", "free"},
		{"_ZN4typeC2Ev", "type::type"},
		{"_ZSt4sortIPiEvT_S1_", "std::sort"},
		{"_ZN3boxIiE3putEi", "box"},
	};
	char name[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(filter_qualified(cases[i].symbol, name, sizeof(name)));
		assert_string_equal(name, cases[i].name);
	}
	assert_false(filter_qualified("main", name, sizeof(name)));
	assert_false(filter_qualified("_ZN99999shortE", name, sizeof(name)));
	assert_false(filter_qualified("_Z", name, sizeof(name)));
	assert_false(filter_qualified("_ZN2ns4type6methodEi", name, 8));
}

static void with_filter(const char *text)
{
	char path[] = "/tmp/hybrid-filter-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	assert_true(filter_load(path));
	unlink(path);
}

static void test_filter(void **state)
{
	with_filter("exclude tiny*\n# a comment\n  include tiny_but_hot # and another\nexclude "
		    "ns::*::get\nexclude ?x");
	assert_true(filter_excludes("tiny_get"));
	assert_true(filter_excludes("tiny"));
	assert_false(filter_excludes("tiny_but_hot"));
	assert_false(filter_excludes("main"));
	assert_true(filter_excludes("_ZNK2ns4type3getEv"));
	assert_false(filter_excludes("_ZNK2ns4type3putEv"));
	assert_true(filter_excludes("ax"));
	assert_false(filter_excludes("aax"));
	with_filter("include solve*\n");
	assert_false(filter_excludes("solve_all"));
	assert_true(filter_excludes("main"));
	assert_false(filter_load("/nonexistent/filter"));
}

/* Makes the packages: "a" has an __init__.py, "b" in it too; what they are in has none. */
static void make_packages(char dir[64])
{
	static const char *const names[] = {"/a", "/a/b", "/a/data"};
	char path[128];

	strcpy(dir, "/tmp/hybrid-packages-XXXXXX");
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", dir, names[i]);
		assert_int_equal(mkdir(path, 0777), 0);
		strcat(path, "/__init__.py");
		if (i < 2)
			close(open(path, O_CREAT | O_WRONLY, 0666));
	}
}

static void remove_packages(const char *dir)
{
	static const char *const names[] = {
		"/a/b/__init__.py", "/a/__init__.py", "/a/b", "/a/data", "/a", ""};
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, names[i]);
		assert_int_equal(remove(path), 0);
	}
}

/* Whether the one pattern is that of the function. */
static bool python_matches(const char *pattern, const char *file, const char *qualname)
{
	char rule[4096];

	snprintf(rule, sizeof(rule), "exclude python:%s\n", pattern);
	with_filter(rule);
	errno = 77;
	bool result = filter_excludes_python(file, qualname);
	assert_int_equal(errno, 77);
	return result;
}

static void test_filter_python_modules(void **state)
{
	static const struct {
		const char *file, *name; /* without the directory */
	} cases[] = {
		{"/app.py", "app.f"},
		{"/tool", "tool.f"},
		{"/a/__init__.py", "a.f"},
		{"/a/m.py", "a.m.f"},
		{"/a/__main__.py", "a.__main__.f"},
		{"/a/b/__init__.py", "a.b.f"},
		{"/a/b/m.py", "a.b.m.f"},
		{"/a/data/m.py", "m.f"},
	};
	char dir[64], file[128];

	make_packages(dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(file, sizeof(file), "%s%s", dir, cases[i].file);
		assert_true(python_matches(cases[i].name, file, "f"));
		assert_false(python_matches(cases[i].name, file, "g"));
		strcat(file, ":f");
		assert_true(python_matches(file, strtok(strdupa(file), ":"), "f"));
	}
	remove_packages(dir);
	assert_true(python_matches("app.C.run", "app.py", "C.run"));
	assert_true(python_matches("importlib._bootstrap.*", "<frozen importlib._bootstrap>", "_find"));
	assert_true(python_matches("<string>.f", "<string>", "f"));
	assert_true(python_matches("*.<lambda>", "/x.py", "<lambda>"));
	assert_true(python_matches("__init__.f", "__init__.py", "f"));
	assert_true(python_matches("*", "", ""));
	assert_false(python_matches("?", "", "f"));
}

static void test_filter_python_rules(void **state)
{
	with_filter("exclude python:json.*\ninclude python:json.decoder.*\n"
		    "exclude  python: */site-packages/* # all that is installed\n");
	assert_true(filter_excludes_python("json.py", "load"));
	assert_false(filter_excludes_python("json.decoder.py", "scan"));
	assert_true(filter_excludes_python("/venv/lib/python3.11/site-packages/x/y.py", "f"));
	assert_false(filter_excludes_python("/home/json/app.py", "main"));
	assert_false(filter_excludes("json.load")); /* no rule is for native ones */
	with_filter("include solve*\ninclude python::*\n");
	assert_true(filter_excludes("main"));
	assert_false(filter_excludes("_ZN6python4loadEv"));
	assert_false(filter_excludes_python("main.py", "main")); /* no rule is for Python */
	with_filter("include python:app.*\n");
	assert_false(filter_excludes_python("/x/app.py", "main"));
	assert_true(filter_excludes_python("/x/other.py", "main"));
	assert_false(filter_excludes("main"));
}

/* Longer than what is looked at: the end of the path and the start of the name count. */
static void test_filter_python_long(void **state)
{
	char file[8192], name[8192];

	memset(file, 'd', sizeof(file));
	memset(name, 'n', sizeof(name));
	strcpy(file + sizeof(file) - 8, "/end.py");
	strcpy(name + sizeof(name) - 5, "last");
	assert_true(python_matches("end.nnn*n", file, name));
	assert_true(python_matches("ddd*d/end.py:nnn*n", file, name));
	assert_false(python_matches("*last", file, name));
	memset(file, '/', sizeof(file) - 8);
	assert_true(python_matches("end.f", file, "f"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readable),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_stack_reads),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_random_expressions),
		cmocka_unit_test(test_qualified_names),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_filter_python_modules),
		cmocka_unit_test(test_filter_python_rules),
		cmocka_unit_test(test_filter_python_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
