/* Stacks, frames, functions, sources and texts: the tree of call paths, for all threads. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "converters/events/firefox.h"

#define NONE UINT64_MAX

struct function { /* all of it key */
	uint64_t name; /* text */
	uint64_t source, resource; /* or NONE */
	uint64_t line; /* of its declaration; 0: not known */
};

struct tables {
	struct firefox *f;
	struct row_map functions;
	struct row_map sources, resources; /* uint64_t: pointer of the file's name, of the module's */
	uint32_t *function; /* by node */
};

/* The index of the text in a table of pointers; "" is in none. 0 or HYB_ENOMEM. */
static int index_of(struct row_map *table, const char *text, uint64_t *ret)
{
	uint64_t key = (uintptr_t)text;

	*ret = *text ? row_map_number(table, &key) : NONE;
	return *ret == ROW_NONE ? HYB_ENOMEM : 0;
}

static int make_function(struct tables *t, uint32_t number)
{
	const struct profile_node *node = &t->f->walk.nodes[number];
	bool probe = node->kind == PROFILE_PROBE;
	struct function key = {.name = firefox_text(t->f, events_node_name(&t->f->walk, number)),
		.line = probe ? node->line : node->declared};

	if (key.name == ROW_NONE || index_of(&t->sources, node->file, &key.source) ||
		index_of(&t->resources, path_base(node->module), &key.resource))
		return HYB_ENOMEM;
	t->function[number] = row_map_number(&t->functions, &key);
	return t->function[number] == ROW_NONE ? HYB_ENOMEM : 0;
}

static int make(struct tables *t)
{
	const size_t count = t->f->walk.node_count;

	t->function = calloc(count, sizeof(*t->function));
	if (!t->function)
		return HYB_ENOMEM;
	for (uint32_t i = 1; i < count; i++)
		if (make_function(t, i))
			return HYB_ENOMEM;
	return 0;
}

/* A column in which all rows have the same, which may be: */
struct same {
	const char *key; /* NULL behind the last one of a table */
	int64_t value;
};
enum { IS_NULL = INT32_MIN, IS_FALSE };

static void put_same(struct json *json, const struct same *column, size_t count)
{
	json_array(json, column->key);
	for (size_t i = 0; i < count; i++)
		if (column->value == IS_NULL)
			json_null(json, NULL);
		else if (column->value == IS_FALSE)
			json_bool(json, NULL, false);
		else
			json_signed(json, NULL, column->value);
	json_end(json);
}

static void begin_table(struct json *json, const char *key)
{
	json_line(json);
	json_object(json, key);
}

/* Behind the columns that differ from row to row. */
static void end_table(struct json *json, const struct same *columns, size_t count)
{
	for (; columns->key; columns++)
		put_same(json, columns, count);
	json_number(json, "length", count);
	json_end(json);
}

static void put_number(struct json *json, bool known, uint64_t number)
{
	if (known)
		json_number(json, NULL, number);
	else
		json_null(json, NULL);
}

static void put_stacks(struct json *json, const struct events_walk *walk)
{
	static const struct same none[] = {{0}};

	begin_table(json, "stackTable");
	json_array(json, "frame");
	for (size_t i = 1; i < walk->node_count; i++)
		json_number(json, NULL, i - 1);
	json_end(json);
	json_array(json, "prefix");
	for (size_t i = 1; i < walk->node_count; i++)
		put_number(json, walk->nodes[i].parent, (uint64_t)walk->nodes[i].parent - 1);
	json_end(json);
	end_table(json, none, walk->node_count - 1);
}

static void put_frames(struct json *json, const struct tables *t)
{
	const struct events_walk *walk = &t->f->walk;
	const size_t count = walk->node_count - 1;
	static const struct same same[] = {{"subcategory", 0}, {"address", -1}, {"inlineDepth", 0},
		{"nativeSymbol", IS_NULL}, {"innerWindowID", 0}, {"column", IS_NULL}, {0}};

	begin_table(json, "frameTable");
	json_array(json, "func");
	for (size_t i = 1; i <= count; i++)
		json_number(json, NULL, t->function[i]);
	json_end(json);
	json_array(json, "line");
	for (size_t i = 1; i <= count; i++)
		put_number(json, walk->nodes[i].line, walk->nodes[i].line);
	json_end(json);
	json_array(json, "category");
	for (uint32_t i = 1; i <= count; i++)
		json_number(json, NULL, events_category_of(walk, i));
	json_end(json);
	end_table(json, same, count);
}

static void put_functions(struct json *json, const struct tables *t)
{
	const struct function *functions = t->functions.rows;
	const size_t count = t->functions.count;
	static const struct same same[] = {
		{"columnNumber", IS_NULL}, {"isJS", IS_FALSE}, {"relevantForJS", IS_FALSE}, {0}};

	begin_table(json, "funcTable");
	json_array(json, "name");
	for (size_t i = 0; i < count; i++)
		json_number(json, NULL, functions[i].name);
	json_end(json);
	json_array(json, "source");
	for (size_t i = 0; i < count; i++)
		put_number(json, functions[i].source != NONE, functions[i].source);
	json_end(json);
	json_array(json, "resource");
	for (size_t i = 0; i < count; i++)
		json_signed(json, NULL, (int64_t)functions[i].resource); /* NONE: -1 */
	json_end(json);
	json_array(json, "lineNumber");
	for (size_t i = 0; i < count; i++)
		put_number(json, functions[i].line, functions[i].line);
	json_end(json);
	end_table(json, same, count);
}

/* A table that names its rows in a column: each name becomes one of the texts. 0 or HYB_ENOMEM. */
static int put_named(struct tables *t, const char *key, const struct row_map *table, const char *names,
	const struct same *same)
{
	const uint64_t *rows = table->rows;

	begin_table(&t->f->json, key);
	json_array(&t->f->json, names);
	for (size_t i = 0; i < table->count; i++) {
		uint32_t text = firefox_text(t->f, (const char *)(uintptr_t)rows[i]);

		if (text == ROW_NONE)
			return HYB_ENOMEM;
		json_number(&t->f->json, NULL, text);
	}
	json_end(&t->f->json);
	end_table(&t->f->json, same, table->count);
	return 0;
}

static void put_texts(struct json *json, const struct row_map *table)
{
	const uint64_t *texts = table->rows;

	json_list(json, "stringArray");
	for (size_t i = 0; i < table->count; i++) {
		json_line(json);
		json_text(json, NULL, (const char *)(uintptr_t)texts[i]);
	}
	json_end(json);
}

static int put_all(struct tables *t)
{
	static const struct same of_sources[] = {
		{"id", IS_NULL}, {"startLine", 1}, {"startColumn", 1}, {"sourceMapURL", IS_NULL}, {0}};
	static const struct same of_resources[] = {{"lib", IS_NULL}, {"host", IS_NULL}, {"type", 1}, {0}};
	static const struct same of_symbols[] = {
		{"libIndex", 0}, {"address", 0}, {"name", 0}, {"functionSize", 0}, {0}};
	struct json *json = &t->f->json;

	begin_table(json, "shared");
	put_stacks(json, &t->f->walk);
	put_frames(json, t);
	put_functions(json, t);
	if (put_named(t, "sources", &t->sources, "filename", of_sources) ||
		put_named(t, "resourceTable", &t->resources, "name", of_resources))
		return HYB_ENOMEM;
	begin_table(json, "nativeSymbols");
	end_table(json, of_symbols, 0);
	put_texts(json, &t->f->texts);
	json_end(json);
	return 0;
}

int firefox_put_shared(struct firefox *f)
{
	struct tables t = {.f = f,
		.functions = {.row_size = sizeof(struct function), .key_size = sizeof(struct function)},
		.sources = {.row_size = sizeof(uint64_t), .key_size = sizeof(uint64_t)}};
	int r;

	t.resources = t.sources;
	r = make(&t);
	if (!r)
		r = put_all(&t);
	row_map_release(&t.functions);
	row_map_release(&t.sources);
	row_map_release(&t.resources);
	free(t.function);
	return r;
}
