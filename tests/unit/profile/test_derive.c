/* Expressions of derived metrics: what they are worth, what they do when nodes are summed, and what is said
 * of wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/metrics/derive.h"

static const char *const names[] = {
	"INS", "CYC", "perf::PAGE-FAULTS", "perf::PAGE", "FAULTS", "time", "ipc", "user::my tea", "2x"};
static const bool ratios[] = {false, false, false, false, false, false, true, false, false};
static const double values[] = {300, 100, 7, 20, 3, 0.5, 3, 11, 13};
static const struct derive_names known = {names, ratios, 9};

static void test_values(void **state)
{
	static const struct {
		const char *text;
		double value;
		bool ratio;
	} rows[] = {
		{"INS", 300, false},
		{"INS / CYC", 3, true},
		{"INS+CYC*2", 500, false},
		{"(INS+CYC)*2", 800, false},
		{"2*(INS - -CYC)", 800, false},
		{"INS - CYC - CYC", 100, false},
		{"INS / CYC / 2", 1.5, true},
		{"INS / (CYC / 2)", 6, true},
		{"-INS", -300, false},
		{"- - + INS", 300, false},
		{"INS + 1", 301, true},
		{"INS * CYC", 30000, true},
		{"1 / CYC", 0.01, true},
		{"2 + 3 * 4", 14, true},
		{"INS / 3", 100, false},
		{"INS * (1 + 2)", 900, false},
		{"0.5*INS", 150, false},
		{".5 * INS", 150, false},
		{"1e3", 1000, true},
		{"1.25E-2*CYC", 1.25, false},
		{"64*CYC/time", 12800, true},
		{"perf::PAGE-FAULTS", 7, false},
		{"perf::PAGE - FAULTS", 17, false},
		{"perf::PAGE -FAULTS", 17, false},
		{"\"perf::PAGE\"-FAULTS", 17, false},
		{"\"perf::PAGE-FAULTS\"-FAULTS", 4, false},
		{"perf::PAGE-FAULTS-FAULTS", 4, false},
		{"user::my tea / FAULTS", 11.0 / 3, true},
		{"ipc", 3, true},
		{"ipc * 2", 6, true},
		{"ipc + INS", 303, true},
		{"2x", 13, false},
		{"\tINS ", 300, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct derive_error error;
		struct derive *d = derive_parse(rows[i].text, &known, &error);

		if (!d)
			fail_msg("%s: %s at %zu", rows[i].text, error.text, error.at);
		if (derive_evaluate(d, values) != rows[i].value || derive_is_ratio(d) != rows[i].ratio)
			fail_msg("%s is %g", rows[i].text, derive_evaluate(d, values));
		derive_free(d);
	}
}

static void test_uses(void **state)
{
	struct derive_error error;
	struct derive *d = derive_parse("INS / time", &known, &error);

	assert_true(derive_uses(d, 0));
	assert_false(derive_uses(d, 1));
	assert_true(derive_uses(d, 5));
	derive_free(d);
}

static void test_undefined(void **state)
{
	static const char *const rows[] = {"INS / (CYC - CYC)", "0 / 0", "1 / (1 / 0)", "INS * (2 - 1 / 0)",
		"1e308 * 1e308", "-1e308 * 1e308", "0 * (1 / 0)"};
	static const double none[] = {0, 0, 0, 0, 0, 0, NAN, 0, 0};
	struct derive_error error;
	struct derive *d;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		d = derive_parse(rows[i], &known, &error);
		assert_non_null(d);
		assert_true(isnan(derive_evaluate(d, values)));
		derive_free(d);
	}
	d = derive_parse("0 * ipc", &known, &error);
	assert_true(isnan(derive_evaluate(d, none)));
	derive_free(d);
}

static void test_errors(void **state)
{
	static const struct {
		const char *text;
		size_t at;
		const char *says;
	} rows[] = {
		{"", 0, "is missing at the end"},
		{"   ", 3, "is missing at the end"},
		{"INS /", 5, "is missing at the end"},
		{"INS / / CYC", 6, "is missing in front of this"},
		{"INS CYC", 4, "an operator is missing"},
		{"INS 2", 4, "an operator is missing"},
		{"(INS", 4, "a ) is missing at the end"},
		{"(INS CYC)", 5, "an operator or ) is missing"},
		{"INS)", 3, "no ( to this"},
		{"()", 1, "in front of this"},
		{"INS % 2", 4, "an operator is missing"},
		{"2 ^ 3", 2, "an operator is missing"},
		{"1.2.3", 3, "does not go on like this"},
		{"3INS", 1, "does not go on like this"},
		{"1e", 2, "exponent"},
		{"1e+ 3", 3, "exponent"},
		{"1e999", 0, "too large"},
		{"\"INS", 0, "closing"},
		{"INS / CYCL", 6, "no metric CYCL; similar: CYC"},
		{"INSCYC", 0, "no metric INSCYC"},
		{"perf::page-faults", 0, "no metric perf::page; similar: perf::PAGE-FAULTS, perf::PAGE"},
		{"\"page-faults\"", 0, "no metric page-faults; similar: perf::PAGE-FAULTS"},
		{"\"\"", 0, "there is no metric"},
		{"INS;", 3, "an operator is missing"},
		{"\n", 0, "in front of this"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct derive_error error = {0};

		assert_null(derive_parse(rows[i].text, &known, &error));
		if (error.at != rows[i].at || !strstr(error.text, rows[i].says))
			fail_msg("%s: %s at %zu", rows[i].text, error.text, error.at);
		assert_int_equal(error.unknown, !!strstr(error.text, "there is no metric"));
	}
}

/* Long and deep ones either work or are refused; nothing overflows. */
static void test_hostile(void **state)
{
	static const char *const pieces[] = {"INS", "(", ")", "+", "-", "*", "/", " ", "1", "e", ".", "\"",
		"perf::", "FAULTS", "\xff", "9999999999999999999999", "1e-400"};
	struct derive_error error;
	unsigned seed = 7;
	char *text = malloc(200002);
	struct derive *d;

	memset(text, '(', 200000);
	strcpy(text + 200000, "1");
	assert_null(derive_parse(text, &known, &error));
	assert_non_null(strstr(error.text, "too many parentheses"));
	memset(text, '-', 200000);
	d = derive_parse(text, &known, &error);
	assert_true(derive_evaluate(d, values) == 1);
	derive_free(d);
	text[0] = 0;
	for (unsigned i = 0; i < 50; i++)
		strcat(text, "1+2*(");
	strcat(text, "INS");
	for (unsigned i = 0; i < 50; i++)
		strcat(text, ")");
	d = derive_parse(text, &known, &error);
	assert_non_null(d);
	assert_false(isnan(derive_evaluate(d, values)));
	derive_free(d);
	memset(text, 'x', 100000);
	text[100000] = 0;
	assert_null(derive_parse(text, &known, &error));
	for (unsigned i = 0; i < 100000; i++) {
		text[0] = 0;
		for (unsigned n = 0; n < 1 + i % 9; n++) {
			seed = seed * 1103515245u + 12345u;
			strcat(text, pieces[(seed >> 16) % 17]);
		}
		d = derive_parse(text, &known, &error);
		if (d)
			(void)derive_evaluate(d, values);
		else
			assert_true(error.at <= strlen(text));
		derive_free(d);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_uses),
		cmocka_unit_test(test_undefined),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
