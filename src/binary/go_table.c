#include "binary/go_table.h"

#include <string.h>

#include "base/blob.h"
#include "base/search.h"

#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

/* As it begins in the file. */
struct head {
	uint32_t magic;
	uint8_t zero[2], instruction, pointer; /* bytes of the least one, and of each pointer */
	uint64_t functions, files, text;
	uint64_t name_part, unit_part, file_part, value_part, function_part; /* offsets */
};

/* Of a function: an offset from where the code begins, and one from where these records do. */
struct entry {
	uint32_t start, record;
};

struct record {
	uint32_t start, name, arguments, deferred, frame_values, file_values, line_values, data, unit,
		first_line;
};

/* Copies what is in the table: nothing there is aligned. False: it is not. */
static bool copy(const struct go_table *table, uint64_t at, void *to, size_t size)
{
	if (at > table->size || size > table->size - at)
		return false;
	memcpy(to, table->bytes + at, size);
	return true;
}

/* NULL: there is no text that ends. */
static const char *text_at(const struct go_table *table, uint64_t at)
{
	return at < table->size && memchr(table->bytes + at, '\0', table->size - at)
		       ? (const char *)table->bytes + at
		       : NULL;
}

bool go_table_init(struct go_table *table, const void *bytes, size_t size)
{
	struct go_table t = {.bytes = bytes, .size = size};
	struct head head;

	if (!copy(&t, 0, &head, sizeof(head)) || head.pointer != 8 || head.instruction != 1)
		return false;
	if ((head.magic != MAGIC_1_18 && head.magic != MAGIC_1_20) || !head.text)
		return false;
	if (head.name_part > size || head.unit_part > size || head.file_part > size || head.value_part > size)
		return false;
	/* one entry more ends the list */
	if (head.function_part > size || head.functions >= (size - head.function_part) / sizeof(struct entry))
		return false;
	t.text = head.text;
	t.count = head.functions;
	t.names = head.name_part;
	t.units = head.unit_part;
	t.files = head.file_part;
	t.values = head.value_part;
	t.functions = head.function_part;
	t.has_first_lines = head.magic == MAGIC_1_20;
	*table = t;
	return true;
}

static struct entry entry_at(const struct go_table *table, uint64_t i)
{
	struct entry entry = {0};

	copy(table, table->functions + i * sizeof(entry), &entry, sizeof(entry));
	return entry;
}

/* The last entry that does not start behind the code at `offset`. */
static uint64_t search(const struct go_table *table, uint64_t offset)
{
	return SEARCH(i, table->count - 1, entry_at(table, i + 1).start <= offset);
}

/* The value that a list of changes has `distance` bytes into a function; -1: none. */
static int64_t value_at(const struct go_table *table, uint64_t list, uint64_t distance)
{
	struct blob_reader reader = {NULL, table->bytes + table->size};
	uint64_t passed = 0, change;
	int64_t value = -1;

	if (list < table->size - table->values)
		reader.at = table->bytes + table->values + list;
	for (bool first = true; reader.at; first = false) {
		change = blob_get(&reader);
		if (!change && !first)
			break;
		value = (int32_t)(value + unzigzag(change & UINT32_MAX));
		passed += blob_get(&reader);
		if (reader.at && distance < passed)
			return value;
	}
	return -1;
}

static const char *file_at(const struct go_table *table, const struct record *record, uint64_t distance)
{
	int64_t number = record->file_values ? value_at(table, record->file_values, distance) : -1;
	uint32_t offset;

	if (number < 0 || !copy(table, table->units + 4 * ((uint64_t)record->unit + (uint64_t)number),
				  &offset, sizeof(offset)))
		return NULL;
	return offset == UINT32_MAX ? NULL : text_at(table, table->files + offset);
}

bool go_table_find(const struct go_table *table, uint64_t address, struct hyb_frame *ret_frame,
	uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t offset = address - table->text, i, at;
	struct entry entry, next;
	struct record record = {0};
	const char *name, *file;
	int64_t line;

	if (!table->count || address < table->text)
		return false;
	i = search(table, offset);
	entry = entry_at(table, i);
	next = entry_at(table, i + 1);
	at = table->functions + entry.record;
	if (offset < entry.start || offset >= next.start ||
		!copy(table, at, &record, sizeof(record) - (table->has_first_lines ? 0 : 4)))
		return false;
	name = text_at(table, table->names + record.name);
	if (!name || !*name)
		return false;
	*ret_frame = (struct hyb_frame){.function = name, .file = "", .function_line = record.first_line};
	file = file_at(table, &record, offset - entry.start);
	line = file && record.line_values ? value_at(table, record.line_values, offset - entry.start) : -1;
	if (file)
		ret_frame->file = file;
	ret_frame->line = line > 0 ? (unsigned)line : 0;
	*ret_start = table->text + entry.start;
	*ret_end = table->text + next.start;
	return true;
}
