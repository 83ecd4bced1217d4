/* JSON and CSV: everything, exactly, in nanoseconds. The man page describes both. */
#include <stdlib.h>
#include <string.h>

#include "format/words.h"
#include "sheet.h"

/* ---------------------------------------------------------------- JSON */

struct machine {
	struct json *json; /* or csv */
	struct csv csv;
	uint32_t count; /* JSON: nodes printed so far, the id of the next */
	char *path; /* CSV: names down to the node, joined by ';' */
	size_t path_room;
	bool failed;
};

static void put_identity(struct json *json, const struct profile_node *n)
{
	json_text(json, "name", n->name);
	json_text(json, "kind", word_key(&profile_kind_words, n->kind));
	json_text(json, "file", n->file);
	json_number(json, "line", n->line);
	json_text(json, "module", n->module);
}

/* Begins an object: its id, and where it hangs. */
static void begin_node(const struct walker *w)
{
	struct machine *m = w->data;

	json_row(m->json);
	json_number(m->json, "id", m->count);
	if (w->level)
		json_number(m->json, "parent", w->levels[w->level - 1].mark);
	else
		json_null(m->json, "parent");
	json_number(m->json, "depth", w->level);
	w->levels[w->level].mark = m->count++;
}

/* 0: there are no columns over ranks. */
static unsigned view_over_ranks(const struct sheet *sheet)
{
	return !sheet->over ? 0 : sheet->over->metric ? FIELD_OVER_METRIC : FIELD_OVER;
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

static void put_values(struct json *json, const struct sheet *sheet, uint32_t i)
{
	const struct profile_node *n = &sheet->nodes[i];
	const struct field_row row = sheet_row(sheet, i);

	fields_json(json, &row, sheet->view);
	json_bool(json, "guess", n->guess);
	json_bool(json, "python", n->python);
	json_bool(json, "mpi", n->mpi);
	if (n->mpi || n->messages)
		fields_json(json, &row, FIELD_TRAFFIC);
	if (n->most)
		fields_json(json, &row, FIELD_EACH_CALL);
	fields_json(json, &row, view_over_ranks(sheet));
	sheet_json(json, sheet, i);
}

static void json_node(const struct walker *w, uint32_t i)
{
	const struct sheet *sheet = w->sheet;
	const struct profile_node *n = &sheet->nodes[i];
	struct json *json = ((const struct machine *)w->data)->json;

	begin_node(w);
	put_identity(json, n);
	if (sheet->base) {
		put_side(json, "before", &sheet->pairs[i].before, sheet->base, i);
		put_side(json, "after", &sheet->pairs[i].after, sheet, i);
	} else {
		put_values(json, sheet, i);
	}
	json_end(json);
}

int report_json_tree(struct json *json, const struct sheet *sheet)
{
	struct machine m = {.json = json};
	struct walker walker = {.sheet = sheet, .data = &m, .enter = json_node};
	int r;

	if (sheet->over && sheet->over->metric) {
		json_line(json);
		json_text(json, "over_ranks", sheet->over->metric);
	}
	json_list(json, "nodes");
	r = report_walk(&walker);
	json_end(json);
	return r;
}

int report_json_rows(struct json *json, const struct sheet *sheet)
{
	json_list(json, "rows");
	for (size_t i = 0; i < sheet->count; i++) {
		const struct profile_node *n = &sheet->nodes[i];
		const struct field_row row = sheet_row(sheet, i);

		if (!sheet_shows(sheet, i))
			continue;
		json_row(json);
		put_identity(json, n);
		fields_json(json, &row, sheet->view);
		json_bool(json, "guess", n->guess);
		json_bool(json, "python", n->python);
		sheet_json(json, sheet, i);
		json_end(json);
	}
	json_end(json);
	return 0;
}

/* ----------------------------------------------------------------- CSV */

/* Makes m->path lead to the current node. */
static bool extend_path(const struct walker *w, struct machine *m, const char *name)
{
	size_t start = w->level ? w->levels[w->level - 1].mark : 0, length = strlen(name);

	if (start + length + 2 > m->path_room) {
		size_t room = 2 * (start + length) + 256;
		char *path = realloc(m->path, room);

		if (!path)
			return false;
		m->path = path;
		m->path_room = room;
	}
	if (w->level)
		m->path[start++] = ';';
	memcpy(m->path + start, name, length + 1);
	w->levels[w->level].mark = start + length;
	return true;
}

static void csv_identity(struct csv *csv, const struct profile_node *n)
{
	csv_text(csv, n->name);
	csv_plain(csv, word_key(&profile_kind_words, n->kind));
	csv_text(csv, n->file);
	csv_number(csv, n->line);
}

static void csv_side(struct csv *csv, const struct profile_values *v)
{
	const struct field_row row = {.now = *v};

	csv_number(csv, v->present);
	fields_csv(csv, &row, FIELD_DIFF);
}

static void csv_node(const struct walker *w, uint32_t i)
{
	const struct sheet *sheet = w->sheet;
	const struct profile_node *n = &sheet->nodes[i];
	struct machine *m = w->data;
	const struct field_row row = sheet_row(sheet, i);

	m->failed = m->failed || !extend_path(w, m, n->name);
	csv_number(&m->csv, w->level);
	csv_text(&m->csv, m->failed ? "" : m->path);
	csv_identity(&m->csv, n);
	if (sheet->base) {
		csv_side(&m->csv, &sheet->pairs[i].before);
		csv_side(&m->csv, &sheet->pairs[i].after);
		sheet_csv(&m->csv, sheet->base, i);
	} else {
		csv_text(&m->csv, n->module);
		fields_csv(&m->csv, &row, sheet->view);
		csv_number(&m->csv, n->guess);
		fields_csv(&m->csv, &row, view_over_ranks(sheet));
	}
	sheet_csv(&m->csv, sheet, i);
	csv_end(&m->csv);
}

static void csv_heading(struct csv *csv, const struct sheet *sheet)
{
	if (sheet->base) {
		csv_plain(csv, "depth,path,name,kind,file,line,before");
		fields_csv_heading(csv, "before_", FIELD_DIFF);
		csv_plain(csv, "after");
		fields_csv_heading(csv, "after_", FIELD_DIFF);
		sheet_csv_heading(csv, sheet->set, "before ");
		sheet_csv_heading(csv, sheet->set, "after ");
	} else {
		csv_plain(csv, "depth,path,name,kind,file,line,module");
		fields_csv_heading(csv, "", sheet->view);
		csv_plain(csv, "guess");
		fields_csv_heading(csv, "", view_over_ranks(sheet));
		sheet_csv_heading(csv, sheet->set, "");
	}
	csv_end(csv);
}

int report_csv_tree(FILE *out, const struct sheet *sheet)
{
	struct machine m = {.csv = {.out = out}};
	struct walker walker = {.sheet = sheet, .data = &m, .enter = csv_node};

	int r;

	csv_heading(&m.csv, sheet);
	r = report_walk(&walker);
	free(m.path);
	return r || m.failed ? HYB_ENOMEM : 0;
}

int report_csv_rows(FILE *out, const struct sheet *sheet)
{
	struct csv csv = {.out = out};

	csv_plain(&csv, "name,kind,file,line,module");
	fields_csv_heading(&csv, "", sheet->view);
	csv_plain(&csv, "guess");
	sheet_csv_heading(&csv, sheet->set, "");
	csv_end(&csv);
	for (size_t i = 0; i < sheet->count; i++) {
		const struct profile_node *n = &sheet->nodes[i];
		const struct field_row row = sheet_row(sheet, i);

		if (!sheet_shows(sheet, i))
			continue;
		csv_identity(&csv, n);
		csv_text(&csv, n->module);
		fields_csv(&csv, &row, sheet->view);
		csv_number(&csv, n->guess);
		sheet_csv(&csv, sheet, i);
		csv_end(&csv);
	}
	return 0;
}
