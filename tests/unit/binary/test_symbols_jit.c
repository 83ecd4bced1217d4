/* Names of code made at run time: maps and dumps, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "binary/jit.h"

static char map_path[64], dump_path[64];

static int make_paths(void **state)
{
	(void)state;
	snprintf(map_path, sizeof(map_path), "/tmp/test_symbols_jit-%d.map", (int)getpid());
	snprintf(dump_path, sizeof(dump_path), "/tmp/test_symbols_jit-%d.dump", (int)getpid());
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	unlink(map_path);
	unlink(dump_path);
	return 0;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* "NAME FILE:LINE", or "" if nothing is known; valid until the next one. */
static const char *name_at(const struct sym_jit *jit, uint64_t address, uint64_t time, uint64_t map_size)
{
	static char text[256];
	struct sym_jit_when when = {time, map_size};
	struct hyb_frame frame;
	uint64_t start, end;

	if (!sym_jit_find(jit, address, &when, &frame, &start, &end))
		return "";
	assert_true(start <= address && address < end);
	snprintf(text, sizeof(text), *frame.file ? "%s %s:%u" : "%s", frame.function, frame.file, frame.line);
	return text;
}

static struct sym_jit *open_map(const char *text)
{
	write_file(map_path, text, strlen(text));
	return sym_jit_open(map_path, NULL);
}

static void test_map_lines(void **state)
{
	struct sym_jit *jit = open_map("7f0000001000 20 first name, with blanks\n"
				       "0x7f0000002000 0x10 other\n"
				       "not a line\n"
				       "7f0000003000 10\n"
				       "7f0000003000 0 empty\n"
				       "ffffffffffffffff0 10 too long\n"
				       "ffffffffffff0000 10 not of a program\n"
				       "7f0000004000 ffffffffffffffff around the end\n"
				       "-7f0000005000 10 negative\n"
				       "7f0000006000 8 cut");

	(void)state;
	assert_non_null(jit);
	assert_string_equal(name_at(jit, 0x7f0000001000, 0, 0), "first name, with blanks");
	assert_string_equal(name_at(jit, 0x7f000000101f, 0, 0), "first name, with blanks");
	assert_string_equal(name_at(jit, 0x7f0000001020, 0, 0), "");
	assert_string_equal(name_at(jit, 0x7f0000002008, 0, 0), "other");
	for (uint64_t at = 0x7f0000003000; at <= 0x7f0000006000; at += 0x1000)
		assert_string_equal(name_at(jit, at, 0, 0), "");
	assert_string_equal(name_at(jit, 0xffffffffffff0008, 0, 0), "");
	sym_jit_close(jit);
	assert_null(sym_jit_open("/tmp/there is no such file", NULL));
	assert_null(sym_jit_open("/tmp", NULL));
}

/* What the map had when code was met decides, as later lines are about later code. */
static void test_map_order(void **state)
{
	const char *text = "7000 100 old\n7000 80 new\n7080 10 newest\n";
	struct sym_jit *jit = open_map(text);

	(void)state;
	assert_string_equal(name_at(jit, 0x7010, 0, 13), "old");
	assert_string_equal(name_at(jit, 0x7010, 0, 25), "new");
	assert_string_equal(name_at(jit, 0x7084, 0, 25), "old");
	assert_string_equal(name_at(jit, 0x7084, 0, strlen(text)), "newest");
	/* Written in the end only, as by Java: the first that is told. */
	assert_string_equal(name_at(jit, 0x7010, 0, 0), "old");
	assert_string_equal(name_at(jit, 0x70f0, 0, strlen(text)), "old");
	sym_jit_close(jit);
}

/* ------------------------------------------------------------------ dumps */

static uint8_t dump[4096];
static size_t dump_size;

static void put(const void *bytes, size_t size)
{
	memcpy(dump + dump_size, bytes, size);
	dump_size += size;
}

static void put32(uint32_t v)
{
	put(&v, sizeof(v));
}

static void put64(uint64_t v)
{
	put(&v, sizeof(v));
}

static void put_name(const char *name)
{
	put(name, strlen(name) + 1);
}

static void begin_dump(uint64_t flags)
{
	dump_size = 0;
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(62);
	put32(0);
	put32(4711);
	put64(1);
	put64(flags);
}

static void put_load(uint64_t time, uint64_t address, uint32_t size, const char *name)
{
	static const uint8_t code[256];

	put32(0);
	put32(16 + 8 + 32 + (uint32_t)strlen(name) + 1 + size);
	put64(time);
	put32(1);
	put32(1);
	put64(address);
	put64(address);
	put64(size);
	put64(0);
	put_name(name);
	put(code, size);
}

static void put_lines(uint64_t address, uint64_t shift)
{
	put32(2);
	put32(16 + 16 + 2 * 16 + 5 + 2);
	put64(0);
	put64(address);
	put64(2);
	put64(address + shift);
	put32(10);
	put32(0);
	put_name("a.js");
	put64(address + shift + 8);
	put32(12);
	put32(0);
	put_name("\xff");
}

static void put_move(uint64_t time, uint64_t from, uint64_t to, uint64_t size)
{
	put32(1);
	put32(16 + 8 + 40);
	put64(time);
	put32(1);
	put32(1);
	put64(to);
	put64(from);
	put64(to);
	put64(size);
	put64(0);
}

static void make_dump(uint64_t flags)
{
	begin_dump(flags);
	put_lines(0x7000, 0x40);
	put_load(100, 0x7000, 0x20, "one");
	put_lines(0x8000, 0);
	put_load(200, 0x8000, 0x20, "two");
	put_load(300, 0x7000, 0x10, "three");
	put_move(400, 0x8000, 0x9000, 0x20);
}

static struct sym_jit *open_dump(void)
{
	write_file(dump_path, dump, dump_size);
	return sym_jit_open(NULL, dump_path);
}

static void test_dump_times(void **state)
{
	struct sym_jit *jit;

	(void)state;
	make_dump(0);
	jit = open_dump();
	assert_string_equal(name_at(jit, 0x7000, 150, 0), "one a.js:10");
	assert_string_equal(name_at(jit, 0x700c, 150, 0), "one a.js:12");
	assert_string_equal(name_at(jit, 0x7004, 350, 0), "three");
	assert_string_equal(name_at(jit, 0x7018, 350, 0), "one a.js:12");
	assert_string_equal(name_at(jit, 0x7004, 50, 0), "one a.js:10");
	assert_string_equal(name_at(jit, 0x8009, 1000, 0), "two a.js:12");
	assert_string_equal(name_at(jit, 0x9009, 1000, 0), "two");
	assert_string_equal(name_at(jit, 0x9020, 1000, 0), "");
	sym_jit_close(jit);
	/* With times of another clock the last one holds. */
	make_dump(1);
	jit = open_dump();
	assert_string_equal(name_at(jit, 0x7004, 50, 0), "three");
	sym_jit_close(jit);
}

/* The dump knows more than the map, which is asked where the dump is silent. */
static void test_both(void **state)
{
	struct sym_jit *jit;

	(void)state;
	make_dump(0);
	write_file(dump_path, dump, dump_size);
	write_file(map_path, "7000 20 map\na000 10 map\n", 24);
	jit = sym_jit_open(map_path, dump_path);
	assert_string_equal(name_at(jit, 0x7000, 150, 24), "one a.js:10");
	assert_string_equal(name_at(jit, 0xa000, 150, 24), "map");
	sym_jit_close(jit);
}

/* Each prefix, and each byte replaced by each of some: nothing is read that is not there. */
static void test_damage(void **state)
{
	static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff};
	size_t size;

	(void)state;
	make_dump(0);
	size = dump_size;
	for (size_t cut = 0; cut <= size; cut++) {
		struct sym_jit *jit;

		dump_size = cut;
		jit = open_dump();
		assert_non_null(jit);
		name_at(jit, 0x7004, 150, 0);
		sym_jit_close(jit);
	}
	dump_size = size;
	for (size_t at = 0; at < size; at++) {
		uint8_t saved = dump[at];

		for (size_t i = 0; i < sizeof(bytes); i++) {
			struct sym_jit *jit;

			dump[at] = bytes[i];
			jit = open_dump();
			assert_non_null(jit);
			for (uint64_t address = 0x7000; address < 0x9100; address += 8)
				name_at(jit, address, 150, 0);
			sym_jit_close(jit);
		}
		dump[at] = saved;
	}
}

/* Thousands of pieces of code at one address, and inside one another, end in time. */
static void test_many(void **state)
{
	FILE *file = fopen(map_path, "w");
	struct sym_jit *jit;
	long size;

	(void)state;
	assert_non_null(file);
	for (unsigned i = 0; i < 200000; i++)
		fprintf(file, "%x %x f%u\n", 0x10000 + i % 1000, 0x10000, i);
	size = ftell(file);
	fclose(file);
	jit = sym_jit_open(map_path, NULL);
	for (uint64_t at = 0x10000; at < 0x20000; at += 16)
		assert_string_not_equal(name_at(jit, at, 0, (uint64_t)size), "");
	sym_jit_close(jit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_lines),
		cmocka_unit_test(test_map_order),
		cmocka_unit_test(test_dump_times),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, make_paths, remove_files);
}
