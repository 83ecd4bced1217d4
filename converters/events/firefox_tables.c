/* Stacks, frames, functions, sources and texts: the tree of call paths, for all threads. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
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
	struct table functions;
	struct table sources, resources; /* uint64_t: pointer of the file's name, of the module's */
	uint32_t *function; /* by node */
};

/* The index of the text in a table of pointers; "" is in none. 0 or HYB_ENOMEM. */
static int index_of(struct table *table, const char *text, uint64_t *ret)
{
	uint64_t key = (uintptr_t)text, *row;

	*ret = NONE;
	if (!*text)
		return 0;
	row = table_row(table, &key);
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
	row = table_row(&t->functions, &key);
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
static void put_same(FILE *out, const char *key, const char *value, size_t count)
{
	fprintf(out, "\"%s\":[", key);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? "," : "", value);
	fputs("],", out);
}

static void put_number(FILE *out, bool first, bool known, uint64_t number)
{
	if (known)
		fprintf(out, "%s%" PRIu64, first ? "" : ",", number);
	else
		fputs(first ? "null" : ",null", out);
}

static void put_stacks(const struct tables *t)
{
	const struct events_walk *walk = &t->f->walk;
	FILE *out = t->f->out;

	fputs("\"stackTable\":{\"frame\":[", out);
	for (size_t i = 1; i < walk->node_count; i++)
		put_number(out, i == 1, true, i - 1);
	fputs("],\"prefix\":[", out);
	for (size_t i = 1; i < walk->node_count; i++)
		put_number(out, i == 1, walk->nodes[i].parent, (uint64_t)walk->nodes[i].parent - 1);
	fprintf(out, "],\"length\":%zu},\n", walk->node_count - 1);
}

static void put_frames(const struct tables *t)
{
	const struct events_walk *walk = &t->f->walk;
	const size_t count = walk->node_count - 1;
	FILE *out = t->f->out;

	fputs("\"frameTable\":{\"func\":[", out);
	for (size_t i = 1; i <= count; i++)
		put_number(out, i == 1, true, t->function[i]);
	fputs("],\"line\":[", out);
	for (size_t i = 1; i <= count; i++)
		put_number(out, i == 1, walk->nodes[i].line, walk->nodes[i].line);
	fputs("],\"category\":[", out);
	for (uint32_t i = 1; i <= count; i++)
		put_number(out, i == 1, true, events_category_of(walk, i));
	fputs("],", out);
	put_same(out, "subcategory", "0", count);
	put_same(out, "address", "-1", count);
	put_same(out, "inlineDepth", "0", count);
	put_same(out, "nativeSymbol", "null", count);
	put_same(out, "innerWindowID", "0", count);
	put_same(out, "column", "null", count);
	fprintf(out, "\"length\":%zu},\n", count);
}

static void put_functions(const struct tables *t)
{
	const struct function *functions = t->functions.rows;
	const size_t count = t->functions.count;
	FILE *out = t->f->out;

	fputs("\"funcTable\":{\"name\":[", out);
	for (size_t i = 0; i < count; i++)
		put_number(out, !i, true, functions[i].name);
	fputs("],\"source\":[", out);
	for (size_t i = 0; i < count; i++)
		put_number(out, !i, functions[i].source != NONE, functions[i].source);
	fputs("],\"resource\":[", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRId64, i ? "," : "", (int64_t)functions[i].resource); /* NONE: -1 */
	fputs("],\"lineNumber\":[", out);
	for (size_t i = 0; i < count; i++)
		put_number(out, !i, functions[i].line, functions[i].line);
	fputs("],", out);
	put_same(out, "columnNumber", "null", count);
	put_same(out, "isJS", "false", count);
	put_same(out, "relevantForJS", "false", count);
	fprintf(out, "\"length\":%zu},\n", count);
}

/* Both of the tables that name their rows: each name becomes one of the texts. 0 or HYB_ENOMEM. */
static int put_texts_of(struct tables *t, const struct table *table, const char *key)
{
	const uint64_t *rows = table->rows;

	fprintf(t->f->out, "\"%s\":[", key);
	for (size_t i = 0; i < table->count; i++) {
		uint32_t text = firefox_text(t->f, (const char *)(uintptr_t)rows[i]);

		if (text == UINT32_MAX)
			return HYB_ENOMEM;
		put_number(t->f->out, !i, true, text);
	}
	fputs("],", t->f->out);
	return 0;
}

static int put_sources(struct tables *t)
{
	const size_t files = t->sources.count, modules = t->resources.count;
	FILE *out = t->f->out;
	int r;

	fputs("\"sources\":{", out);
	r = put_texts_of(t, &t->sources, "filename");
	put_same(out, "id", "null", files);
	put_same(out, "startLine", "1", files);
	put_same(out, "startColumn", "1", files);
	put_same(out, "sourceMapURL", "null", files);
	fprintf(out, "\"length\":%zu},\n\"resourceTable\":{", files);
	r = r ? r : put_texts_of(t, &t->resources, "name");
	put_same(out, "lib", "null", modules);
	put_same(out, "host", "null", modules);
	put_same(out, "type", "1", modules);
	fprintf(out, "\"length\":%zu},\n", modules);
	fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":"
	      "0},\n",
		out);
	return r;
}

static void put_texts(const struct tables *t)
{
	const uint64_t *texts = t->f->texts.rows;

	fputs("\"stringArray\":[", t->f->out);
	for (size_t i = 0; i < t->f->texts.count; i++) {
		fputs(i ? ",\n" : "\n", t->f->out);
		json_string(t->f->out, (const char *)(uintptr_t)texts[i]);
	}
	fputs("]", t->f->out);
}

int firefox_put_shared(struct firefox *f)
{
	struct tables t = {.f = f,
		.functions = {.row_size = sizeof(struct function), .key_size = sizeof(struct function)},
		.sources = {.row_size = sizeof(uint64_t), .key_size = sizeof(uint64_t)}};
	int r;

	t.resources = t.sources;
	r = make(&t);
	if (!r) {
		fputs("\"shared\":{\n", f->out);
		put_stacks(&t);
		put_frames(&t);
		put_functions(&t);
		r = put_sources(&t);
		put_texts(&t);
		fputs("}", f->out);
	}
	table_release(&t.functions);
	table_release(&t.sources);
	table_release(&t.resources);
	free(t.function);
	return r;
}
