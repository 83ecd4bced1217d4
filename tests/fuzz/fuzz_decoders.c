/* libFuzzer target: any bytes as a TRACE chunk, as a record of MPI, as a DEFS chunk, and as a table of Python
 * lines; behind a J as names of code made at run time, behind a G as the table of functions of Go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binary/go_table.h"
#include "binary/jit.h"
#include "format/mpi_record.h"
#include "runtime/python/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_trace(const uint8_t *data, size_t size, struct trace_layout layout)
{
	struct trace_record record;
	struct trace trace;
	uint64_t tick;
	size_t at;

	trace_init(&trace, data, size, layout);
	for (tick = trace.tick, at = trace_offset(&trace); trace_next(&trace, &record) > 0;) {
		if (record.tick < tick || trace_offset(&trace) <= at || trace_offset(&trace) > size)
			abort();
		tick = record.tick;
		at = trace_offset(&trace);
	}
}

/* The first byte chooses the subtype. */
static void read_mpi(const uint8_t *data, size_t size)
{
	struct mpi_record record = {.peer = 4711};
	int result;

	if (!size)
		return;
	result = mpi_record_decode(data[0] % (HYB_OTHER_UNMEASURED + 2), data + 1, size - 1, &record);
	if ((result == 1) == (record.peer == 4711 && !record.offset))
		abort();
}

static void read_defs(const void *data, size_t size)
{
	const struct hyb_def *def;
	struct def_cursor defs;

	def_cursor_init(&defs, data, size);
	while ((def = def_cursor_next(&defs))) {
		const struct def_kind *kind = def_kind(def->type);
		const char *texts[DEF_TEXTS];

		if (def_cursor_offset(&defs, def) + def->size > size)
			abort();
		if (!kind || !def_texts(def, texts))
			continue;
		for (unsigned i = 0; i < DEF_TEXTS && kind->texts[i].name; i++)
			if (texts[i] + strlen(texts[i]) >= (const char *)def + def->size)
				abort();
	}
}

/* The first bytes choose the instruction. */
static void read_lines(const uint8_t *data, size_t size)
{
	uint32_t instruction;

	if (size < sizeof(instruction))
		return;
	memcpy(&instruction, data, sizeof(instruction));
	data += sizeof(instruction);
	size -= sizeof(instruction);
	for (unsigned format = 0u; format <= PYTHON_LINES_LOCATIONS + 1; format++) {
		if (python_line(format, data, size, 7, 0) != 7)
			abort();
		python_line(format, data, size, UINT32_MAX, instruction);
		python_line(format, data, size, 7, instruction % (uint32_t)(8 * size + 1));
	}
}

static void look_up(const struct sym_jit *jit, uint64_t address, const struct sym_jit_when *when)
{
	struct hyb_frame frame;
	uint64_t start, end;

	if (!sym_jit_find(jit, address, when, &frame, &start, &end))
		return;
	if (start > address || end <= address || !*frame.function || strlen(frame.file) > 1u << 20)
		abort();
}

/* As a map and as a dump, of the same file; looked up wherever it may say that there is code. */
static void read_code(const uint8_t *data, size_t size)
{
	const struct sym_jit_when when = {size ? data[0] : 0, size ? data[size - 1] : 0};
	struct sym_jit *jit;
	char path[64], text[5] = "";
	uint64_t word;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/fuzz_decoders-%d", (int)getpid());
	file = fopen(path, "we");
	if (!file)
		abort();
	fwrite(data, 1, size, file);
	fclose(file);
	jit = sym_jit_open(path, path);
	unlink(path);
	for (size_t i = 0; jit && i + sizeof(word) <= size; i++) {
		memcpy(&word, data + i, sizeof(word));
		look_up(jit, word, &when);
		look_up(jit, strtoull(memcpy(text, data + i, 4), NULL, 16), &when);
	}
	sym_jit_close(jit);
}

/* The head is right but for the offsets. */
static void read_go(const uint8_t *data, size_t size)
{
	static const uint8_t begin[] = {0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8};
	uint8_t *copy = malloc(size + sizeof(begin));
	struct go_table table;

	if (!copy)
		return;
	memcpy(copy, begin, sizeof(begin));
	memcpy(copy + sizeof(begin), data, size);
	if (go_table_init(&table, copy, size + sizeof(begin)))
		for (uint64_t offset = 0; offset < 4096; offset += offset < 64 ? 1 : 37) {
			uint64_t start, end, address = table.text + offset;
			struct hyb_frame frame;

			if (!go_table_find(&table, address, &frame, &start, &end))
				continue;
			if (!*frame.function || strlen(frame.file) > size || start > address ||
				end <= address)
				abort();
		}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (size && data[0] == 'G') {
		read_go(data + 1, size - 1);
		return 0;
	}
	if (size && data[0] == 'J') {
		read_code(data + 1, size - 1);
		return 0;
	}
	copy = malloc(size ? size : 1);
	if (!copy)
		return 0;
	/* Exactly as large and aligned as a chunk in a reader's buffer. */
	memcpy(copy, data, size);
	read_trace(data, size, (struct trace_layout){0});
	read_trace(data, size, (struct trace_layout){2, false, true});
	read_trace(data, size, (struct trace_layout){HYB_METRICS_MAX, true, true});
	read_mpi(data, size);
	read_defs(copy, size);
	read_lines(copy, size);
	free(copy);
	return 0;
}
