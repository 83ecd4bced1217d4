/* Programs without .symtab: their functions against the symbols that they had before. */
#include "sym_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX 10000

struct function {
	uint64_t address, size;
	char symbol[64];
	char name[100]; /* the answer at its first byte */
	bool guess;
};

/* Reads the functions of `nm options program` by address; several symbols of the same code become one. */
static size_t read_functions(const char *program, const char *options, struct function *functions)
{
	char *text = sym_output(
		"nm -n -S --defined-only %s %s | awk 'NF == 4 && $3 ~ /[itTW]/'", options, program);
	size_t n = 0;

	for (char *rest = text, *line; (line = strsep(&rest, "\n")) && *line;) {
		struct function f = {0};
		unsigned long long address, size;

		assert_int_equal(sscanf(line, "%llx %llx %*c %63s", &address, &size, f.symbol), 3);
		f.address = address;
		f.size = size;
		if (n && functions[n - 1].address == address)
			continue;
		assert_true(n < FUNCTIONS_MAX);
		functions[n++] = f;
	}
	free(text);
	return n;
}

/* Each byte of a function has one name, which no other function has. */
static void check_partition(const char *program, struct function *functions, size_t n)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module module = sym_module(program);

	for (size_t i = 0; i < n; i++) {
		struct function *f = &functions[i];
		struct hyb_frame first = sym_frame(symbols, &module, f->address);

		assert_true(*first.function);
		snprintf(f->name, sizeof(f->name), "%s", first.function);
		f->guess = first.guess;
		for (uint64_t at = f->address; at < f->address + f->size; at++) {
			struct hyb_frame frame = sym_frame(symbols, &module, at);

			assert_string_equal(frame.function, f->name);
			assert_int_equal(frame.guess, f->guess);
		}
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(f->name, functions[k].name);
	}
	assert_int_equal(hyb_symbols_problem_count(symbols), 0);
	hyb_symbols_close(symbols);
}

/* The last of them at or in front of the address, or NULL. */
static const struct function *find_near(const struct function *functions, size_t n, uint64_t address)
{
	const struct function *near = NULL;

	for (size_t i = 0; i < n && functions[i].address <= address; i++)
		near = &functions[i];
	return near;
}

/* Exported functions have the names that nm shows, others that of the file and their start. */
static void check_names(const char *stripped, const struct function *functions, size_t n)
{
	static struct function exported[FUNCTIONS_MAX];
	size_t exported_count = read_functions(stripped, "-D", exported);

	for (size_t i = 0; i < n; i++) {
		const struct function *f = &functions[i];
		const struct function *near = find_near(exported, exported_count, f->address);
		char expected[100];

		if (near && near->address == f->address)
			snprintf(expected, sizeof(expected), "%s", near->symbol);
		else
			snprintf(expected, sizeof(expected), "%s+0x%llx", stripped,
				(unsigned long long)f->address);
		assert_string_equal(f->name, expected);
		assert_int_equal(f->guess, !near || near->address < f->address);
	}
}

/* 60 functions: each third one is exported if the program exports, each seventh has a cold part elsewhere. */
static void write_source(const char *name)
{
	FILE *f = fopen(sym_path(name), "w");

	assert_non_null(f);
	fputs("#include <stdio.h>\n#include <stdlib.h>\nvolatile int n;\n", f);
	for (int i = 0; i < 60; i++) {
		fprintf(f, "%s__attribute__((noinline)) int f%d(int x)\n{\n", i % 3 ? "static " : "", i);
		for (int k = 0; k < i % 5; k++)
			fprintf(f, "\tn += x * %d;\n", i + k);
		if (i % 7 == 0)
			fprintf(f, "\tif (__builtin_expect(n == %d, 0)) { puts(\"%d\"); abort(); }\n", i, i);
		fprintf(f, "\treturn n * %d + x;\n}\n", i + 2);
	}
	fputs("int main(void)\n{\n", f);
	for (int i = 0; i < 60; i++)
		fprintf(f, "\tn = f%d(n);\n", i);
	fputs("\treturn 0;\n}\n", f);
	assert_int_equal(fclose(f), 0);
}

static size_t compile_twins(const char *command, struct function *functions)
{
	assert_true(sym_run("%s -o twin functions.c && cp twin stripped && strip -s stripped", command));
	assert_true(sym_run("test -z \"$(nm stripped 2>/dev/null)\""));
	return read_functions("twin", "", functions);
}

static void test_partition(void **state)
{
	static const char *const commands[] = {"gcc -O2 -rdynamic", "gcc -O1 -no-pie -rdynamic",
		"gcc -O2 -shared -fPIC", "gcc -O2", "gcc -O2 -fuse-ld=gold -rdynamic", "clang -O2 -rdynamic",
		"clang -O1", "g++ -x c++ -O2 -rdynamic"};
	static struct function functions[FUNCTIONS_MAX];

	(void)state;
	write_source("functions.c");
	for (size_t c = 0; c < sizeof(commands) / sizeof(commands[0]); c++) {
		size_t n;

		if (!sym_run("%s -o twin functions.c 2>/dev/null", commands[c]))
			continue;
		n = compile_twins(commands[c], functions);
		assert_true(n >= 60);
		check_partition("stripped", functions, n);
		if (!strstr(commands[c], "g++"))
			check_names("stripped", functions, n);
	}
}

/* Without call frame information all that is known is where the exported one in front ends. */
static void test_no_cfi(void **state)
{
	static struct function functions[FUNCTIONS_MAX], exported[FUNCTIONS_MAX];
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module module;
	size_t n, exported_count;

	(void)state;
	write_source("functions.c");
	n = compile_twins("gcc -O2 -rdynamic -fno-asynchronous-unwind-tables", functions);
	exported_count = read_functions("stripped", "-D", exported);
	assert_true(n >= 60 && exported_count >= 20);
	module = sym_module("stripped");
	for (size_t i = 0; i < n; i++) {
		const struct function *near = find_near(exported, exported_count, functions[i].address);
		struct hyb_frame frame = sym_frame(symbols, &module, functions[i].address);
		char expected[100] = "";

		if (near && near->address == functions[i].address)
			snprintf(expected, sizeof(expected), "%s", near->symbol);
		else if (near)
			snprintf(expected, sizeof(expected), "stripped+0x%llx",
				(unsigned long long)(near->address + near->size));
		assert_string_equal(frame.function, expected);
		assert_int_equal(frame.guess, near && near->address < functions[i].address);
	}
	hyb_symbols_close(symbols);
}

static void test_outside(void **state)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module module;
	struct hyb_frame frame;
	uint64_t outer, mark;

	(void)state;
	assert_true(sym_run("gcc -O2 -rdynamic -o dynamic %s/sym_inline.c", SYM_SOURCES));
	outer = sym_address_of("dynamic", "outer");
	mark = sym_address_of("dynamic", "mark_inner");
	assert_true(sym_run("strip -s dynamic"));
	module = sym_module("dynamic");
	frame = sym_frame(symbols, &module, outer);
	assert_string_equal(frame.function, "outer");
	assert_string_equal(frame.file, "");
	assert_false(frame.guess);
	assert_string_equal(sym_frame(symbols, &module, mark).function, "outer");
	/* Where no section is, there is no guess either. */
	assert_string_equal(sym_frame(symbols, &module, 0x7fffffff0000).function, "");
	hyb_symbols_close(symbols);
}

/* A symbol without a size is no guess where a function begins, and names all of that function. */
static void test_unsized(void **state)
{
	static const char source[] =
		".text\n.globl known\n.type known, @function\nknown: .cfi_startproc\nnop\nnop\nlabel: nop\n"
		".cfi_endproc\n.cfi_startproc\nhidden: nop\nnop\n.cfi_endproc\nbehind: ret\n";
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module module;
	struct hyb_frame frame;
	uint64_t known;
	FILE *f;

	(void)state;
	f = fopen(sym_path("unsized.s"), "w");
	assert_non_null(f);
	fputs(source, f);
	fclose(f);
	assert_true(sym_run("gcc -shared -nostdlib -o unsized.so unsized.s"));
	known = sym_address_of("unsized.so", "known");
	assert_true(sym_run("strip -s unsized.so"));
	module = sym_module("unsized.so");
	for (unsigned i = 0; i < 3; i++) {
		frame = sym_frame(symbols, &module, known + i);
		assert_string_equal(frame.function, "known");
		assert_false(frame.guess);
	}
	for (unsigned i = 3; i < 6; i++) {
		char expected[50];

		frame = sym_frame(symbols, &module, known + i);
		snprintf(expected, sizeof(expected), "unsized.so+0x%llx",
			(unsigned long long)known + (i < 5 ? 3 : 5));
		assert_string_equal(frame.function, expected);
		assert_true(frame.guess);
	}
	hyb_symbols_close(symbols);
}

/* Of libraries that others built: each function by its frame description, as readelf shows them, is named by
 * the symbol that nm shows there, else by its start. */
static void check_library(const char *library)
{
	static struct function exported[FUNCTIONS_MAX];
	struct hyb_symbols *symbols = sym_open(&(struct sym_places){.debug_path = "/none"});
	char *text, *rest, *line;
	struct hyb_module module;
	size_t n, named = 0, nameless = 0;

	assert_true(sym_run("cp -L \"$(gcc -print-file-name=%s)\" library", library));
	n = read_functions("library", "-D", exported);
	module = sym_module("library");
	text = sym_output("readelf -wF library 2>/dev/null | sed -n 's/.* FDE .*pc=//p'");
	for (rest = text; (line = strsep(&rest, "\n")) && *line;) {
		unsigned long long lo, hi;
		const struct function *near;
		struct hyb_frame frame;
		char expected[50];

		assert_int_equal(sscanf(line, "%llx..%llx", &lo, &hi), 2);
		near = find_near(exported, n, hi - 1);
		snprintf(expected, sizeof(expected), "library+0x%llx", lo);
		frame = sym_frame(symbols, &module, hi - 1);
		if (near && near->address + near->size < hi && near->address < lo) {
			assert_string_equal(frame.function, expected);
			assert_true(frame.guess);
			nameless++;
		} else if (near && near->address == lo) {
			assert_false(frame.guess);
			named++;
		}
	}
	assert_true(named > 100 && nameless > 100);
	free(text);
	hyb_symbols_close(symbols);
}

static void test_libraries(void **state)
{
	(void)state;
	check_library("libc.so.6");
	check_library("libstdc++.so.6");
}

/* Whatever the call frame information says: an answer, and no crash. */
static void test_damaged_cfi(void **state)
{
	unsigned short seed[3] = {3, 1, 4};
	unsigned long long offset = 0, size = 0;
	char *text;
	uint64_t main_address;

	(void)state;
	write_source("functions.c");
	assert_true(sym_run("gcc -O2 -Wl,--build-id=none -o whole functions.c"));
	main_address = sym_address_of("whole", "main");
	assert_true(sym_run("strip -s whole"));
	text = sym_output("readelf -SW whole | sed -n 's/.* \\.eh_frame *[^ ]* *[^ ]* //p'");
	assert_int_equal(sscanf(text, "%llx %llx", &offset, &size), 2);
	free(text);
	for (int i = 0; i < 200; i++) {
		struct hyb_symbols *symbols = sym_plain();
		struct hyb_module module;
		FILE *f;

		assert_true(sym_run("cp whole damaged"));
		f = fopen(sym_path("damaged"), "r+");
		assert_non_null(f);
		for (int k = 0; k < 1 + i % 20; k++) {
			fseek(f, (long)(offset + (unsigned long long)nrand48(seed) % size), SEEK_SET);
			fputc(k % 3 ? (int)(nrand48(seed) & 255) : 255, f);
		}
		fclose(f);
		module = sym_module("damaged");
		for (uint64_t at = 0; at < 1000; at += 7)
			assert_non_null(sym_frame(symbols, &module, main_address + at).function);
		hyb_symbols_close(symbols);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_partition),
		cmocka_unit_test(test_no_cfi),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_unsized),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_damaged_cfi),
	};

	return cmocka_run_group_tests(tests, sym_set_up, sym_tear_down);
}
