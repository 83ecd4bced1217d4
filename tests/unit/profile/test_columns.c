/* Columns of metrics: lists and files of definitions, what they are worth, and what is said of wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/metrics/columns.h"

static const struct profile_metric metrics[] = {
	{.name = "INS", .unit = ""},
	{.name = "CYC", .unit = "", .estimated = true},
	{.name = "perf::PAGE-FAULTS", .unit = ""},
	{.name = "memory::resident", .unit = "B", .level = true},
};
#define METRICS (sizeof(metrics) / sizeof(*metrics))

static int set_up(void **state)
{
	static struct column_set set;

	*state = &set;
	return columns_init(&set, metrics, METRICS);
}

static int tear_down(void **state)
{
	columns_release(*state);
	return 0;
}

static void show(struct column_set *set, const char *list)
{
	struct column_error error;

	if (columns_show(set, list, &error))
		fail_msg("%s: %s", list, error.text);
}

static size_t find(const struct column_set *set, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		if (!strcmp(set->items[i].name, name))
			return i;
	return SIZE_MAX;
}

static const struct column *column(const struct column_set *set, const char *name)
{
	size_t i = find(set, name);

	if (i == SIZE_MAX)
		fail_msg("no column %s", name);
	return &set->items[i];
}

static void assert_shown(const struct column_set *set, const char *const *names, size_t count)
{
	assert_int_equal(set->shown_count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(set->items[set->shown[i]].name, names[i]);
}

static void test_empty(void **state)
{
	struct column_set empty = {0}, *set = *state;

	columns_release(&empty);
	assert_int_equal(set->count, METRICS + 1);
	assert_int_equal(set->metrics, METRICS);
	assert_string_equal(set->items[METRICS].name, "time");
	assert_string_equal(set->items[METRICS].unit, "s");
	assert_true(column(set, "memory::resident")->level);
	assert_true(column(set, "CYC")->estimated);
	assert_int_equal(set->shown_count, 0);
	assert_int_equal(find(set, "in"), SIZE_MAX);
}

static void test_lists(void **state)
{
	static const char *const order[] = {"perf::PAGE-FAULTS", "time"};
	struct column_set *set = *state;
	struct column_error error;
	size_t made;

	show(set, " perf::PAGE-FAULTS , time");
	assert_int_equal(columns_define_line(set, "a,b = 2", &made, &error), -1); /* , separates */
	show(set, "\"perf::PAGE-FAULTS\""); /* once */
	assert_shown(set, order, 2);
	show(set, "INS,ipc = INS / CYC,time");
	assert_int_equal(set->shown_count, 4);
	assert_string_equal(set->items[set->shown[2]].name, "INS");
	assert_string_equal(set->items[set->shown[3]].name, "ipc");
	show(set, "ipc");
	assert_int_equal(set->shown_count, 4);
}

static void test_kinds(void **state)
{
	struct column_set *set = *state;

	show(set, "ipc = INS / CYC, more [B/s] = 64 * INS / time, sum=INS+CYC, grown [B] = 2 * "
		  "memory::resident");
	show(set, "per = memory::resident / INS, of it = ipc * 2, \tspaced\t=\tINS\t");
	assert_true(column(set, "ipc")->ratio);
	assert_true(column(set, "ipc")->estimated);
	assert_string_equal(column(set, "ipc")->unit, "");
	assert_string_equal(column(set, "ipc")->expression, "INS / CYC");
	assert_string_equal(column(set, "more")->unit, "B/s");
	assert_false(column(set, "more")->estimated);
	assert_false(column(set, "sum")->ratio);
	assert_true(column(set, "sum")->estimated);
	assert_true(column(set, "grown")->level);
	assert_false(column(set, "per")->level); /* a ratio does not go up and down */
	assert_true(column(set, "of it")->ratio);
	assert_true(column(set, "of it")->estimated); /* by what it is made of */
	assert_false(column(set, "spaced")->ratio);
}

static void test_values(void **state)
{
	static const struct profile_value values[METRICS] = {
		{300, 30, 0}, {100, 0, 0}, {7, 7, 0}, {-4096, 0, 0}};
	struct column_set *set = *state;
	double inclusive[32], exclusive[32];

	show(set, "ipc = INS / CYC, twice = 2 * ipc, rate = perf::PAGE-FAULTS / time");
	show(set, "sum = INS + CYC * 2, never = INS / 0, of never = never + 1");
	columns_evaluate(set, values, 2, 0.5, inclusive, exclusive);
#define VALUE(array, name) array[find(set, name)]
	assert_true(VALUE(inclusive, "INS") == 300 && VALUE(exclusive, "INS") == 30);
	assert_true(VALUE(inclusive, "memory::resident") == -4096);
	assert_true(VALUE(inclusive, "time") == 2 && VALUE(exclusive, "time") == 0.5);
	assert_true(VALUE(inclusive, "ipc") == 3 && isnan(VALUE(exclusive, "ipc")));
	assert_true(VALUE(inclusive, "twice") == 6 && isnan(VALUE(exclusive, "twice")));
	assert_true(VALUE(inclusive, "rate") == 3.5 && VALUE(exclusive, "rate") == 14);
	assert_true(VALUE(inclusive, "sum") == 500 && VALUE(exclusive, "sum") == 30);
	assert_true(isnan(VALUE(inclusive, "never")) && isnan(VALUE(inclusive, "of never")));
	columns_evaluate(set, NULL, 0, 0, inclusive, exclusive);
	assert_true(VALUE(inclusive, "INS") == 0 && isnan(VALUE(inclusive, "rate")));
}

static void test_lines(void **state)
{
	static const struct {
		const char *line;
		int result;
		const char *text; /* of the error */
	} rows[] = {
		{"", 0, NULL},
		{"  \t\r\n", 0, NULL},
		{"# ipc = nonsense (\n", 0, NULL},
		{"   # indented\n", 0, NULL},
		{"a = INS\r\n", 0, NULL},
		{"a = CYC", -1, "a: there is a metric of that name already"},
		{"time = CYC", -1, "time: there is a metric of that name already"},
		{"INS = CYC", -1, "INS: there is a metric of that name already"},
		{" b INS\n", -1, "b INS: a line is NAME = EXPRESSION"},
		{" = INS", -1, "a name is missing in front of the ="},
		{"[s] = INS", -1, "a name is missing in front of the ="},
		{"b\"c = INS", -1, "b\"c: a name of a metric has no \" [ , in it"},
		{"b [x = INS", -1, "b [x: a name of a metric has no \" [ , in it"},
		{"b [12345678901234567890123456789012] = INS", -1,
			"b [12345678901234567890123456789012]: a unit has less than 32 letters"},
		{"b = INS +", -1,
			"a metric, a number or ( is missing at the end\n    b = INS +\n             ^"},
		{"b = INS CYC", -1,
			"an operator is missing in front of this\n    b = INS CYC\n            ^"},
		{"b =", -1, "a metric, a number or ( is missing at the end\n    b =\n       ^"},
		{"b = PAPI_L1_DCM / INS", 1,
			"there is no metric PAPI_L1_DCM\n    b = PAPI_L1_DCM / INS\n        ^"},
		{"b = b", 1, NULL},
		{"b [] = INS", 0, NULL},
	};
	struct column_set *set = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct column_error error = {""};
		size_t before = set->count, made;
		int r = columns_define_line(set, rows[i].line, &made, &error);

		if (r != rows[i].result || (rows[i].text && strcmp(error.text, rows[i].text)))
			fail_msg("%s: %d, %s", rows[i].line, r, error.text);
		assert_int_equal(made, set->count > before ? before : SIZE_MAX);
		assert_true(set->count == before || !r);
	}
	assert_int_equal(set->shown_count, 0);
}

static void test_wrong_lists(void **state)
{
	static const struct {
		const char *list, *text;
	} rows[] = {
		{"", "a name is missing"},
		{"INS,,CYC", "a name is missing"},
		{"CYC,", "a name is missing"},
		{"perf::PAGE-FALTS", "there is no metric perf::PAGE-FALTS; similar: perf::PAGE-FAULTS; there "
				     "are: INS, CYC, "
				     "perf::PAGE-FAULTS, memory::resident, time"},
		{"ipc = INS / CYK", "there is no metric CYK"},
		{"ipc = (INS", "a ) is missing at the end"},
	};
	struct column_set *set = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct column_error error = {""};

		assert_int_equal(columns_show(set, rows[i].list, &error), -1);
		if (strncmp(error.text, rows[i].text, strlen(rows[i].text)))
			fail_msg("%s: %s", rows[i].list, error.text);
	}
}

/* However long and odd: an error, never more than its room. */
static void test_hostile(void **state)
{
	static const char letters[] = "IN SCY=\"[],+-*/()#0.e\t\x01\xff";
	struct column_set *set = *state;
	struct column_error error;
	char text[2048];
	uint32_t seed = 1;
	size_t made;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(columns_show(set, text, &error), -1);
	assert_int_equal(columns_define_line(set, text, &made, &error), -1);
	text[1000] = '=';
	assert_int_equal(columns_define_line(set, text, &made, &error), 1);
	for (unsigned i = 0; i < 20000 && set->count < 200; i++) {
		unsigned length = i % 24;

		for (unsigned k = 0; k < length; k++) {
			seed = seed * 1103515245u + 12345u;
			text[k] = letters[(seed >> 16) % (sizeof(letters) - 1)];
		}
		text[length] = 0;
		(void)columns_show(set, text, &error);
		(void)columns_define_line(set, text, &made, &error);
	}
	memset(text, 'y', 500);
	strcpy(text + 500, "=INS +");
	assert_int_equal(columns_define_line(set, text, &made, &error), -1);
	assert_non_null(strstr(error.text, "(character 507)"));
}

static bool is_name(char letter)
{
	return letter && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:-", letter);
}

/* All names of metrics in the expressions of a line, as if they were measured. */
static size_t measured_in(const char *line, char names[][64], size_t count)
{
	for (const char *p = strchr(line, '='); p && *p; p++) {
		size_t length = 0, i = 0;

		while (is_name(p[length]))
			length++;
		if (length < 64 && (!strncmp(p, "PAPI_", 5) || memmem(p, length, "::", 2))) {
			while (i < count && (strncmp(names[i], p, length) || names[i][length]))
				i++;
			snprintf(names[i], 64, "%.*s", (int)length, p);
			count += i == count;
		}
		p += length ? length - 1 : 0;
	}
	return count;
}

/* The definitions that come with it are right wherever what they need was measured. */
static void test_examples(void **state)
{
	static char lines[100][256], names[64][64];
	static struct profile_metric measured[64];
	FILE *file = fopen(EXAMPLES "/derived.metrics", "r");
	size_t count = 0, metrics_count = 0, defined = 0;
	struct column_set set;

	assert_non_null(file);
	while (count < 100 && fgets(lines[count], 256, file))
		if (lines[count][0] != '#')
			metrics_count = measured_in(lines[count++], names, metrics_count);
	fclose(file);
	for (size_t i = 0; i < metrics_count; i++)
		measured[i] = (struct profile_metric){.name = names[i], .unit = ""};
	assert_int_equal(columns_init(&set, measured, metrics_count), 0);
	for (size_t i = 0; i < count; i++) {
		struct column_error error;
		size_t made;

		if (columns_define_line(&set, lines[i], &made, &error))
			fail_msg("%s: %s", lines[i], error.text);
		defined += made != SIZE_MAX;
	}
	assert_true(defined >= 15);
	assert_string_equal(column(&set, "bandwidth")->unit, "B/s");
	assert_true(column(&set, "ipc")->ratio);
	assert_false(column(&set, "fresh_memory")->ratio);
	columns_release(&set);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_empty),
		TEST(test_lists),
		TEST(test_kinds),
		TEST(test_values),
		TEST(test_lines),
		TEST(test_wrong_lists),
		TEST(test_hostile),
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
