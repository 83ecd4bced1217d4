/* Containers, names and paths of the symbols code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/map.h"
#include "base/strings.h"
#include "base/map.h"
#include "base/strings.h"
#include "binary/name.h"
#include "binary/ranges.h"

static void test_map(void **state)
{
	struct map map = {0};
	static int values[5000];

	(void)state;
	assert_null(map_get(&map, MAP_KEY(1, 2)));
	for (uint64_t i = 0; i < 5000; i++)
		assert_true(map_put(&map, MAP_KEY(i * 4096, i % 7), &values[i]));
	for (uint64_t i = 0; i < 5000; i++) {
		assert_ptr_equal(map_get(&map, MAP_KEY(i * 4096, i % 7)), &values[i]);
		assert_null(map_get(&map, MAP_KEY(i * 4096, 7)));
	}
	map_put(&map, MAP_KEY(0), &values[9]);
	assert_ptr_equal(map_get(&map, MAP_KEY(0)), &values[9]);
	assert_int_equal(map.count, 5000);
	map_release(&map);
}

static void test_strings(void **state)
{
	struct strings store = {0};
	const char *a = strings_add(&store, "abc", 3);

	(void)state;
	assert_string_equal(a, "abc");
	assert_ptr_equal(strings_add(&store, "abcd", 3), a);
	assert_ptr_not_equal(strings_add(&store, "abd", 3), a);
	assert_string_equal(strings_add(&store, "", 0), "");
	/* The lowest bit of a string's address is used by its users. */
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(
			(uintptr_t)strings_add(&store, "0123456789012345678901234567890123456789", i) & 1, 0);
	strings_release(&store);
}

/* The same question answered by looking at every range. */
static int64_t slow_find(const struct sym_range *all, size_t n, uint64_t address)
{
	const struct sym_range *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (all[i].lo <= address && address < all[i].hi &&
			(!best || all[i].lo > best->lo ||
				(all[i].lo == best->lo &&
					(all[i].hi < best->hi ||
						(all[i].hi == best->hi && all[i].value > best->value)))))
			best = &all[i];
	return best ? (int64_t)best->value : -1;
}

static void test_ranges(void **state)
{
	unsigned short seed[3] = {1, 2, 3};

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct sym_ranges ranges = {0};
		struct sym_range all[60];
		size_t n = (size_t)(nrand48(seed) % 60);

		for (size_t i = 0; i < n; i++) {
			all[i].lo = (uint64_t)(nrand48(seed) % 100);
			all[i].hi = all[i].lo + (uint64_t)(nrand48(seed) % (i % 3 ? 8 : 60));
			all[i].value = (uint32_t)i;
			assert_int_equal(sym_ranges_add(&ranges, all[i].lo, all[i].hi, all[i].value), 0);
		}
		sym_ranges_sort(&ranges);
		for (uint64_t address = 0; address < 170; address++) {
			const struct sym_range *found = sym_ranges_find(&ranges, address);

			assert_int_equal(found ? (int64_t)found->value : -1, slow_find(all, n, address));
		}
		sym_ranges_release(&ranges);
	}
}

static void test_paths(void **state)
{
	static const char *const cases[][3] = {
		{NULL, "/a/b.c", "/a/b.c"},
		{"/comp", "b.c", "/comp/b.c"},
		{"/comp", "/a/b.c", "/a/b.c"},
		{"comp", "b.c", "b.c"},
		{"/comp/build", "../src/./b.c", "/comp/src/b.c"},
		{NULL, "/a//b/../../../c", "/c"},
		{NULL, "../../x/../y", "../../y"},
		{NULL, "x/../y/z", "y/z"},
		{NULL, "/", "/"},
		{NULL, "/..", "/"},
		{NULL, "./a", "a"},
		{NULL, "/a/.../b..c/..d", "/a/.../b..c/..d"},
		{NULL, "<built-in>", "<built-in>"},
		{"/comp/", "", "/comp"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *path = sym_normalise_path(cases[i][0], cases[i][1]);

		assert_string_equal(path, cases[i][2]);
		free(path);
	}
}

/* Names as the compilers' documentation and the ABI's examples have them. */
static void test_demangle(void **state)
{
	static const char *const cases[][2] = {
		{"_ZN5space3BoxIiE3putEiRKSs", "space::Box<int>::put"},
		{"_Z1fv", "f"},
		{"_Z3maxIiET_S0_S0_", "max<int>"},
		{"_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden"},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
		{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
	};
	char *long_name = calloc(1, 100000);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *name = sym_demangle(cases[i][0]);

		assert_non_null(name);
		assert_string_equal(name, cases[i][1]);
		free(name);
	}
	assert_null(sym_demangle("main"));
	assert_null(sym_demangle("_start"));
	assert_null(sym_demangle("_Z"));
	assert_null(sym_demangle(""));
	memset(long_name, 'P', 99999);
	memcpy(long_name, "_Z1f", 4);
	assert_null(sym_demangle(long_name));
	free(long_name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_demangle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
