/* Tables of lines, made by hand after the descriptions of their formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "runtime/python/lines.h"

#define FIRST 100

/* The line of the instruction at a byte offset. */
#define AT(format, table, offset) python_line(format, table, sizeof(table), FIRST, (offset) / 2 + 1)

static void test_not_begun(void **state)
{
	static const uint8_t table[] = {6, 1};

	for (unsigned format = 0u; format <= PYTHON_LINES_LOCATIONS; format++) {
		assert_int_equal(python_line(format, table, sizeof(table), FIRST, 0), FIRST);
		assert_int_equal(python_line(format, NULL, 0, FIRST, 0), FIRST);
	}
	assert_int_equal(python_line(0u, table, sizeof(table), FIRST, 1), 0);
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS + 1, table, sizeof(table), FIRST, 1), 0);
}

static void test_lnotab(void **state)
{
	/* 0: 101; 6: 151; 50: 351 by two pairs for the line; 350: 350 by two for the address, backwards. */
	static const uint8_t table[] = {0, 1, 6, 50, 44, 127, 0, 73, 255, 0, 45, 0xff};

	assert_int_equal(AT(PYTHON_LINES_LNOTAB, table, 0), 101);
	assert_int_equal(AT(PYTHON_LINES_LNOTAB, table, 4), 101);
	assert_int_equal(AT(PYTHON_LINES_LNOTAB, table, 6), 151);
	assert_int_equal(AT(PYTHON_LINES_LNOTAB, table, 48), 151);
	assert_int_equal(AT(PYTHON_LINES_LNOTAB, table, 50), 351);
	assert_int_equal(AT(PYTHON_LINES_LNOTAB, table, 348), 351);
	assert_int_equal(AT(PYTHON_LINES_LNOTAB, table, 350), 350);
	assert_int_equal(AT(PYTHON_LINES_LNOTAB, table, 100000), 350);
	assert_int_equal(python_line(PYTHON_LINES_LNOTAB, table, 0, FIRST, 9), FIRST);
	assert_int_equal(python_line(PYTHON_LINES_LNOTAB, table, 1, FIRST, 9), FIRST);
}

static void test_linetable(void **state)
{
	/* 0 to 4: 100; to 6: none; to 10: 98; a line far away by two pairs, to 14: 318. */
	static const uint8_t table[] = {4, 0, 2, 0x80, 4, 0xfe, 0, 120, 4, 100};

	assert_int_equal(AT(PYTHON_LINES_LINETABLE, table, 0), 100);
	assert_int_equal(AT(PYTHON_LINES_LINETABLE, table, 2), 100);
	assert_int_equal(AT(PYTHON_LINES_LINETABLE, table, 4), 0);
	assert_int_equal(AT(PYTHON_LINES_LINETABLE, table, 6), 98);
	assert_int_equal(AT(PYTHON_LINES_LINETABLE, table, 8), 98);
	assert_int_equal(AT(PYTHON_LINES_LINETABLE, table, 10), 318);
	assert_int_equal(AT(PYTHON_LINES_LINETABLE, table, 12), 318);
	assert_int_equal(AT(PYTHON_LINES_LINETABLE, table, 14), 0);
	assert_int_equal(python_line(PYTHON_LINES_LINETABLE, table, sizeof(table) - 1, FIRST, 6), 0);
}

#define ENTRY(code, units) (0x80 | (code) << 3 | ((units)-1))

static void test_locations(void **state)
{
	static const uint8_t table[] = {
		ENTRY(13, 1), 0, /* 0: 100, no columns */
		ENTRY(2, 2), 0x35, /* 2, 4: 100, columns in short */
		ENTRY(11, 1), 4, 9, /* 6: 101 */
		ENTRY(12, 1), 4, 9, /* 8: 103 */
		ENTRY(15, 8), /* 10 to 24: none */
		ENTRY(14, 1), 0x58, 0x09, 0x41, 0x01, 5, 7, /* 26: by 300 (24 + 9 * 64 = 600): 403 */
		ENTRY(14, 3), 0x07, 0, 5, 7, /* 28 to 32: by -3: 400 */
		ENTRY(10, 1), 0, 1, /* 34: 400 */
	};

	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 0), 100);
	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 2), 100);
	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 4), 100);
	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 6), 101);
	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 8), 103);
	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 10), 0);
	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 24), 0);
	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 26), 403);
	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 28), 400);
	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 32), 400);
	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 34), 400);
	assert_int_equal(AT(PYTHON_LINES_LOCATIONS, table, 36), 0);
}

/* The examples of docs/format.md. */
static void test_documented(void **state)
{
	static const uint8_t lnotab[] = {0x00, 0x01, 0x06, 0x02};
	static const uint8_t linetable[] = {0x04, 0x00, 0x02, 0x80, 0x04, 0xfe};
	static const uint8_t locations[] = {0xe8, 0x05, 0xd9, 0x04, 0x09, 0xf9};
	static const unsigned lines[3][6] = {
		{11, 11, 11, 13, 13, 13}, {10, 10, 0, 8, 8, 0}, {8, 9, 9, 0, 0, 0}};

	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(python_line(PYTHON_LINES_LNOTAB, lnotab, 4, 10, i + 1), lines[0][i]);
		assert_int_equal(python_line(PYTHON_LINES_LINETABLE, linetable, 6, 10, i + 1), lines[1][i]);
		assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, locations, 6, 10, i + 1), lines[2][i]);
	}
}

/* A module's first instruction is on line 0 in 3.11 and later: it is on none. */
static void test_no_line_below_one(void **state)
{
	static const uint8_t back[] = {ENTRY(13, 1), 0x03}, far_back[] = {ENTRY(13, 1), 0x7f, 0x3f};
	static const uint8_t lnotab[] = {0, 0x9c};

	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, back, sizeof(back), 1, 1), 0);
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, back, sizeof(back), 2, 1), 1);
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, far_back, sizeof(far_back), 1, 1), 0);
	assert_int_equal(AT(PYTHON_LINES_LNOTAB, lnotab, 0), 0);
}

/* Any bytes, in memory of exactly their size: no read outside (sanitizers say so), no wild line. */
static void test_damage(void **state)
{
	unsigned seed = 1;

	for (size_t size = 0; size < 400; size++) {
		uint8_t *table = malloc(size ? size : 1);

		assert_non_null(table);
		for (size_t i = 0; i < size; i++)
			table[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
		for (unsigned format = 0u; format <= PYTHON_LINES_LOCATIONS; format++) {
			for (uint32_t instruction = 1; instruction < 50; instruction++)
				assert_true(
					python_line(format, table, size, FIRST, instruction) <= INT32_MAX);
			assert_true(python_line(format, table, size, UINT32_MAX, UINT32_MAX) <= INT32_MAX);
		}
		free(table);
	}
}

/* A number that goes on and on, and one that the table's end cuts. */
static void test_endless_numbers(void **state)
{
	uint8_t table[64];

	memset(table, 0x7f, sizeof(table));
	table[0] = ENTRY(14, 1);
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, table, sizeof(table), FIRST, 1), FIRST);
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, table, 3, FIRST, 1), FIRST);
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, table, 1, FIRST, 1), FIRST);
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, table, 1, FIRST, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_begun),
		cmocka_unit_test(test_lnotab),
		cmocka_unit_test(test_linetable),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_documented),
		cmocka_unit_test(test_no_line_below_one),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_endless_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
