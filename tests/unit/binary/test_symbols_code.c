/* Where functions begin and end, and their bytes, against nm and objdump. */
#include "sym_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_extents(const char *program)
{
	char *text = sym_output("nm -n -S --defined-only %s | awk 'NF == 4 && $3 ~ /[tTW]/'", program);
	struct hyb_module module = sym_module(program);
	struct hyb_symbols *symbols = sym_plain();
	unsigned checked = 0;

	for (char *rest = text, *line; (line = strsep(&rest, "\n")) && *line;) {
		unsigned long long address, size;

		assert_int_equal(sscanf(line, "%llx %llx", &address, &size), 2);
		for (uint64_t at = address; at < address + size; at++) {
			uint64_t start = 1, end = 1;

			assert_true(hyb_symbols_extent(symbols, &module, at, &start, &end));
			assert_int_equal(start, address);
			assert_int_equal(end, address + size);
		}
		checked++;
	}
	assert_true(checked >= 2);
	free(text);
	hyb_symbols_close(symbols);
}

static void test_extents(void **state)
{
	(void)state;
	assert_true(sym_run("gcc -g -O2 -o prog %s/sym_inline.c", SYM_SOURCES));
	check_extents("prog");
	assert_true(sym_run("gcc -O1 -no-pie -o prog %s/sym_inline.c", SYM_SOURCES));
	check_extents("prog");
}

/* Without symbols the call frame information knows. */
static void test_stripped(void **state)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module module;
	uint64_t outer, start = 1, end = 1;
	unsigned long long size = 0;
	char *text;

	(void)state;
	assert_true(sym_run("gcc -O2 -o prog %s/sym_inline.c", SYM_SOURCES));
	outer = sym_address_of("prog", "outer");
	text = sym_output("nm -S prog | awk '$4 == \"outer\" { print $2 }'");
	assert_int_equal(sscanf(text, "%llx", &size), 1);
	free(text);
	assert_true(sym_run("strip -s prog"));
	module = sym_module("prog");
	assert_true(hyb_symbols_extent(symbols, &module, outer + 1, &start, &end));
	assert_int_equal(start, outer);
	assert_int_equal(end, outer + size);
	assert_false(hyb_symbols_extent(symbols, &module, 0x7fffffff0000, &start, &end));
	assert_int_equal(start, outer);
	hyb_symbols_close(symbols);
}

/* A label without a size ends where the next one begins. */
static void test_labels(void **state)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module module;
	uint64_t unsized, start, end;

	(void)state;
	assert_true(sym_run("gcc -o prog %s/sym_asm.S", SYM_SOURCES));
	module = sym_module("prog");
	unsized = sym_address_of("prog", "unsized");
	assert_true(hyb_symbols_extent(symbols, &module, unsized + 1, &start, &end));
	assert_int_equal(start, unsized);
	assert_int_equal(end, sym_address_of("prog", "main"));
	hyb_symbols_close(symbols);
}

static void check_code(const char *program, uint64_t address)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module module = sym_module(program);
	struct hyb_error error;
	struct hyb_code code;
	uint8_t bytes[16];
	char *text, *at;

	assert_int_equal(hyb_symbols_code(symbols, &module, address, bytes, sizeof(bytes), &code, &error), 0);
	assert_int_equal(code.size, sizeof(bytes));
	assert_int_equal(code.wide, sizeof(void *) == 8);
	text = at = sym_output("objdump -s --start-address=%llu --stop-address=%llu %s |"
			       "sed -n '/^Contents/,$ s/^ [0-9a-f]* \\(.\\{36\\}\\).*/\\1/p' | tr -d ' \\n'",
		(unsigned long long)address, (unsigned long long)address + sizeof(bytes), program);
	for (size_t i = 0; i < sizeof(bytes); i++, at += 2) {
		unsigned expected = 0;

		assert_int_equal(sscanf(at, "%2x", &expected), 1);
		assert_int_equal(bytes[i], expected);
	}
	free(text);
	/* Data and nothing at all are no code. */
	assert_int_equal(hyb_symbols_code(symbols, &module, 0x7fffffff0000, bytes, 16, &code, &error), 0);
	assert_int_equal(code.size, 0);
	hyb_symbols_close(symbols);
}

static void test_code(void **state)
{
	(void)state;
	assert_true(sym_run("gcc -g -O0 -o prog %s/sym_inline.c", SYM_SOURCES));
	check_code("prog", sym_address_of("prog", "outer"));
	/* A debug file by the build-id has no code: the module itself is read. */
	assert_true(sym_run("objcopy --only-keep-debug prog prog.debug && strip prog &&"
			    "objcopy --add-gnu-debuglink=prog.debug prog"));
	check_code("prog", sym_address_of("prog.debug", "outer"));
}

/* What a program calls in libc has slots, as objdump's relocations say. */
static void test_imports(void **state)
{
	static const char *const flags[] = {"", "-fno-plt", "-no-pie", "-Wl,-z,now"};

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct hyb_symbols *symbols = sym_plain();
		struct hyb_module module;
		char *text;
		unsigned long long slot;

		assert_true(sym_run(
			"echo 'extern int puts(const char *); int main(void) { return puts(\"\"); }' >"
			"import.c && gcc -O0 %s -o import import.c",
			flags[i]));
		module = sym_module("import");
		text = sym_output("objdump -R import | awk '$3 ~ /^puts/ { print $1 }'");
		assert_int_equal(sscanf(text, "%llx", &slot), 1);
		free(text);
		assert_string_equal(hyb_symbols_import(symbols, &module, slot), "puts");
		assert_null(hyb_symbols_import(symbols, &module, slot + 1));
		hyb_symbols_close(symbols);
	}
}

/* What is not the file that ran is told, and not read. */
static void test_other_file(void **state)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module module;
	struct hyb_error error;
	struct hyb_code code;
	uint8_t bytes[16];

	(void)state;
	assert_true(sym_run("gcc -O0 -o prog %s/sym_inline.c", SYM_SOURCES));
	module = sym_module("prog");
	assert_true(sym_run("gcc -O2 -o prog %s/sym_inline.c", SYM_SOURCES));
	assert_int_equal(hyb_symbols_code(symbols, &module, 0x1000, bytes, 16, &code, &error), HYB_EFORMAT);
	assert_non_null(strstr(error.text, "prog: changed since the run"));
	assert_true(sym_run("rm prog"));
	assert_int_equal(hyb_symbols_code(symbols, &module, 0x1000, bytes, 16, &code, &error), HYB_EFORMAT);
	assert_non_null(strstr(error.text, "prog: No such file"));
	module.path = "[vdso]";
	assert_int_equal(hyb_symbols_code(symbols, &module, 0x1000, bytes, 16, &code, &error), HYB_EFORMAT);
	assert_true(*error.text);
	hyb_symbols_close(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_imports),
		cmocka_unit_test(test_other_file),
	};

	return cmocka_run_group_tests(tests, sym_set_up, sym_tear_down);
}
