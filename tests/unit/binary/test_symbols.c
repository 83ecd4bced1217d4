/* Addresses of real programs against their source lines and against addr2line. */
#include "sym_help.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_frame(
	const struct hyb_frame *frame, const char *name, unsigned line, unsigned function_line, bool inlined)
{
	assert_string_equal(frame->function, name);
	assert_string_equal(frame->file, SYM_SOURCES "/sym_inline.c");
	assert_int_equal(frame->line, line);
	assert_int_equal(frame->function_line, function_line);
	assert_int_equal(frame->inlined, inlined);
	assert_false(frame->guess);
}

/* The chain at mark_inner, asked for with its address or as return address behind the nop. */
static void check_inline(struct hyb_symbols *symbols, const struct hyb_module *module, uint64_t mark)
{
	for (unsigned call = 0; call < 2; call++) {
		size_t count = 0;
		const struct hyb_frame *frames =
			hyb_symbols_lookup(symbols, module, mark + call, call, &count);

		assert_int_equal(count, 3);
		check_frame(&frames[0], "inner", sym_line("sym_inline.c", "inner"),
			sym_line("sym_inline.c", "inner-function"), true);
		check_frame(&frames[1], "middle", sym_line("sym_inline.c", "middle"),
			sym_line("sym_inline.c", "middle-function"), true);
		check_frame(&frames[2], "outer", sym_line("sym_inline.c", "outer"),
			sym_line("sym_inline.c", "outer-function"), false);
	}
}

static void check_compiled(const char *command)
{
	struct hyb_symbols *symbols;
	struct hyb_module module;

	assert_true(sym_run("rm -f prog *.dwo; %s", command));
	module = sym_module("prog");
	symbols = sym_plain();
	check_inline(symbols, &module, sym_address_of("prog", "mark_inner"));
	assert_int_equal(hyb_symbols_problem_count(symbols), 0);
	hyb_symbols_close(symbols);
}

static void test_inline_chain(void **state)
{
	static const char *const compilers[] = {"gcc", "clang"};
	static const char *const options[] = {"-gdwarf-4 -O0", "-gdwarf-4 -O2", "-gdwarf-5 -O0",
		"-gdwarf-5 -O2", "-gdwarf-4 -O2 -fdebug-types-section", "-gdwarf-4 -gsplit-dwarf -O2",
		"-gdwarf-5 -gsplit-dwarf -O1", "-g -O2 -no-pie",
		"-g -O2 -ffunction-sections -Wl,--gc-sections", "-g -O1 -gz"};
	char command[500];

	(void)state;
	for (size_t c = 0; c < 2; c++)
		for (size_t o = 0; sym_has(compilers[c]) && o < sizeof(options) / sizeof(options[0]); o++) {
			snprintf(command, sizeof(command), "%s %s %s/sym_inline.c -o prog", compilers[c],
				options[o], SYM_SOURCES);
			check_compiled(command);
		}
	if (sym_has("dwz"))
		check_compiled("gcc -g -O2 " SYM_SOURCES "/sym_inline.c -o prog && cp prog other && "
			       "dwz -m shared.dwz prog other");
}

static void test_cpp_names(void **state)
{
	static const struct {
		const char *mark, *name;
	} cases[] = {
		{"mark_template", "space::Box<int>::put"},
		{"mark_hidden", "space::(anonymous namespace)::hidden"},
		{"mark_folded", "space::(anonymous namespace)::Local::folded"},
		{"mark_static", "space::overloaded"},
		{"mark_behind", "space::behind"},
	};
	static const char *const commands[] = {
		"g++ -g -O2", "g++ -gdwarf-4 -O1", "clang++ -g -O2", "clang++ -g -O1"};

	(void)state;
	for (size_t c = 0; c < sizeof(commands) / sizeof(commands[0]); c++) {
		struct hyb_symbols *symbols;
		struct hyb_module module;
		struct hyb_frame frame;

		if (!sym_run("%s %s/sym_scopes.cc -o scopes 2>/dev/null", commands[c], SYM_SOURCES))
			continue;
		module = sym_module("scopes");
		symbols = sym_plain();
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			frame = sym_frame(symbols, &module, sym_address_of("scopes", cases[i].mark));
			assert_string_equal(frame.function, cases[i].name);
			assert_int_equal(frame.line, sym_line("sym_scopes.cc", cases[i].mark));
		}
		frame = sym_frame(symbols, &module, sym_address_of("scopes", "mark_lambda"));
		assert_int_equal(frame.line, sym_line("sym_scopes.cc", "mark_lambda"));
		assert_non_null(strstr(frame.function, "space::work"));
		assert_non_null(strstr(frame.function, "::operator()"));
		hyb_symbols_close(symbols);
	}
}

static void test_rust(void **state)
{
	struct hyb_symbols *symbols;
	struct hyb_module module;
	struct hyb_frame frame;

	(void)state;
	if (!sym_run("rustc -g -o rusty %s/sym_rust.rs 2>/dev/null", SYM_SOURCES))
		skip();
	module = sym_module("rusty");
	symbols = sym_plain();
	frame = sym_frame(symbols, &module, sym_address_of("rusty", "mark_rust"));
	assert_string_equal(frame.function, "sym_rust::deep::Thing::work");
	assert_int_equal(frame.line, sym_line("sym_rust.rs", "mark_rust"));
	hyb_symbols_close(symbols);
}

static void test_fortran(void **state)
{
	struct hyb_symbols *symbols;
	struct hyb_module module;
	struct hyb_frame frame;

	(void)state;
	if (!sym_run("gfortran -g -O0 -o formula %s/sym_fortran.f90 2>/dev/null", SYM_SOURCES))
		skip();
	module = sym_module("formula");
	symbols = sym_plain();
	frame = sym_frame(symbols, &module, sym_address_of("formula", "__things_MOD_work"));
	assert_string_equal(frame.function, "things::work");
	assert_int_equal(frame.line, sym_line("sym_fortran.f90", "work-function"));
	frame = sym_frame(symbols, &module, sym_address_of("formula", "inside.0"));
	assert_non_null(strstr(frame.function, "things::work::inside"));
	assert_int_equal(frame.function_line, sym_line("sym_fortran.f90", "inside-function"));
	hyb_symbols_close(symbols);
}

static void test_assembly(void **state)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module with, without;
	struct hyb_frame frame;
	uint64_t mark;

	(void)state;
	assert_true(
		sym_run("gcc -g -o asm-g %s/sym_asm.S && gcc -o asm %s/sym_asm.S", SYM_SOURCES, SYM_SOURCES));
	with = sym_module("asm-g");
	frame = sym_frame(symbols, &with, sym_address_of("asm-g", "mark_asm"));
	assert_string_equal(frame.function, "sized");
	assert_string_equal(frame.file, SYM_SOURCES "/sym_asm.S");
	assert_int_equal(frame.line, sym_line("sym_asm.S", "mark_asm"));
	assert_false(frame.guess);

	without = sym_module("asm");
	mark = sym_address_of("asm", "mark_asm");
	frame = sym_frame(symbols, &without, mark);
	assert_string_equal(frame.function, "sized");
	assert_string_equal(frame.file, "");
	assert_int_equal(frame.line, 0);
	assert_false(frame.guess);
	frame = sym_frame(symbols, &without, sym_address_of("asm", "unsized") + 1);
	assert_string_equal(frame.function, "unsized~");
	assert_true(frame.guess);
	hyb_symbols_close(symbols);
}

static void hex(const struct hyb_module *module, char *text)
{
	for (unsigned i = 0; i < module->build_id_len; i++)
		sprintf(text + 2 * i, "%02x", module->build_id[i]);
}

static void test_separate_debug(void **state)
{
	struct hyb_symbols *symbols;
	struct hyb_module module;
	char id[65], debug_path[300];
	uint64_t mark;

	(void)state;
	assert_true(sym_run("gcc -g -O2 -Wl,--build-id -o apart %s/sym_inline.c", SYM_SOURCES));
	mark = sym_address_of("apart", "mark_inner");
	assert_true(sym_run("objcopy --only-keep-debug apart apart.debug && strip -s apart && "
			    "objcopy --add-gnu-debuglink=apart.debug apart"));
	module = sym_module("apart");
	symbols = sym_plain();
	check_inline(symbols, &module, mark);
	hyb_symbols_close(symbols);

	/* By build-id in a debug directory; then without the program, then beside another one. */
	hex(&module, id);
	assert_true(sym_run("mkdir -p tree/.build-id/%.2s && mv apart.debug tree/.build-id/%.2s/%s.debug", id,
		id, id + 2));
	snprintf(debug_path, sizeof(debug_path), ":%s", sym_path("tree"));
	for (int i = 0; i < 3; i++) {
		symbols = sym_open(&(struct sym_places){.debug_path = debug_path});
		check_inline(symbols, &module, mark);
		assert_int_equal(hyb_symbols_problem_count(symbols), 0);
		hyb_symbols_close(symbols);
		assert_true(sym_run(i ? "cp /bin/true apart" : "rm apart"));
	}

	/* The wrong debug file under the right name is none. */
	assert_true(
		sym_run("gcc -g -O1 -DOTHER -Wl,--build-id -o tree/.build-id/%.2s/%s.debug %s/sym_inline.c",
			id, id + 2, SYM_SOURCES));
	symbols = sym_open(&(struct sym_places){.debug_path = debug_path});
	assert_string_equal(sym_frame(symbols, &module, mark).function, "");
	assert_int_equal(hyb_symbols_problem_count(symbols), 1);
	hyb_symbols_close(symbols);
}

static void check_absent(const struct hyb_module *module, uint64_t mark, const char *why)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_frame frame = sym_frame(symbols, module, mark);
	char text[400];

	snprintf(text, sizeof(text), "%s: %s", module->path, why);
	assert_string_equal(frame.function, "");
	assert_string_equal(frame.file, "");
	assert_int_equal(frame.line, 0);
	assert_int_equal(hyb_symbols_problem_count(symbols), 1);
	assert_string_equal(hyb_symbols_problem_at(symbols, 0), text);
	assert_null(hyb_symbols_problem_at(symbols, 1));
	hyb_symbols_close(symbols);
}

static void test_changed(void **state)
{
	static const char build[] = "gcc -g -O%d -Wl,--build-id%s -o changing %s/sym_inline.c";
	struct hyb_module module;
	uint64_t mark;

	(void)state;
	assert_true(sym_run(build, 2, "", SYM_SOURCES));
	module = sym_module("changing");
	mark = sym_address_of("changing", "mark_inner");
	assert_true(sym_run(build, 0, "", SYM_SOURCES));
	check_absent(&module, mark, "changed since the run; build-id differs");
	assert_true(sym_run("rm changing"));
	check_absent(&module, mark, "No such file or directory");
	assert_true(sym_run("mkfifo changing"));
	check_absent(&module, mark, "Invalid argument");

	assert_true(sym_run("rm changing"));
	assert_true(sym_run(build, 2, "=none", SYM_SOURCES));
	module = sym_module("changing");
	mark = sym_address_of("changing", "mark_inner");
	assert_int_equal(module.build_id_len, 0);
	module.mtime -= 1;
	check_absent(&module, mark, "changed since the run; modification time differs");
	module.file_size += 1;
	check_absent(&module, mark, "changed since the run; size differs");
	module.file_size = 0;
	check_absent(&module, mark, "may be a later version: neither build-id nor time are known");
}

static void test_no_file(void **state)
{
	const struct hyb_module vdso = {.path = "[vdso]"}, empty = {.path = ""}, relative = {.path = "prog"};
	struct hyb_symbols *symbols = sym_plain();
	size_t count;

	(void)state;
	assert_string_equal(sym_frame(symbols, &vdso, 0x700).function, "");
	assert_string_equal(sym_frame(symbols, &empty, 0).function, "");
	assert_string_equal(sym_frame(symbols, &relative, 1).function, "");
	assert_string_equal(hyb_symbols_lookup(symbols, NULL, 0x1234, true, &count)->function, "");
	assert_int_equal(count, 1);
	assert_int_equal(hyb_symbols_problem_count(symbols), 0);
	hyb_symbols_close(symbols);
	hyb_symbols_close(NULL);
}

static void test_vdso_copy(void **state)
{
	struct hyb_module vdso = {.path = "[vdso]"};
	struct hyb_symbols *symbols;
	uint64_t mark;

	(void)state;
	assert_true(sym_run("gcc -g -O2 -Wl,--build-id -o vdso.so %s/sym_inline.c", SYM_SOURCES));
	mark = sym_address_of("vdso.so", "mark_inner");
	symbols = sym_open(&(struct sym_places){.vdso = sym_path("vdso.so")});
	check_inline(symbols, &vdso, mark);
	hyb_symbols_close(symbols);

	vdso.build_id_len = 20; /* of another kernel */
	symbols = sym_open(&(struct sym_places){.vdso = sym_path("vdso.so")});
	assert_string_equal(sym_frame(symbols, &vdso, mark).function, "");
	hyb_symbols_close(symbols);
}

/* Whatever the bytes are: an answer, and no crash. */
static void look_everywhere(const char *program, uint64_t mark)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module module = sym_module(program);

	for (uint64_t i = 0; i < 64; i++)
		sym_frame(symbols, &module, mark - 32 + i);
	sym_frame(symbols, &module, 0);
	sym_frame(symbols, &module, UINT64_MAX);
	hyb_symbols_close(symbols);
}

static void test_damaged_elf(void **state)
{
	unsigned short seed[3] = {7, 7, 7};
	struct stat st;
	uint64_t mark;

	(void)state;
	assert_true(sym_run("gcc -g -O2 -Wl,--build-id=none -o whole %s/sym_inline.c", SYM_SOURCES));
	mark = sym_address_of("whole", "mark_inner");
	assert_int_equal(stat(sym_path("whole"), &st), 0);
	for (int i = 0; i < 40; i++) {
		assert_true(sym_run("cp whole damaged"));
		assert_int_equal(truncate(sym_path("damaged"), nrand48(seed) % st.st_size), 0);
		look_everywhere("damaged", mark);
	}
	for (int i = 0; i < 150; i++) {
		FILE *file;

		assert_true(sym_run("cp whole damaged"));
		file = fopen(sym_path("damaged"), "r+");
		for (int k = 0; k < 30; k++) {
			fseek(file, nrand48(seed) % st.st_size, SEEK_SET);
			fputc((int)(nrand48(seed) & 255), file);
		}
		fclose(file);
		look_everywhere("damaged", mark);
	}
	assert_true(sym_run("printf 'not an ELF file' > damaged"));
	look_everywhere("damaged", mark);
}

/* Headers of sections may stand anywhere in the file: that they are aligned is not for the reader to trust.
 */
static void test_headers_anywhere(void **state)
{
	char table[64 * sizeof(Elf64_Shdr)];
	Elf64_Ehdr header;
	uint64_t mark;
	size_t size;
	FILE *file;

	(void)state;
	assert_true(sym_run("gcc -g -O2 -Wl,--build-id=none -o odd %s/sym_inline.c", SYM_SOURCES));
	mark = sym_address_of("odd", "mark_inner");
	file = fopen(sym_path("odd"), "r+");
	assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
	size = (size_t)header.e_shnum * sizeof(Elf64_Shdr);
	assert_true(size <= sizeof(table));
	fseek(file, (long)header.e_shoff, SEEK_SET);
	assert_int_equal(fread(table, size, 1, file), 1);
	fseek(file, 0, SEEK_END);
	header.e_shoff = (uint64_t)ftell(file) | 7;
	fseek(file, (long)header.e_shoff, SEEK_SET);
	fwrite(table, size, 1, file);
	fseek(file, 0, SEEK_SET);
	fwrite(&header, sizeof(header), 1, file);
	fclose(file);
	look_everywhere("odd", mark);
}

/* Reads "name\nfile:line\n" of one frame; a question mark is 0. */
static char *next_frame(char **text, char **ret_file, unsigned *ret_line)
{
	char *name = strsep(text, "\n"), *place = strsep(text, "\n");
	char *colon = place ? strrchr(place, ':') : NULL;

	assert_non_null(colon);
	*ret_line = (unsigned)strtoul(colon + 1, NULL, 10);
	*colon = '\0';
	*ret_file = place;
	return name;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Compares with binutils: as many frames, the same lines and files; in C also
 * the same functions. Returns how many addresses had a line.
 */
static size_t compare_all(const char *program, const uint64_t *addresses, size_t n, bool names)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module module = sym_module(program);
	FILE *list = fopen(sym_path("list"), "w");
	char *all, *text;
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		fprintf(list, "0x%llx\n", (unsigned long long)addresses[i]);
	fclose(list);
	all = text = sym_output("addr2line -aif -e %s < list | sed 's/ (discriminator .*//'", program);
	for (size_t i = 0; i < n; i++) {
		size_t count, k = 0;
		const struct hyb_frame *frames =
			hyb_symbols_lookup(symbols, &module, addresses[i], false, &count);

		assert_int_equal(strtoull(strsep(&text, "\n"), NULL, 16), addresses[i]);
		for (; text && *text && strncmp(text, "0x", 2) != 0; k++) {
			char *file, *name;
			unsigned line;

			name = next_frame(&text, &file, &line);
			/* Between functions binutils goes on with the one in front. */
			if (frames[0].guess)
				continue;
			assert_true(k < count);
			assert_int_equal(frames[k].line, line);
			if (line)
				assert_string_equal(base_name(frames[k].file), base_name(file));
			if (names && line)
				assert_string_equal(frames[k].function, name);
			known += line > 0;
		}
		assert_true(frames[0].guess || k == count);
	}
	free(all);
	hyb_symbols_close(symbols);
	return known;
}

static size_t spread(const char *program, uint64_t *addresses, size_t n)
{
	char *text = sym_output("readelf -SW %s | sed -n 's/.* \\.text *PROGBITS *//p'", program);
	unsigned long long start = 0, offset, size = 0;

	assert_int_equal(sscanf(text, "%llx %llx %llx", &start, &offset, &size), 3);
	free(text);
	for (size_t i = 0; i < n; i++)
		addresses[i] = start + size * i / n;
	return n;
}

static void test_against_addr2line(void **state)
{
	uint64_t addresses[800];

	(void)state;
	if (!sym_has("addr2line"))
		skip();
	/* This test itself is a C program with debug information. */
	assert_true(sym_run("cp /proc/%d/exe self", (int)getpid()));
	spread("self", addresses, 600);
	assert_true(compare_all("self", addresses, 600, true) > 100);
	assert_true(sym_run("g++ -g -O2 -o templates %s/sym_scopes.cc", SYM_SOURCES));
	spread("templates", addresses, 800);
	assert_true(compare_all("templates", addresses, 800, false) > 800);
	assert_true(sym_run(
		"g++ -gdwarf-4 -O1 -fdebug-types-section -o templates %s/sym_scopes.cc", SYM_SOURCES));
	spread("templates", addresses, 800);
	assert_true(compare_all("templates", addresses, 800, false) > 800);
	if (!sym_run("clang++ -gdwarf-4 -O2 -o templates %s/sym_scopes.cc 2>/dev/null", SYM_SOURCES))
		return;
	spread("templates", addresses, 800);
	assert_true(compare_all("templates", addresses, 800, false) > 800);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inline_chain),
		cmocka_unit_test(test_cpp_names),
		cmocka_unit_test(test_rust),
		cmocka_unit_test(test_fortran),
		cmocka_unit_test(test_assembly),
		cmocka_unit_test(test_separate_debug),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_vdso_copy),
		cmocka_unit_test(test_damaged_elf),
		cmocka_unit_test(test_headers_anywhere),
		cmocka_unit_test(test_against_addr2line),
	};

	return cmocka_run_group_tests(tests, sym_set_up, sym_tear_down);
}
