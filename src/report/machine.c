/* JSON and CSV: everything, exactly, in nanoseconds. The man page describes both. */
#include <stdlib.h>
#include <string.h>

#include "format/words.h"
#include "diff.h"

/* ---------------------------------------------------------------- JSON */

struct machine {
	struct json *json; /* or csv */
	struct csv csv;
	const struct report_options *options;
	const struct sheet *sheet;
	const struct difference *diff; /* in the place of both */
	uint32_t count; /* JSON: nodes printed so far, the id of the next */
	char *path; /* CSV: names down to the node, joined by ';' */
	size_t *levels; /* at each level: JSON: id of the node, CSV: length of the path */
	size_t path_room, level_room;
	bool failed;
};

/* Makes room for m->levels[level]; if there is none, nothing is right any more. */
static bool level_room(struct machine *m, size_t level)
{
	size_t room = 2 * level + 64, *levels;

	if (level < m->level_room)
		return true;
	levels = realloc(m->levels, room * sizeof(*levels));
	if (!levels)
		return false;
	m->levels = levels;
	m->level_room = room;
	return true;
}

static int walk(struct walker *walker, struct machine *m)
{
	int r = report_walk(walker);

	free(m->path);
	free(m->levels);
	return r || m->failed ? HYB_ENOMEM : 0;
}

static void put_identity(struct json *json, uint8_t kind, const char *name, const char *file, unsigned line,
	const char *module)
{
	json_text(json, "name", name);
	json_text(json, "kind", word_key(&profile_kind_words, kind));
	json_text(json, "file", file);
	json_number(json, "line", line);
	json_text(json, "module", module);
}

static const struct profile_node *node_at(const struct walker *w, uint32_t i)
{
	return (const struct profile_node *)w->tree + i;
}

static void node_links(const void *tree, uint32_t i, uint32_t *ret_child, uint32_t *ret_next)
{
	const struct profile_node *nodes = tree;

	*ret_child = nodes[i].first_child;
	*ret_next = nodes[i].next_sibling;
}

static bool node_visible(const struct walker *w, uint32_t i)
{
	const struct machine *m = w->data;

	return sheet_shows(m->sheet, i);
}

/* Begins an object: its id, and where it hangs. */
static void begin_node(const struct walker *w)
{
	struct machine *m = w->data;

	m->failed = m->failed || !level_room(m, w->level);
	json_line(m->json);
	json_object(m->json, NULL);
	json_number(m->json, "id", m->count);
	if (w->level && !m->failed)
		json_number(m->json, "parent", m->levels[w->level - 1]);
	else
		json_null(m->json, "parent");
	json_number(m->json, "depth", w->level);
	if (!m->failed)
		m->levels[w->level] = m->count;
	m->count++;
}

/* 0: there are no columns over ranks. */
static unsigned view_over_ranks(const struct sheet *sheet)
{
	return !sheet->over ? 0 : sheet->over->metric ? FIELD_OVER_METRIC : FIELD_OVER;
}

static void json_node(const struct walker *w, uint32_t i)
{
	const struct profile_node *n = node_at(w, i);
	const struct machine *m = w->data;
	const struct field_row row = sheet_row(m->sheet, i);

	begin_node(w);
	put_identity(m->json, n->kind, n->name, n->file, n->line, n->module);
	fields_json(m->json, &row, m->sheet->view);
	json_bool(m->json, "guess", n->guess);
	json_bool(m->json, "python", n->python);
	json_bool(m->json, "mpi", n->mpi);
	if (n->mpi || n->messages)
		fields_json(m->json, &row, FIELD_TRAFFIC);
	if (n->most)
		fields_json(m->json, &row, FIELD_EACH_CALL);
	fields_json(m->json, &row, view_over_ranks(m->sheet));
	sheet_json(m->json, m->sheet, i);
	json_end(m->json);
}

/* The list of what the walk enters. */
static int json_nodes(struct walker *walker, struct machine *m)
{
	int r;

	json_line(m->json);
	json_array(m->json, "nodes");
	r = walk(walker, m);
	json_end(m->json);
	return r;
}

static struct walker node_walker(struct machine *m, void (*enter)(const struct walker *walker, uint32_t i))
{
	return (struct walker){.tree = m->sheet->things,
		.links = node_links,
		.visible = node_visible,
		.depth = m->options->depth,
		.data = m,
		.enter = enter};
}

int report_json_tree(struct json *json, const struct sheet *sheet)
{
	struct machine m = {.json = json, .options = sheet->options, .sheet = sheet};
	struct walker walker = node_walker(&m, json_node);

	if (sheet->over && sheet->over->metric) {
		json_line(json);
		json_text(json, "over_ranks", sheet->over->metric);
	}
	return json_nodes(&walker, &m);
}

static bool diff_visible(const struct walker *w, uint32_t i)
{
	const struct machine *m = w->data;

	return difference_shows(m->diff, m->options, i);
}

static void put_side(struct json *json, const char *key, const struct profile_values *v,
	const struct sheet *sheet, uint32_t node)
{
	const struct field_row row = {.now = *v};

	if (!v->present) {
		json_null(json, key);
		return;
	}
	json_object(json, key);
	fields_json(json, &row, FIELD_DIFF);
	sheet_json(json, sheet, node);
	json_end(json);
}

static void json_diff_node(const struct walker *w, uint32_t i)
{
	const struct machine *m = w->data;
	const struct profile_diff_node *n = &m->diff->nodes[i];

	begin_node(w);
	put_identity(m->json, n->kind, n->name, n->file, n->line, n->module);
	put_side(m->json, "before", &n->before, &m->diff->before, i);
	put_side(m->json, "after", &n->after, &m->diff->after, i);
	json_end(m->json);
}

static struct walker diff_walker(struct machine *m, void (*enter)(const struct walker *walker, uint32_t i))
{
	return (struct walker){.tree = m->diff->nodes,
		.links = difference_links,
		.visible = diff_visible,
		.depth = m->options->depth,
		.data = m,
		.enter = enter};
}

int report_json_diff(struct json *json, const struct report_options *options, const struct difference *d)
{
	struct machine m = {.json = json, .options = options, .diff = d};
	struct walker walker = diff_walker(&m, json_diff_node);

	return json_nodes(&walker, &m);
}

void report_json_rows(struct json *json, const struct profile_flat *flat, const struct sheet *sheet)
{
	json_line(json);
	json_array(json, "rows");
	for (size_t i = 0; i < flat->count; i++) {
		const struct profile_row *r = &flat->rows[i];
		const struct field_row row = sheet_row(sheet, i);

		if (!sheet_shows(sheet, i))
			continue;
		json_line(json);
		json_object(json, NULL);
		put_identity(json, r->kind, r->name, r->file, r->line, r->module);
		fields_json(json, &row, sheet->view);
		json_bool(json, "guess", r->guess);
		json_bool(json, "python", r->python);
		sheet_json(json, sheet, i);
		json_end(json);
	}
	json_end(json);
}

/* ----------------------------------------------------------------- CSV */

/* Makes m->path lead to a node of `level`. */
static bool extend_path(struct machine *m, size_t level, const char *name)
{
	size_t start, length = strlen(name);

	if (!level_room(m, level))
		return false;
	start = level ? m->levels[level - 1] : 0;
	if (start + length + 2 > m->path_room) {
		size_t room = 2 * (start + length) + 256;
		char *path = realloc(m->path, room);

		if (!path)
			return false;
		m->path = path;
		m->path_room = room;
	}
	if (level)
		m->path[start++] = ';';
	memcpy(m->path + start, name, length + 1);
	m->levels[level] = start + length;
	return true;
}

static void csv_identity(
	struct csv *csv, const char *name, unsigned kind, const char *file, unsigned line, const char *module)
{
	csv_text(csv, name);
	csv_plain(csv, word_key(&profile_kind_words, kind));
	csv_text(csv, file);
	csv_number(csv, line);
	if (module)
		csv_text(csv, module);
}

static void csv_begin(const struct walker *w, const char *name)
{
	struct machine *m = w->data;

	m->failed = m->failed || !extend_path(m, w->level, name);
	csv_number(&m->csv, w->level);
	csv_text(&m->csv, m->failed ? "" : m->path);
}

static void csv_node(const struct walker *w, uint32_t i)
{
	const struct profile_node *n = node_at(w, i);
	struct machine *m = w->data;
	const struct field_row row = sheet_row(m->sheet, i);

	csv_begin(w, n->name);
	csv_identity(&m->csv, n->name, n->kind, n->file, n->line, n->module);
	fields_csv(&m->csv, &row, m->sheet->view);
	csv_number(&m->csv, n->guess);
	fields_csv(&m->csv, &row, view_over_ranks(m->sheet));
	sheet_csv(&m->csv, m->sheet, i);
	csv_end(&m->csv);
}

static void csv_side(struct csv *csv, const struct profile_values *v)
{
	const struct field_row row = {.now = *v};

	csv_number(csv, v->present);
	fields_csv(csv, &row, FIELD_DIFF);
}

static void csv_diff_node(const struct walker *w, uint32_t i)
{
	struct machine *m = w->data;
	const struct profile_diff_node *n = &m->diff->nodes[i];

	csv_begin(w, n->name);
	csv_identity(&m->csv, n->name, n->kind, n->file, n->line, NULL);
	csv_side(&m->csv, &n->before);
	csv_side(&m->csv, &n->after);
	sheet_csv(&m->csv, &m->diff->before, i);
	sheet_csv(&m->csv, &m->diff->after, i);
	csv_end(&m->csv);
}

int report_csv_tree(FILE *out, const struct sheet *sheet)
{
	struct machine m = {.csv = {.out = out}, .options = sheet->options, .sheet = sheet};
	struct walker walker = node_walker(&m, csv_node);

	csv_plain(&m.csv, "depth,path,name,kind,file,line,module");
	fields_csv_heading(&m.csv, "", sheet->view);
	csv_plain(&m.csv, "guess");
	fields_csv_heading(&m.csv, "", view_over_ranks(sheet));
	sheet_csv_heading(&m.csv, sheet->set, "");
	csv_end(&m.csv);
	return walk(&walker, &m);
}

int report_csv_diff(FILE *out, const struct report_options *options, const struct difference *d)
{
	struct machine m = {.csv = {.out = out}, .options = options, .diff = d};
	struct walker walker = diff_walker(&m, csv_diff_node);

	csv_plain(&m.csv, "depth,path,name,kind,file,line,before");
	fields_csv_heading(&m.csv, "before_", FIELD_DIFF);
	csv_plain(&m.csv, "after");
	fields_csv_heading(&m.csv, "after_", FIELD_DIFF);
	sheet_csv_heading(&m.csv, d->set, "before ");
	sheet_csv_heading(&m.csv, d->set, "after ");
	csv_end(&m.csv);
	return walk(&walker, &m);
}

void report_csv_rows(FILE *out, const struct profile_flat *flat, const struct sheet *sheet)
{
	struct csv csv = {.out = out};

	csv_plain(&csv, "name,kind,file,line,module");
	fields_csv_heading(&csv, "", sheet->view);
	csv_plain(&csv, "guess");
	sheet_csv_heading(&csv, sheet->set, "");
	csv_end(&csv);
	for (size_t i = 0; i < flat->count; i++) {
		const struct profile_row *r = &flat->rows[i];
		const struct field_row row = sheet_row(sheet, i);

		if (!sheet_shows(sheet, i))
			continue;
		csv_identity(&csv, r->name, r->kind, r->file, r->line, r->module);
		fields_csv(&csv, &row, sheet->view);
		csv_number(&csv, r->guess);
		sheet_csv(&csv, sheet, i);
		csv_end(&csv);
	}
}
