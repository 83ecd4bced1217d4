/* Hash tables against what is known by hand: keys that meet, growth, removal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/row_index.h"
#include "base/strings.h"

#define ROWS 1000u

/* Seven rows a hash, in the order in which they came; hashes that differ above the table's room meet, too. */
static void rows_by_hash(void **state)
{
	struct row_index index = {0};
	uint32_t row;
	size_t at = 0;

	assert_false(row_index_next(&index, 0, &at, &row));
	for (unsigned turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; i < ROWS; i++)
			assert_true(row_index_add(&index, i / 7 * 0x10000u, i));
		for (uint32_t hash = 0; hash <= ROWS / 7; hash++) {
			at = 0;
			for (uint32_t i = hash * 7; i < hash * 7 + 7 && i < ROWS; i++) {
				assert_true(row_index_next(&index, hash * 0x10000u, &at, &row));
				assert_int_equal(row, i);
			}
			assert_false(row_index_next(&index, hash * 0x10000u, &at, &row));
		}
		at = 0;
		assert_false(row_index_next(&index, 1, &at, &row));
		row_index_clear(&index);
	}
	row_index_release(&index);
}

/* Every third is taken out, and the others stay where they are found. */
static void removal(void **state)
{
	static int items[ROWS];
	struct map map = {0};

	assert_null(map_remove(&map, MAP_KEY(1)));
	for (uint64_t i = 0; i < ROWS; i++)
		assert_true(map_put(&map, MAP_KEY(i % 10, i / 10), &items[i]));
	for (uint64_t i = 0; i < ROWS; i += 3) {
		assert_ptr_equal(map_remove(&map, MAP_KEY(i % 10, i / 10)), &items[i]);
		assert_null(map_remove(&map, MAP_KEY(i % 10, i / 10)));
	}
	assert_int_equal(map.count, ROWS - (ROWS + 2) / 3);
	for (uint64_t i = 0; i < ROWS; i++)
		assert_ptr_equal(map_get(&map, MAP_KEY(i % 10, i / 10)), i % 3 ? &items[i] : NULL);
	map_release(&map);
}

static void texts_once(void **state)
{
	struct strings strings = {0};
	const char *first[ROWS];
	char text[16];

	for (unsigned turn = 0; turn < 2; turn++)
		for (unsigned i = 0; i < ROWS; i++) {
			snprintf(text, sizeof(text), "%u", i);
			if (!turn)
				first[i] = strings_get(&strings, text);
			assert_ptr_equal(strings_get(&strings, text), first[i]);
			assert_string_equal(first[i], text);
			assert_ptr_equal(strings.texts[i], first[i]);
		}
	assert_int_equal(strings.count, ROWS);
	assert_ptr_equal(strings_add(&strings, "12345", 2), first[12]);
	strings_release(&strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_by_hash),
		cmocka_unit_test(removal),
		cmocka_unit_test(texts_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
