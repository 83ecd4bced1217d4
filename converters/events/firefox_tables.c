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
	uint64_t key = (uintptr_t)text, *row;

	*ret = NONE;
	if (!*text)
		return 0;
	row = row_map_row(table, &key);
	if (row)
		*ret = (uint64_t)(row - (uint64_t *)table->rows);
	return row ? 0 : HYB_ENOMEM;
}

static int make_function(struct tables *t, uint32_t number)
{
	const struct profile_node *node = &t->f->walk.nodes[number];
	bool probe = node->kind == PROFILE_PROBE;
	struct function *row, key = {.name = firefox_text(t->f, events_node_name(&t->f->walk, number)),
				      .line = probe ? node->line : node->declared};

	if (key.name == UINT32_MAX || index_of(&t->sources, node->file, &key.source) ||
		index_of(&t->resources, path_base(node->module), &key.resource))
		return HYB_ENOMEM;
	row = row_map_row(&t->functions, &key);
	if (!row)
		return HYB_ENOMEM;
	t->function[number] = (uint32_t)(row - (struct function *)t->functions.rows);
	return 0;
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

/* A column of `count` equal values. */
static void put_same(struct json *json, const char *key, int64_t value, size_t count)
{
	json_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_signed(json, NULL, value);
	json_end(json);
}

static void put_nulls(struct json *json, const char *key, size_t count)
{
	json_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_null(json, NULL);
	json_end(json);
}

static void put_falses(struct json *json, const char *key, size_t count)
{
	json_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_bool(json, NULL, false);
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
	json_line(json);
	json_object(json, "stackTable");
	json_array(json, "frame");
	for (size_t i = 1; i < walk->node_count; i++)
		json_number(json, NULL, i - 1);
	json_end(json);
	json_array(json, "prefix");
	for (size_t i = 1; i < walk->node_count; i++)
		put_number(json, walk->nodes[i].parent, (uint64_t)walk->nodes[i].parent - 1);
	json_end(json);
	json_number(json, "length", walk->node_count - 1);
	json_end(json);
}

static void put_frames(struct json *json, const struct tables *t)
{
	const struct events_walk *walk = &t->f->walk;
	const size_t count = walk->node_count - 1;

	json_line(json);
	json_object(json, "frameTable");
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
	put_same(json, "subcategory", 0, count);
	put_same(json, "address", -1, count);
	put_same(json, "inlineDepth", 0, count);
	put_nulls(json, "nativeSymbol", count);
	put_same(json, "innerWindowID", 0, count);
	put_nulls(json, "column", count);
	json_number(json, "length", count);
	json_end(json);
}

static void put_functions(struct json *json, const struct tables *t)
{
	const struct function *functions = t->functions.rows;
	const size_t count = t->functions.count;

	json_line(json);
	json_object(json, "funcTable");
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
	put_nulls(json, "columnNumber", count);
	put_falses(json, "isJS", count);
	put_falses(json, "relevantForJS", count);
	json_number(json, "length", count);
	json_end(json);
}

/* Both of the tables that name their rows: each name becomes one of the texts. 0 or HYB_ENOMEM. */
static int put_texts_of(struct tables *t, const struct row_map *table, const char *key)
{
	const uint64_t *rows = table->rows;

	json_array(&t->f->json, key);
	for (size_t i = 0; i < table->count; i++) {
		uint32_t text = firefox_text(t->f, (const char *)(uintptr_t)rows[i]);

		if (text == UINT32_MAX)
			return HYB_ENOMEM;
		json_number(&t->f->json, NULL, text);
	}
	json_end(&t->f->json);
	return 0;
}

static int put_sources(struct json *json, struct tables *t)
{
	const size_t files = t->sources.count;

	json_line(json);
	json_object(json, "sources");
	if (put_texts_of(t, &t->sources, "filename"))
		return HYB_ENOMEM;
	put_nulls(json, "id", files);
	put_same(json, "startLine", 1, files);
	put_same(json, "startColumn", 1, files);
	put_nulls(json, "sourceMapURL", files);
	json_number(json, "length", files);
	json_end(json);
	return 0;
}

static int put_resources(struct json *json, struct tables *t)
{
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize"};
	const size_t modules = t->resources.count;

	json_line(json);
	json_object(json, "resourceTable");
	if (put_texts_of(t, &t->resources, "name"))
		return HYB_ENOMEM;
	put_nulls(json, "lib", modules);
	put_nulls(json, "host", modules);
	put_same(json, "type", 1, modules);
	json_number(json, "length", modules);
	json_end(json);
	json_line(json);
	json_object(json, "nativeSymbols");
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		put_nulls(json, symbols[i], 0);
	json_number(json, "length", 0);
	json_end(json);
	return 0;
}

static void put_texts(struct json *json, const struct row_map *table)
{
	const uint64_t *texts = table->rows;

	json_line(json);
	json_array(json, "stringArray");
	for (size_t i = 0; i < table->count; i++) {
		json_line(json);
		json_text(json, NULL, (const char *)(uintptr_t)texts[i]);
	}
	json_end(json);
}

static int put_all(struct tables *t)
{
	struct json *json = &t->f->json;

	json_line(json);
	json_object(json, "shared");
	put_stacks(json, &t->f->walk);
	put_frames(json, t);
	put_functions(json, t);
	if (put_sources(json, t) || put_resources(json, t))
		return HYB_ENOMEM;
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
