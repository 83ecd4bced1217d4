/* What lines cost, where their files are, and what is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/views/views.h"
#include "profile/profile_fixture.h"
#include "viewer/model/lines.h"
#include "viewer/model/paths.h"
#include "viewer/model/source.h"

/* ------------------------------------------------------------------ lines */

/*
 * 1000 ns, 10 samples, all in one file:
 *   main:9 > f:1 (2)   main:9 > f:5 > f:1 (3)   main:9 > f:5 > f:5 > f:2 (4)   main:9 > g:7 (1)
 */
static struct profile *make(enum profile_mode mode)
{
	struct fixture *f = fixture_new();
	uint32_t top = fixture_call(f, 0, "main", 9);
	uint32_t once = fixture_call(f, top, "f", 5);
	uint32_t twice = fixture_call(f, once, "f", 5);

	fixture_root(f, 1000, 1000);
	fixture_leaf(f, top, "f", 1, 2);
	fixture_leaf(f, once, "f", 1, 3);
	fixture_leaf(f, twice, "f", 2, 4);
	fixture_leaf(f, top, "g", 7, 1);
	return fixture_profile(f, mode, 1);
}

static const char *file_of(const struct profile *p)
{
	return find_node(p, PROFILE_LEAF, "g", 7)->file;
}

static const struct line_cost *find_cost(const struct lines *lines, const char *file, unsigned line)
{
	size_t count;
	const struct line_cost *of_file = lines_of(lines, file, &count);
	const struct line_cost *cost = lines_at(of_file, count, line);

	if (!cost)
		fail_msg("no line %u", line);
	return cost;
}

static void test_routines(void **state)
{
	struct profile *p = make(PROFILE_ROUTINE);
	struct lines lines = {0};
	size_t count;

	assert_int_equal(lines_make(p, NULL, &lines), 0);
	assert_int_equal(lines.total, 1000);
	assert_int_equal(find_cost(&lines, file_of(p), 1)->exclusive, 500);
	assert_int_equal(find_cost(&lines, file_of(p), 1)->samples, 5);
	assert_string_equal(find_cost(&lines, file_of(p), 1)->name, "f");
	assert_int_equal(find_cost(&lines, file_of(p), 2)->exclusive, 400);
	assert_int_equal(find_cost(&lines, file_of(p), 7)->exclusive, 100);
	/* Calls have no lines here. */
	assert_null(lines_at(lines_of(&lines, file_of(p), &count), count, 9));
	assert_null(lines_of(&lines, "/nowhere.c", &count));
	assert_int_equal(count, 0);
	assert_null(lines_at(NULL, 0, 1));
	lines_release(&lines);
	profile_free(p);
}

static void test_callsites(void **state)
{
	struct profile *p = make(PROFILE_CALLSITE);
	struct lines lines = {0};

	assert_int_equal(lines_make(p, NULL, &lines), 0);
	assert_int_equal(find_cost(&lines, file_of(p), 9)->inclusive, 1000);
	assert_int_equal(find_cost(&lines, file_of(p), 9)->exclusive, 0);
	/* 300 below the first and 400 below the second, which is inside of it. */
	assert_int_equal(find_cost(&lines, file_of(p), 5)->inclusive, 700);
	assert_int_equal(find_cost(&lines, file_of(p), 1)->inclusive, 500);
	lines_release(&lines);
	profile_free(p);
}

/* All lines are those of the flat view: exclusive times and samples, whatever the tree. */
static void test_against_flat(void **state)
{
	for (unsigned seed = 1; seed <= 30; seed++) {
		struct profile *p = fixture_profile(fixture_random(seed, 300), PROFILE_CALLSITE, 1);
		struct profile_tree flat;
		struct lines lines = {0};
		uint64_t exclusive = 0, samples = 0, of_rows = 0, samples_of_rows = 0;

		assert_int_equal(lines_make(p, NULL, &lines), 0);
		assert_int_equal(profile_flat(p, PROFILE_BY_LINE, PROFILE_SORT_EXCLUSIVE, &flat), 0);
		for (size_t i = 0; i < lines.count; i++) {
			exclusive += lines.items[i].exclusive;
			samples += lines.items[i].samples;
		}
		for (size_t i = 0; i < flat.count; i++) {
			const struct profile_node *row = &flat.nodes[i];

			if (!row->line || !*row->file)
				continue;
			of_rows += row->exclusive;
			samples_of_rows += row->samples;
			assert_true(find_cost(&lines, row->file, row->line)->exclusive >= row->exclusive);
			assert_true(find_cost(&lines, row->file, row->line)->inclusive >= row->inclusive);
		}
		assert_int_equal(exclusive, of_rows);
		assert_int_equal(samples, samples_of_rows);
		profile_tree_release(&flat);
		lines_release(&lines);
		profile_free(p);
	}
}

static void test_hot(void **state)
{
	struct profile *p = make(PROFILE_ROUTINE);
	struct lines lines = {0};
	const struct line_cost *of_file;
	atomic_bool stop = true;
	size_t count;

	assert_int_equal(lines_make(p, &stop, &lines), 1);
	assert_int_equal(lines_make(p, NULL, &lines), 0);
	of_file = lines_of(&lines, file_of(p), &count);
	assert_int_equal(lines_hot(of_file, count, 0, 0), 1);
	assert_int_equal(lines_hot(of_file, count, 0, 1), 1);
	assert_int_equal(lines_hot(of_file, count, 1, 1), 2);
	assert_int_equal(lines_hot(of_file, count, 2, 1), 7);
	assert_int_equal(lines_hot(of_file, count, 7, 1), 0);
	assert_int_equal(lines_hot(of_file, count, 7, -1), 2);
	assert_int_equal(lines_hot(of_file, count, 1, -1), 0);
	assert_int_equal(lines_hot(NULL, 0, 1, 1), 0);
	lines_release(&lines);
	profile_free(p);
}

/* ------------------------------------------------------------------ paths */

static void check_paths(const struct paths *paths, const char *file, const char *expected)
{
	static const char *const beside[] = {"/run/here", NULL};
	char text[1000] = "";
	size_t count = 0;
	char **found = paths_of(paths, file, beside, &count);

	assert_non_null(found);
	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", found[i]);
	assert_string_equal(text, expected);
	paths_free(found, count);
}

static void test_paths(void **state)
{
	struct paths paths = {0};

	check_paths(&paths, "/build/a/b.c", "/build/a/b.c");
	check_paths(&paths, "a/b.c", "/run/here/a/b.c a/b.c");
	assert_int_equal(paths_add(&paths, "/build/=/home/me/"), 0);
	check_paths(&paths, "/build/a/b.c", "/home/me/a/b.c /build/a/b.c");
	/* Only whole parts of a path. */
	check_paths(&paths, "/building/b.c", "/building/b.c");
	check_paths(&paths, "/build", "/home/me /build");
	assert_int_equal(paths_add(&paths, "/src"), 0);
	check_paths(
		&paths, "/build/a/b.c", "/src/build/a/b.c /src/a/b.c /src/b.c /home/me/a/b.c /build/a/b.c");
	assert_int_equal(paths_add(&paths, "/=/root"), 0);
	check_paths(&paths, "/x.c", "/root/x.c /src/x.c /x.c");
	assert_int_equal(paths_add(&paths, "=/x"), -EINVAL);
	assert_int_equal(paths_add(&paths, "/x="), -EINVAL);
	assert_int_equal(paths_add(&paths, ""), -EINVAL);
	paths_release(&paths);
}

/* ----------------------------------------------------------------- source */

static char path[] = "/tmp/hyb-source-XXXXXX";

static void write_file(const char *bytes, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void check_line(const struct source *source, size_t i, const char *expected)
{
	const char *text;
	size_t length = source_line(source, i, &text);

	assert_int_equal(length, strlen(expected));
	assert_memory_equal(text, expected, length);
}

static void test_source(void **state)
{
	static const char bytes[] = "\xef\xbb\xbf"
				    "one\r\n\n\tt\xc3\xa4\nlast\0x";
	struct source source = {0};

	write_file(bytes, sizeof(bytes) - 1);
	assert_int_equal(source_read(path, NULL, &source), 0);
	assert_int_equal(source.count, 4);
	check_line(&source, 0, "one");
	check_line(&source, 1, "");
	check_line(&source, 2, "\tt\xc3\xa4");
	assert_true(source.binary);
	assert_false(source.cut);
	source_release(&source);
	write_file("", 0);
	assert_int_equal(source_read(path, NULL, &source), 0);
	assert_int_equal(source.count, 0);
	source_release(&source);
	write_file("\n", 1);
	assert_int_equal(source_read(path, NULL, &source), 0);
	assert_int_equal(source.count, 1);
	check_line(&source, 0, "");
	source_release(&source);
}

static void test_odd_files(void **state)
{
	atomic_bool stop = true;
	struct source source = {0};

	assert_int_equal(source_read("/nowhere/at/all.c", NULL, &source), -ENOENT);
	assert_int_equal(source_read("/tmp", NULL, &source), -EISDIR);
	assert_int_equal(source_read("/dev/null", NULL, &source), -EINVAL);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(source_read(path, NULL, &source), -EINVAL);
	unlink(path);
	/* Larger than what is shown: the rest is left out, and that is said. */
	write_file("a\nb\n", 4);
	assert_int_equal(truncate(path, (off_t)SOURCE_BYTES_MAX + 1000), 0);
	assert_int_equal(source_read(path, &stop, &source), -ECANCELED);
	assert_int_equal(source_read(path, NULL, &source), 0);
	assert_true(source.cut && source.binary);
	assert_int_equal(source.count, 3);
	check_line(&source, 1, "b");
	source_release(&source);
}

static void test_many_lines(void **state)
{
	size_t size = SOURCE_LINES_MAX + 5;
	char *bytes = malloc(size);
	struct source source = {0};

	assert_non_null(bytes);
	memset(bytes, '\n', size);
	write_file(bytes, size);
	free(bytes);
	assert_int_equal(source_read(path, NULL, &source), 0);
	assert_true(source.cut);
	assert_int_equal(source.count, SOURCE_LINES_MAX);
	check_line(&source, SOURCE_LINES_MAX - 1, "");
	source_release(&source);
}

static int set_up(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routines),
		cmocka_unit_test(test_callsites),
		cmocka_unit_test(test_against_flat),
		cmocka_unit_test(test_hot),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_odd_files),
		cmocka_unit_test(test_many_lines),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
