/* The cache: the same answers without the files, and nothing but answers from a damaged one. */
#include "base/hash.h"
#include "sym_help.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hyb_writer.h"
#include "binary/cache_format.h"

static struct hyb_module module;
static uint64_t mark;

/* Compiles the program and looks around in it, with a cache. */
static int make_program(void **state)
{
	if (sym_set_up(state))
		return -1;
	if (!sym_run("gcc -g -O2 -o prog %s/sym_inline.c && cp prog kept", SYM_SOURCES))
		return -1;
	module = sym_module("prog");
	module.path = strdup(module.path);
	mark = sym_address_of("prog", "mark_inner");
	return 0;
}

static int remove_program(void **state)
{
	free((char *)module.path);
	return sym_tear_down(state);
}

static struct hyb_symbols *open_cached(void)
{
	struct hyb_symbols *symbols = sym_open(&(struct sym_places){.cache = sym_path("symbols.cache")});

	assert_non_null(symbols);
	return symbols;
}

static void fill_cache(void)
{
	struct hyb_symbols *symbols = open_cached();
	size_t count;

	for (uint64_t i = 0; i < 20; i++)
		hyb_symbols_lookup(symbols, &module, mark - 8 + i, i & 1, &count);
	hyb_symbols_close(symbols);
}

/* 3 frames at the mark, or 0 if it is not known. Anything else is wrong. */
static size_t depth_at_mark(struct hyb_symbols *symbols)
{
	size_t count;
	const struct hyb_frame *frames = hyb_symbols_lookup(symbols, &module, mark, false, &count);

	if (!*frames[0].function) {
		assert_int_equal(count, 1);
		return 0;
	}
	assert_int_equal(count, 3);
	assert_string_equal(frames[0].function, "inner");
	assert_int_equal(frames[0].line, sym_line("sym_inline.c", "inner"));
	assert_true(frames[0].inlined);
	assert_string_equal(frames[2].function, "outer");
	assert_string_equal(frames[2].file, SYM_SOURCES "/sym_inline.c");
	assert_int_equal(frames[2].function_line, sym_line("sym_inline.c", "outer-function"));
	assert_false(frames[2].inlined);
	return count;
}

static size_t depth_from_file(void)
{
	struct hyb_symbols *symbols = open_cached();
	size_t depth = depth_at_mark(symbols);

	hyb_symbols_close(symbols);
	return depth;
}

static char *read_cache(size_t *ret_size)
{
	FILE *file = fopen(sym_path("symbols.cache"), "r");
	char *data = malloc(100000);

	assert_non_null(file);
	*ret_size = fread(data, 1, 100000, file);
	fclose(file);
	return data;
}

static void write_cache(const char *data, size_t size)
{
	FILE *file = fopen(sym_path("symbols.cache"), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	fclose(file);
}

static void test_second_look(void **state)
{
	struct hyb_symbols *symbols;
	struct hyb_module elsewhere;
	struct stat before, after;

	(void)state;
	fill_cache();
	assert_int_equal(stat(sym_path("symbols.cache"), &before), 0);
	assert_true(sym_run("rm prog"));
	symbols = open_cached();
	assert_int_equal(depth_at_mark(symbols), 3);
	assert_int_equal(hyb_symbols_problem_count(symbols), 0);
	/* With a build-id the place does not matter. */
	elsewhere = module;
	elsewhere.path = "/nowhere/prog";
	assert_string_equal(sym_frame(symbols, &elsewhere, mark).function, "inner");
	/* What is not in it is not known, and not kept as such. */
	assert_string_equal(sym_frame(symbols, &module, mark + 1000).function, "");
	assert_int_equal(hyb_symbols_problem_count(symbols), 1);
	hyb_symbols_close(symbols);
	assert_int_equal(stat(sym_path("symbols.cache"), &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_true(sym_run("cp kept prog"));

	/* It grows. */
	symbols = open_cached();
	assert_string_equal(sym_frame(symbols, &module, sym_address_of("kept", "main")).function, "main");
	hyb_symbols_close(symbols);
	assert_true(sym_run("rm prog"));
	symbols = open_cached();
	assert_int_equal(depth_at_mark(symbols), 3);
	assert_string_equal(sym_frame(symbols, &module, sym_address_of("kept", "main")).function, "main");
	hyb_symbols_close(symbols);
	assert_true(sym_run("cp kept prog && ! ls *.tmp 2>/dev/null"));
}

/* Every cut and every wrong byte: the right answer or none. */
static void test_damaged(void **state)
{
	size_t size;
	char *data;

	(void)state;
	fill_cache();
	data = read_cache(&size);
	assert_true(sym_run("rm prog"));
	assert_int_equal(depth_from_file(), 3);
	for (size_t i = 0; i < size; i += i < 200 ? 1 : 13) {
		write_cache(data, i);
		assert_int_equal(depth_from_file(), 0);
		write_cache(data, size);
		data[i] ^= 0x41;
		write_cache(data, size);
		assert_int_equal(depth_from_file(), 0);
		data[i] ^= 0x41;
	}
	free(data);
	assert_true(sym_run("cp kept prog"));
	/* With the program there it is made anew. */
	write_cache("rubbish", 7);
	fill_cache();
	assert_true(sym_run("rm prog"));
	assert_int_equal(depth_from_file(), 3);
	assert_true(sym_run("cp kept prog"));
}

static void sign(char *data, size_t size)
{
	uint64_t zero = 0;

	memcpy(data + offsetof(struct sym_cache_header, checksum), &zero, 8);
	zero = hash_bytes(HASH_START, data, size);
	memcpy(data + offsetof(struct sym_cache_header, checksum), &zero, 8);
}

/* A checksum can be made to fit: numbers that lead outside must do no harm then either. */
static void test_forged(void **state)
{
	static const uint32_t bad[] = {0xffffffff, 0x7fffffff, 0x10000, 1000};
	size_t size;
	char *data;

	(void)state;
	fill_cache();
	data = read_cache(&size);
	for (size_t at = 8; at + 4 <= size; at += 4)
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			struct hyb_symbols *symbols;
			uint32_t good;

			memcpy(&good, data + at, 4);
			memcpy(data + at, &bad[i], 4);
			sign(data, size);
			write_cache(data, size);
			symbols = open_cached();
			sym_frame(symbols, &module, mark);
			hyb_symbols_close(symbols);
			memcpy(data + at, &good, 4);
		}
	free(data);
	assert_true(sym_run("rm symbols.cache"));
}

static void test_not_writable(void **state)
{
	struct hyb_symbols *symbols =
		sym_open(&(struct sym_places){.cache = sym_path("no/such/symbols.cache")});

	(void)state;
	assert_int_equal(depth_at_mark(symbols), 3);
	hyb_symbols_close(symbols);
	assert_true(sym_run("mkdir -p symbols.cache"));
	assert_int_equal(depth_from_file(), 3);
	assert_true(sym_run("rmdir symbols.cache && ! ls *.tmp 2>/dev/null"));
}

/* Without an identity a later version would be taken for this one. */
static void test_no_identity(void **state)
{
	struct hyb_module nameless = {.path = module.path};
	struct hyb_module dated = module;
	struct hyb_symbols *symbols;

	(void)state;
	dated.build_id_len = 0;
	symbols = open_cached();
	assert_string_equal(sym_frame(symbols, &nameless, mark).function, "");
	hyb_symbols_close(symbols);
	assert_true(sym_run("! test -e symbols.cache"));

	/* By path, size and time only, if the file has no build-id either. */
	assert_true(sym_run("objcopy --remove-section .note.gnu.build-id prog"));
	dated = sym_module("prog");
	dated.path = module.path;
	symbols = open_cached();
	assert_string_equal(sym_frame(symbols, &dated, mark).function, "inner");
	hyb_symbols_close(symbols);
	assert_true(sym_run("rm prog"));
	symbols = open_cached();
	assert_string_equal(sym_frame(symbols, &dated, mark).function, "inner");
	hyb_symbols_close(symbols);
	dated.mtime++;
	symbols = open_cached();
	assert_string_equal(sym_frame(symbols, &dated, mark).function, "");
	hyb_symbols_close(symbols);
	assert_true(sym_run("cp kept prog; rm symbols.cache"));
}

static void count_progress(void *data, size_t done, size_t total)
{
	size_t *last = data;

	assert_true(done >= *last && done <= total);
	*last = done;
}

static void test_resolve(void **state)
{
	struct hyb_module again = module; /* as a second process has it */
	struct sym_address addresses[300];
	size_t last = 0;
	struct hyb_symbols *symbols =
		sym_open(&(struct sym_places){.progress = count_progress, .data = &last});

	(void)state;
	for (size_t i = 0; i < 300; i++)
		addresses[i] = (struct sym_address){
			.module = i % 3 == 0   ? &module
				  : i % 3 == 1 ? &again
					       : NULL,
			.address = mark + 20 - i % 40,
			.call = i & 1,
		};
	sym_resolve(symbols, addresses, 300);
	assert_int_equal(last, 300);
	assert_true(sym_run("mv prog away"));
	assert_int_equal(depth_at_mark(symbols), 3);
	assert_string_equal(sym_frame(symbols, &again, mark).function, "inner");
	assert_int_equal(hyb_symbols_problem_count(symbols), 0);
	hyb_symbols_close(symbols);
	assert_true(sym_run("mv away prog"));
}

/* And the one by which they are counted. */
static size_t open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* More modules than files are kept open, asked in turn. */
static void test_many_modules(void **state)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module many[40];
	size_t before = open_descriptors();

	(void)state;
	assert_true(sym_run("gcc -g -O2 -c -o many.o %s/sym_inline.c", SYM_SOURCES));
	for (int i = 0; i < 40; i++) {
		char name[20];

		snprintf(name, sizeof(name), "many%d", i);
		assert_true(sym_run("gcc -o %s many.o -Wl,--build-id=0x12345678901234%02d", name, i));
		many[i] = sym_module(name);
		many[i].path = strdup(many[i].path);
		assert_int_equal(many[i].build_id_len, 8);
	}
	mark = sym_address_of("many7", "mark_inner");
	for (uint64_t round = 0; round < 3; round++)
		for (int i = 0; i < 40; i++)
			assert_string_equal(sym_frame(symbols, &many[i], mark - round).function,
				round ? "middle" : "inner");
	assert_true(open_descriptors() <= before + 2 * 16);
	hyb_symbols_close(symbols);
	assert_int_equal(open_descriptors(), before);
	for (int i = 0; i < 40; i++)
		free((char *)many[i].path);
}

/* An experiment of one process whose thread was sampled at the mark, below a call. */
static void write_experiment(void)
{
	struct writer *w = writer_new();
	uint32_t root, call, id;

	assert_true(sym_run("rm -rf exp && mkdir exp"));
	id = writer_module(w, module.path, module.build_id, module.build_id_len);
	root = writer_location(w, 1, 100, 1000);
	call = writer_node(w, 1, root, HYB_NODE_CALL, HYB_CODE(id, mark + 1));
	writer_node(w, 1, call, HYB_NODE_LEAF, HYB_CODE(id, mark));
	writer_node(w, 1, call, HYB_NODE_LEAF, HYB_CODE(0, 0x123456));
	writer_write(w, sym_path("exp/prog.hyb"));
	writer_free(w);
}

/* Resolves, then removes the program and looks: at `path` with these options. */
static void look_at_experiment(const char *path, const struct hyb_symbols_options *options)
{
	const struct hyb_location_info *location;
	struct hyb_experiment *experiment;
	struct hyb_symbols *symbols;
	struct hyb_error err;
	unsigned found = 0;
	size_t count;

	assert_int_equal(hyb_experiment_open(path, &experiment, &err), HYB_OK);
	symbols = hyb_symbols_open(experiment, options, &err);
	assert_non_null(symbols);
	assert_int_equal(hyb_symbols_resolve_all(symbols, &err), HYB_OK);
	assert_true(sym_run("mv prog away"));
	location = &hyb_process_at(experiment, 0)->locations[0];
	for (size_t i = 0; i < location->node_count; i++) {
		const struct hyb_node_info *node = &location->nodes[i];
		const struct hyb_frame *frames = hyb_symbols_lookup(
			symbols, node->module, node->address, node->type == HYB_TYPE_CALL, &count);

		assert_int_equal(count, node->module ? 3 : 1);
		found += !strcmp(frames[0].function, "inner");
	}
	assert_int_equal(found, 2);
	assert_int_equal(hyb_symbols_problem_count(symbols), 0);
	hyb_symbols_close(symbols);
	hyb_experiment_close(experiment);
	assert_true(sym_run("mv away prog"));
}

static void test_experiment(void **state)
{
	struct hyb_symbols_options options = {.no_cache = true};

	(void)state;
	assert_true(sym_run("cp -p kept prog"));
	module.mtime = sym_module("prog").mtime;
	mark = sym_address_of("prog", "mark_inner");
	write_experiment();
	look_at_experiment(sym_path("exp"), &options);
	assert_true(sym_run("test \"$(ls exp)\" = prog.hyb"));
	look_at_experiment(sym_path("exp"), NULL);
	assert_true(sym_run("test -s exp/symbols.cache"));
	look_at_experiment(sym_path("exp/prog.hyb"), NULL);
	assert_true(sym_run("test -s exp/prog.hyb.symbols"));
	assert_true(sym_run("mkdir shared"));
	options = (struct hyb_symbols_options){.cache = sym_path("shared")};
	look_at_experiment(sym_path("exp"), &options);
	assert_true(sym_run("cmp shared/symbols.cache exp/symbols.cache"));
}

/* One experiment follows another, and its modules are where those of the first one were. */
static void test_attach(void **state)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module here = module, other;

	(void)state;
	assert_true(sym_run("gcc -g -O2 -o other %s/sym_inline.c -Wl,--build-id=0x1234567890", SYM_SOURCES));
	other = sym_module("other");
	hyb_symbols_attach(symbols, NULL, NULL);
	assert_int_not_equal(sym_key(symbols, &here, false), 0);
	here = other;
	hyb_symbols_attach(symbols, NULL, NULL);
	assert_int_equal(sym_key(symbols, &here, false), sym_key(symbols, &other, false));
	hyb_symbols_close(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_second_look),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_not_writable),
		cmocka_unit_test(test_no_identity),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_many_modules),
		cmocka_unit_test(test_experiment),
		cmocka_unit_test(test_attach),
	};

	return cmocka_run_group_tests(tests, make_program, remove_program);
}
