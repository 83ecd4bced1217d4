/* All formats, on experiments that a runtime would hardly make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "converters/converter.h"
#include "hyb_writer.h"
#include "reader_help.h"

#define SECOND 1000000000u

static char page[4096]; /* the html page is looked for beside the program */

static int make_page(void **state)
{
	ssize_t n = readlink("/proc/self/exe", page, sizeof(page) - 40);
	FILE *file;

	assert_true(n > 0);
	page[n] = 0;
	strcpy(strrchr(page, '/'), "/hybrid-page.html");
	file = fopen(page, "we");
	assert_non_null(file);
	fputs("<!--DATA-->\n", file);
	assert_int_equal(fclose(file), 0);
	return 0;
}

static int remove_page(void **state)
{
	return unlink(page);
}

/* The text that a format makes of it, to be freed; it has to succeed. */
static char *convert(struct hyb_experiment *e, const char *format, enum convert_counters counters)
{
	static const volatile sig_atomic_t stop;
	const struct converter *converter = converters;
	struct convert_job job = {.experiment = e,
		.bounds = {.threshold = -1},
		.mode = PROFILE_FUNCTION,
		.counters = counters,
		.threads = 1,
		.stop = &stop};
	struct hyb_error err = {0};
	char *text = NULL;
	size_t size;

	while (strcmp(converter->name, format) != 0)
		converter++;
	job.file = open_memstream(&text, &size);
	assert_non_null(job.file);
	if (converter->convert(&job, &err))
		fail_msg("%s: %s", format, err.text);
	assert_int_equal(fclose(job.file), 0);
	return text;
}

/* Files of an experiment may all be unreadable. */
static void nothing(void **state)
{
	struct hyb_experiment *e;
	struct hyb_error err;

	assert_int_equal(hyb_experiment_open_files("nothing", NULL, 0, &e, &err), 0);
	assert_int_equal(hyb_process_count(e), 0);
	for (const struct converter *c = converters; c->name; c++)
		if (c->kind == CONVERT_FILE)
			free(convert(e, c->name, CONVERT_ACCUMULATED));
	hyb_experiment_close(e);
}

/* What a metric grows by may be more than its type can hold. */
static void far_apart(void **state)
{
	static const int64_t values[] = {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX - 1};
	struct writer *w = writer_new();
	struct hyb_experiment *e;
	uint32_t root, node;
	char *text;

	writer_metric(w, "far", "", "", HYB_METRIC_COUNT, 0, 0);
	writer_header(w)->trace_events = 1;
	writer_header(w)->realtime = INT64_MAX; /* and its clock began some time before */
	root = writer_location(w, 1, 100, 1000);
	node = writer_node(w, 1, root, HYB_NODE_REGION, writer_region(w, "r", "", 0, HYB_REGION_USER));
	for (size_t i = 0; i < 4; i++) {
		writer_read(w, 1, &values[i]);
		if (i % 2)
			writer_leave(w, 1, 1000 + (i + 1) * SECOND);
		else
			writer_enter(w, 1, 1000 + (i + 1) * SECOND, node);
	}
	writer_location_end(w, 1, 1000 + 5ull * SECOND);
	e = help_open(w);
	text = convert(e, "chrome", CONVERT_RATE);
	assert_non_null(strstr(text, "\"value\":1.8446744073709552e+19}"));
	assert_non_null(strstr(text, "\"value\":-1.8446744073709552e+19}"));
	free(text);
	for (const struct converter *c = converters; c->name; c++)
		if (c->kind == CONVERT_FILE)
			free(convert(e, c->name, CONVERT_RATE));
	help_close(e, w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(far_apart),
	};

	return cmocka_run_group_tests(tests, make_page, remove_page);
}
