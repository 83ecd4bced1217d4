/* Names of Python's modules by their files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "reader/module_name.h"

static void test_names(void **state)
{
	static const char *const names[][2] = {
		{"/home/u/app.py", "<module app>"},
		{"app.py", "<module app>"},
		{"app", "<module app>"},
		{"/home/u/two.parts.py", "<module two.parts>"},
		{"/v/lib/python3.11/site-packages/numpy/linalg/_linalg.py", "<module numpy.linalg._linalg>"},
		{"/v/lib/python3.11/site-packages/numpy/__init__.py", "<module numpy>"},
		{"/usr/lib/python3/dist-packages/yaml/loader.py", "<module yaml.loader>"},
		{"/usr/lib/python3.11/json/decoder.py", "<module json.decoder>"},
		{"/usr/lib/python3.11/json/__init__.py", "<module json>"},
		{"/home/u/package/__init__.py", "<module package>"},
		{"/home/u/package/__main__.py", "<module package.__main__>"},
		{"/home/u/app.pyz/__main__.py", "<module app.pyz.__main__>"},
		{"__init__.py", "<module __init__>"},
		{"/__init__.py", "<module __init__>"},
		{"<frozen importlib._bootstrap>", "<module importlib._bootstrap>"},
		{"<string>", "<module>"},
		{"<stdin>", "<module>"},
		{"", "<module>"},
		{"/", "<module .>"},
		{".py", "<module .py>"},
	};
	char name[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		module_name(names[i][0], name, sizeof(name));
		assert_string_equal(name, names[i][1]);
	}
}

static void test_cut(void **state)
{
	char file[2000], name[100];

	memset(file, 'a', sizeof(file) - 1);
	file[sizeof(file) - 1] = '\0';
	module_name(file, name, sizeof(name));
	assert_int_equal(strlen(name), sizeof(name) - 1);
	module_name("/home/u/app.py", name, 4);
	assert_string_equal(name, "<mo");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
