/*
 * libFuzzer target: any bytes as a measurement file. Bytes that begin as a
 * file does are one; others are changes to a sound file, four bytes each
 * (offset in 24 bits, value), so that the fuzzer gets past the first checks. The
 * number of changes chooses the file: one process, several, or one with metrics.
 */
#include <stdlib.h>
#include <string.h>

#include "hyb_writer.h"
#include "reader_help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct writer *make(void)
{
	struct writer *w = writer_new();
	uint64_t region = writer_region(w, "region", "file.c", 1, HYB_REGION_USER);
	uint64_t counter = writer_counter(w, "counter", "unit", 1), text = writer_text(w, "text");
	uint32_t module = writer_module(w, "/bin/prog", "0123", 4);
	uint64_t function = writer_region(w, "f", "f.py", 1, HYB_REGION_PYTHON);

	writer_metadata(w, "key", "value");
	writer_note(w, 1001, HYB_NOTE_INFO, "note");
	writer_child(w, 1002, 5, HYB_CHILD_EXEC, "/bin/true");
	for (uint32_t l = 1; l <= 2; l++) {
		uint32_t root = writer_location(w, l, l, 1000);
		uint32_t probe = writer_node(w, l, root, HYB_NODE_REGION, region);
		uint32_t python = writer_node(w, l, probe, HYB_NODE_PYTHON, HYB_PYTHON(function, 2));
		uint32_t leaf = writer_node(w, l, python, HYB_NODE_LEAF, HYB_CODE(module, 0x1000));

		writer_node(w, l, probe, HYB_NODE_AWAIT, 0);
		writer_open(w, l, probe, 1010);
		writer_enter(w, l, 1010, probe);
		writer_sample(w, l, 1020, leaf, 10, 3, 2);
		writer_count(w, l, 1030, counter, -7);
		writer_marker(w, l, 1040, text);
		writer_trace_break(w, l, false, 1);
		writer_sample(w, l, 1050, leaf, WRITER_NOT_FIRST, 0, 1);
		writer_leave(w, l, 1060);
		writer_complete(w, l, 1061, probe);
		writer_other(w, l, 1062, 99, "xyz", 3);
	}
	help_add_mpi(w, 3);
	return w;
}

static struct writer *make_several(void)
{
	struct writer *w = writer_new();

	for (uint32_t i = 0; i < 3; i++) {
		writer_process(w);
		writer_header(w)->clock_domain = i;
		help_add_mpi(w, 1);
	}
	return w;
}

static struct writer *make_metrics(bool enters)
{
	struct writer *w = writer_new();

	writer_header(w)->trace_events = enters;
	writer_metric(w, "count", "", "of something", HYB_METRIC_COUNT, 0, 10);
	writer_metric(w, "level", "B", "", HYB_METRIC_LEVEL, HYB_METRIC_PROCESS, 0);
	help_add_metrics(w, 1, enters);
	help_add_metrics(w, 2, enters);
	return w;
}

static struct writer *make_any(size_t which)
{
	switch (which % 4) {
	case 0:
		return make();
	case 1:
		return make_several();
	default:
		return make_metrics(which % 4 == 2);
	}
}

static void open_and_read(const void *data, size_t size)
{
	struct hyb_experiment *e;
	struct hyb_error err;

	if (help_open_bytes(data, size, &e, &err))
		return;
	help_read_all(e, true);
	hyb_experiment_close(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct writer *w;
	uint8_t *file;
	size_t length;

	if (size >= 8 && !memcmp(data, HYB_MAGIC, 8)) {
		open_and_read(data, size);
		return 0;
	}
	w = make_any(size / 4);
	file = writer_data(w, &length);
	for (size_t i = 0; i + 4 <= size; i += 4) {
		size_t at = (size_t)data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16;

		file[at % length] = data[i + 3];
	}
	open_and_read(file, size % 4 ? length - (size_t)data[size - 1] * 512 : length);
	writer_free(w);
	return 0;
}
