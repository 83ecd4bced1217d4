/* JSON and CSV as they are written: commas, quotes, and what is no number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/json.h"

static char *text;
static size_t size;

static void assert_written(FILE *out, const char *expected)
{
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_nested(void **state)
{
	struct json json = {.out = open_memstream(&text, &size)};

	json_object(&json, NULL);
	json_text(&json, "a\"b", "\xff\n");
	json_array(&json, "empty");
	json_end(&json);
	json_line(&json);
	json_array(&json, "rows");
	for (unsigned i = 0; i < 2; i++) {
		json_line(&json);
		json_object(&json, NULL);
		json_number(&json, "n", UINT64_MAX);
		json_signed(&json, "i", INT64_MIN);
		json_end(&json);
	}
	json_array(&json, NULL);
	json_bool(&json, NULL, true);
	json_null(&json, NULL);
	json_end(&json);
	json_end(&json);
	json_id(&json, "id", 0x1f);
	json_end(&json);
	assert_written(json.out, "{\"a\\\"b\":\"\\ufffd\\u000a\",\"empty\":[],\n\"rows\":["
				 "\n{\"n\":18446744073709551615,\"i\":-9223372036854775808},"
				 "\n{\"n\":18446744073709551615,\"i\":-9223372036854775808},[true,null]],"
				 "\"id\":\"000000000000001f\"}");
}

static void test_what_is_no_number(void **state)
{
	struct json json = {.out = open_memstream(&text, &size)};

	json_array(&json, NULL);
	json_real(&json, NULL, 0.1, 17);
	json_real(&json, NULL, NAN, 17);
	json_fixed(&json, NULL, -INFINITY, 3);
	json_fixed(&json, NULL, 1.0 / 3, 3);
	json_text(&json, NULL, NULL);
	json_end(&json);
	assert_written(json.out, "[0.10000000000000001,null,null,0.333,null]");
}

static void test_exact_numbers(void **state)
{
	static const char expected[] = "[0,10,0.000,0.005,1.000,18446744073709551.615,0.000001,-1,12]";
	struct json json = {.out = open_memstream(&text, &size)};

	json_array(&json, NULL);
	json_number(&json, NULL, 0);
	json_number(&json, NULL, 10);
	json_decimal(&json, NULL, 0, 3);
	json_decimal(&json, NULL, 5, 3);
	json_decimal(&json, NULL, 1000, 3);
	json_decimal(&json, NULL, UINT64_MAX, 3);
	json_decimal(&json, NULL, 1, 6);
	json_signed(&json, NULL, -1);
	json_signed(&json, NULL, 12);
	json_end(&json);
	assert_int_equal(json.written, sizeof(expected) - 1);
	assert_written(json.out, expected);
}

static void test_csv(void **state)
{
	struct csv csv = {.out = open_memstream(&text, &size), .end = "\r\n"};

	csv_plain(&csv, "a,b");
	csv_text(&csv, "c");
	csv_end(&csv);
	csv_empty(&csv);
	csv_text(&csv, "say \"no\",\n\xff");
	csv_real(&csv, NAN, 17);
	csv_fixed(&csv, 2.5, 2);
	csv_signed(&csv, -1);
	csv_id(&csv, 0x2a);
	csv_end(&csv);
	assert_written(
		csv.out, "a,b,\"c\"\r\n,\"say \"\"no\"\",\n\xef\xbf\xbd\",,2.50,-1,000000000000002a\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_what_is_no_number),
		cmocka_unit_test(test_exact_numbers),
		cmocka_unit_test(test_csv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
