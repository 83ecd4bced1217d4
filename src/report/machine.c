/* JSON and CSV: everything, exactly, in nanoseconds. The man page describes both. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "format/words.h"
#include "diff.h"
#include "table.h"

/* ---------------------------------------------------------------- JSON */

struct machine {
	FILE *out;
	const struct report_options *options;
	const struct report_over *over; /* NULL: no columns over ranks */
	const struct sheet *sheet; /* NULL: no metrics */
	const struct difference *diff; /* in the place of all that */
	uint64_t least; /* ns */
	uint32_t count; /* JSON: nodes printed so far, the id of the next */
	char *path; /* CSV: names down to the node, joined by ';' */
	size_t *levels; /* at each level: JSON: id of the node, CSV: length of the path */
	size_t path_room, level_room;
	bool failed;
};

/* What is left out is what is left out of the text. */
static uint64_t least_of(const struct report_options *options, uint64_t total, uint64_t waited)
{
	return (uint64_t)(options->threshold / 100 * (double)(total > waited ? total - waited : total));
}

static struct machine machine_of(
	FILE *out, const struct report_options *options, const struct profile_node *nodes)
{
	return (struct machine){.out = out,
		.options = options,
		.least = least_of(options, nodes->inclusive, table_waited(options, nodes))};
}

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

static void put_identity(FILE *out, uint8_t kind, const char *name, const char *file, unsigned line)
{
	fputs("\"name\":", out);
	json_string(out, name);
	fprintf(out, ",\"kind\":\"%s\",\"file\":", word_key(&profile_kind_words, kind));
	json_string(out, file);
	fprintf(out, ",\"line\":%u", line);
}

static void put_values(FILE *out, uint64_t samples, uint64_t inclusive, uint64_t exclusive, uint64_t blocked)
{
	fprintf(out,
		",\"samples\":%" PRIu64 ",\"inclusive_ns\":%" PRIu64 ",\"exclusive_ns\":%" PRIu64
		",\"blocked_ns\":%" PRIu64,
		samples, inclusive, exclusive, blocked);
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

	if (m->sheet && m->sheet->set->shown_count)
		return sheet_share(m->sheet, m->sheet->size[i]) >= m->options->threshold;
	return node_at(w, i)->inclusive >= m->least;
}

/* Begins an object: its id, and where it hangs. */
static void begin_node(const struct walker *w)
{
	struct machine *m = w->data;

	m->failed = m->failed || !level_room(m, w->level);
	fprintf(m->out, "%s\n{\"id\":%" PRIu32, m->count ? "," : "", m->count);
	if (w->level && !m->failed)
		fprintf(m->out, ",\"parent\":%zu", m->levels[w->level - 1]);
	else
		fputs(",\"parent\":null", m->out);
	fprintf(m->out, ",\"depth\":%zu,", w->level);
	if (!m->failed)
		m->levels[w->level] = m->count;
	m->count++;
}

static void json_node(const struct walker *w, uint32_t i)
{
	const struct profile_node *n = node_at(w, i);
	const struct machine *m = w->data;
	FILE *out = m->out;

	begin_node(w);
	put_identity(out, n->kind, n->name, n->file, n->line);
	fputs(",\"module\":", out);
	json_string(out, n->module);
	fprintf(out, ",\"calls\":%" PRIu64 ",\"skipped\":%" PRIu64, n->calls, n->skipped);
	put_values(out, n->samples, n->inclusive, n->exclusive, n->blocked);
	fprintf(out, ",\"guess\":%s,\"python\":%s,\"mpi\":%s", n->guess ? "true" : "false",
		n->python ? "true" : "false", n->mpi ? "true" : "false");
	if (n->mpi || n->messages)
		fprintf(out,
			",\"messages\":%" PRIu64 ",\"sent_bytes\":%" PRIu64 ",\"received_bytes\":%" PRIu64,
			n->messages, n->sent, n->received);
	if (m->over)
		report_json_spread(
			out, &m->over->spreads[n->spread], m->over->ranks, m->over->metric ? "" : "_ns");
	if (m->sheet)
		sheet_json(out, m->sheet, i);
	fputc('}', out);
}

/* The list of what the walk enters. */
static int json_nodes(struct walker *walker, struct machine *m)
{
	int r;

	fputs(",\n\"nodes\":[", m->out);
	r = walk(walker, m);
	fputc(']', m->out);
	return r;
}

int report_json_tree(FILE *out, const struct report_options *options, const struct profile_node *nodes,
	const struct report_over *over, const struct sheet *sheet)
{
	struct machine m = machine_of(out, options, nodes);
	struct walker walker = {.tree = nodes,
		.links = node_links,
		.visible = node_visible,
		.depth = options->depth,
		.data = &m,
		.enter = json_node};

	m.over = over;
	m.sheet = sheet;
	if (over && over->metric) {
		fputs(",\n\"over_ranks\":", out);
		json_string(out, over->metric);
	}
	return json_nodes(&walker, &m);
}

static bool diff_visible(const struct walker *w, uint32_t i)
{
	const struct machine *m = w->data;

	return difference_shows(m->diff, m->options, i);
}

static void put_side(
	FILE *out, const char *key, const struct profile_values *v, const struct sheet *sheet, uint32_t node)
{
	if (!v->present) {
		fprintf(out, ",\"%s\":null", key);
		return;
	}
	fprintf(out, ",\"%s\":{\"calls\":%" PRIu64, key, v->calls);
	put_values(out, v->samples, v->inclusive, v->exclusive, v->blocked);
	if (sheet->set->count > 1)
		sheet_json(out, sheet, node);
	fputc('}', out);
}

static void json_diff_node(const struct walker *w, uint32_t i)
{
	const struct machine *m = w->data;
	const struct profile_diff_node *n = &m->diff->nodes[i];

	begin_node(w);
	put_identity(m->out, n->kind, n->name, n->file, n->line);
	fputs(",\"module\":", m->out);
	json_string(m->out, n->module);
	put_side(m->out, "before", &n->before, &m->diff->before, i);
	put_side(m->out, "after", &n->after, &m->diff->after, i);
	fputc('}', m->out);
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

int report_json_diff(FILE *out, const struct report_options *options, const struct difference *d)
{
	struct machine m = {.out = out, .options = options, .diff = d};
	struct walker walker = diff_walker(&m, json_diff_node);

	return json_nodes(&walker, &m);
}

static bool row_is_visible(const struct report_options *options, const struct profile_flat *flat, size_t i,
	uint64_t least, const struct sheet *sheet)
{
	if (sheet && sheet->set->shown_count)
		return sheet_share(sheet, sheet->size[i]) >= options->threshold;
	return table_weight(&flat->rows[i], options->sort) >= least;
}

void report_json_rows(FILE *out, const struct report_options *options, const struct profile_flat *flat,
	const struct sheet *sheet)
{
	uint64_t waited, total = table_total(flat, &waited), least = least_of(options, total, waited);
	const char *comma = "\n";

	fputs(",\n\"rows\":[", out);
	for (size_t i = 0; i < flat->count; i++) {
		const struct profile_row *r = &flat->rows[i];

		if (!row_is_visible(options, flat, i, least, sheet))
			continue;
		fprintf(out, "%s{", comma);
		put_identity(out, r->kind, r->name, r->file, r->line);
		fputs(",\"module\":", out);
		json_string(out, r->module);
		fprintf(out, ",\"calls\":%" PRIu64, r->calls);
		put_values(out, r->samples, r->inclusive, r->exclusive, r->blocked);
		fprintf(out, ",\"guess\":%s,\"python\":%s", r->guess ? "true" : "false",
			r->python ? "true" : "false");
		if (sheet)
			sheet_json(out, sheet, i);
		fputc('}', out);
		comma = ",\n";
	}
	fputc(']', out);
}

void report_json_begin(FILE *out __attribute__((unused)))
{
	fputs("{\"hybrid\":\"" HYBRID_VERSION "\"", out);
}

void report_json_end(FILE *out)
{
	fputs("}\n", out);
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

static void csv_begin(
	const struct walker *w, const char *name, const char *file, unsigned kind, unsigned line)
{
	struct machine *m = w->data;

	m->failed = m->failed || !extend_path(m, w->level, name);
	fprintf(m->out, "%zu,", w->level);
	csv_string(m->out, m->failed ? "" : m->path);
	fputc(',', m->out);
	csv_string(m->out, name);
	fprintf(m->out, ",%s,", word_key(&profile_kind_words, kind));
	csv_string(m->out, file);
	fprintf(m->out, ",%u", line);
}

static void csv_node(const struct walker *w, uint32_t i)
{
	const struct profile_node *n = node_at(w, i);
	const struct machine *m = w->data;
	FILE *out = m->out;

	csv_begin(w, n->name, n->file, n->kind, n->line);
	fputc(',', out);
	csv_string(out, n->module);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d", n->calls,
		n->skipped, n->samples, n->inclusive, n->exclusive, n->blocked, n->guess);
	if (m->over)
		report_csv_spread(out, &m->over->spreads[n->spread], m->over->ranks);
	if (m->sheet)
		sheet_csv(out, m->sheet, i);
	fputc('\n', out);
}

static void csv_side(FILE *out, const struct profile_values *v)
{
	fprintf(out, ",%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, v->present, v->calls,
		v->samples, v->inclusive, v->exclusive, v->blocked);
}

static void csv_diff_node(const struct walker *w, uint32_t i)
{
	const struct machine *m = w->data;
	const struct profile_diff_node *n = &m->diff->nodes[i];

	csv_begin(w, n->name, n->file, n->kind, n->line);
	csv_side(m->out, &n->before);
	csv_side(m->out, &n->after);
	sheet_csv(m->out, &m->diff->before, i);
	sheet_csv(m->out, &m->diff->after, i);
	fputc('\n', m->out);
}

int report_csv_tree(FILE *out, const struct report_options *options, const struct profile_node *nodes,
	const struct report_over *over, const struct sheet *sheet)
{
	struct machine m = machine_of(out, options, nodes);
	struct walker walker = {.tree = nodes,
		.links = node_links,
		.visible = node_visible,
		.depth = options->depth,
		.data = &m,
		.enter = csv_node};

	m.over = over;
	m.sheet = sheet;
	fprintf(out,
		"depth,path,name,kind,file,line,module,calls,skipped,samples,"
		"inclusive_ns,exclusive_ns,blocked_ns,guess%s",
		!over          ? ""
		: over->metric ? "," REPORT_CSV_SPREAD("")
			       : "," REPORT_CSV_SPREAD("_ns"));
	if (sheet)
		sheet_csv_heading(out, sheet->set, "");
	fputc('\n', out);
	return walk(&walker, &m);
}

int report_csv_diff(FILE *out, const struct report_options *options, const struct difference *d)
{
	struct machine m = {.out = out, .options = options, .diff = d};
	struct walker walker = diff_walker(&m, csv_diff_node);

	fputs("depth,path,name,kind,file,line,before,before_calls,before_samples,before_inclusive_ns,"
	      "before_exclusive_ns,before_blocked_ns,after,after_calls,after_samples,after_inclusive_ns,"
	      "after_exclusive_ns,after_blocked_ns",
		out);
	sheet_csv_heading(out, d->set, "before ");
	sheet_csv_heading(out, d->set, "after ");
	fputc('\n', out);
	return walk(&walker, &m);
}

void report_csv_rows(FILE *out, const struct report_options *options, const struct profile_flat *flat,
	const struct sheet *sheet)
{
	uint64_t waited, total = table_total(flat, &waited), least = least_of(options, total, waited);

	fputs("name,kind,file,line,module,calls,samples,inclusive_ns,exclusive_ns,blocked_ns,guess", out);
	if (sheet)
		sheet_csv_heading(out, sheet->set, "");
	fputc('\n', out);
	for (size_t i = 0; i < flat->count; i++) {
		const struct profile_row *r = &flat->rows[i];

		if (!row_is_visible(options, flat, i, least, sheet))
			continue;
		csv_string(out, r->name);
		fprintf(out, ",%s,", word_key(&profile_kind_words, r->kind));
		csv_string(out, r->file);
		fprintf(out, ",%u,", r->line);
		csv_string(out, r->module);
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d", r->calls,
			r->samples, r->inclusive, r->exclusive, r->blocked, r->guess);
		if (sheet)
			sheet_csv(out, sheet, i);
		fputc('\n', out);
	}
}
