/* Trees and tables as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "table.h"

#define TINY 0.5 /* percent below which nobody looks for what is missing */
#define HOT 10.0 /* percent from which a time is hot, and warm */
#define WARM 2.0

static double percent(const struct table *t, uint64_t ns)
{
	return t->whole ? (double)ns * 100 / (double)t->whole : 0;
}

void table_init(struct table *t, struct style *style, const struct report_options *options, uint64_t total,
	uint64_t waited)
{
	int digits;

	*t = (struct table){
		.style = style, .options = options, .whole = total > waited ? total - waited : total};
	t->least = (uint64_t)(options->threshold / 100 * (double)t->whole);
	style_set_unit(style, total);
	digits = snprintf(NULL, 0, "%.3f", (double)total / style->unit);
	t->width = digits > 8 ? digits : 8;
}

bool table_has_room(const struct table *t, unsigned columns)
{
	return !t->style->cut || t->style->width >= columns;
}

int table_time(const struct table *t, uint64_t ns, bool blank, bool heat)
{
	double p = percent(t, ns);

	if (blank && !ns)
		return fprintf(t->style->out, "%*s", t->width + 1, "");
	if (heat && p >= WARM)
		style_ink(t->style, p >= HOT ? INK_HOT : INK_WARM);
	fprintf(t->style->out, "%*.3f", t->width + 1, (double)ns / t->style->unit);
	if (heat && p >= WARM)
		style_ink(t->style, INK_PLAIN);
	return t->width + 1;
}

int table_percent(const struct table *t, uint64_t ns)
{
	return fprintf(t->style->out, " %6.1f", percent(t, ns));
}

int table_count(const struct table *t, uint64_t count)
{
	char text[FIGURE_SIZE];

	return fprintf(t->style->out, "%8s", count ? figure_count(count, text) : "");
}

/* ---------------------------------------------------------------- tree */

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
	const struct table *t = w->data;

	if (t->sheet)
		return sheet_shows(t->sheet, i);
	return node_at(w, i)->inclusive >= t->least;
}

/* One frame that only calls the next: read like a stack, such chains stay in one column. */
static bool is_chained(const struct walker *w, uint32_t i)
{
	const struct profile_node *n = node_at(w, i), *above = node_at(w, n->parent);

	return w->levels[w->level].only && n->kind == PROFILE_INTERMEDIATE && above->kind == n->kind &&
	       !above->exclusive && !above->blocked;
}

static void node_enter(const struct walker *w, uint32_t i)
{
	const struct profile_node *n = node_at(w, i);
	struct table *t = w->data;
	struct label label = {.kind = n->kind,
		.guess = n->guess,
		.python = n->python,
		.name = n->name,
		.file = n->file,
		.module = n->module == node_at(w, n->parent)->module ? "" : n->module,
		.line = n->line,
		.skipped = n->skipped};
	int used = t->columns ? t->columns->cells(t, n) : sheet_cells(t->sheet, t->style, i);

	w->levels[w->level].chained = w->level && is_chained(w, i);
	used += walk_guides(t->style, w);
	style_label(t->style, &label, (unsigned)used);
}

/* What the children have together that are too small to show. */
static uint64_t sum_hidden(const struct walker *w, uint32_t parent)
{
	uint64_t sum = 0;

	for (uint32_t c = node_at(w, parent)->first_child; c; c = node_at(w, c)->next_sibling)
		if (!node_visible(w, c))
			sum += node_at(w, c)->inclusive;
	return sum;
}

/* The same with metrics: into the row behind the last. */
static int sum_hidden_values(const struct walker *w, uint32_t parent)
{
	struct sheet *sheet = ((const struct table *)w->data)->sheet;
	struct profile_value *sum = calloc(sheet->metrics + 1, sizeof(*sum));
	uint64_t ns = 0;

	if (!sum)
		return HYB_ENOMEM;
	for (uint32_t c = node_at(w, parent)->first_child; c; c = node_at(w, c)->next_sibling)
		if (!node_visible(w, c))
			sheet_sum_add(sheet, sum, &ns, c);
	sheet_sum_end(sheet, sum, ns);
	free(sum);
	return 0;
}

static bool node_rest(const struct walker *w, uint32_t parent)
{
	const struct table *t = w->data;
	double share = 0;

	if (t->sheet) {
		for (uint32_t c = node_at(w, parent)->first_child; c; c = node_at(w, c)->next_sibling)
			share += node_visible(w, c) ? 0 : sheet_size_share(t->sheet, c);
		return share >= TINY;
	}
	return sum_hidden(w, parent) && percent(w->data, sum_hidden(w, parent)) >= TINY;
}

static void node_hidden(const struct walker *w, uint32_t parent, uint32_t hidden)
{
	const struct table *t = w->data;
	struct profile_node sum = {.inclusive = sum_hidden(w, parent), .spread = UINT32_MAX};

	if (t->sheet && sum_hidden_values(w, parent))
		return;
	if (t->columns)
		t->columns->cells(t, &sum);
	else
		sheet_cells(t->sheet, t->style, t->sheet->count);
	walk_guides(t->style, w);
	style_ink(t->style, INK_DIM);
	fprintf(t->style->out, "(%" PRIu32 " more below %g %%)\n", hidden, t->options->threshold);
	style_ink(t->style, INK_PLAIN);
}

uint64_t table_waited(const struct report_options *options, const struct profile_node *nodes)
{
	bool parts = options->view != REPORT_REVERSE && (options->split || options->split_ranks);
	uint64_t sum = nodes[0].blocked;

	/* the reverse tree has the root as a row */
	for (uint32_t i = nodes[0].first_child; i; i = nodes[i].next_sibling)
		sum += parts || nodes[i].kind == PROFILE_ROOT ? nodes[i].blocked : 0;
	return sum;
}

int table_tree(struct table *table, const struct profile_node *nodes)
{
	struct walker walker = {.tree = nodes,
		.links = node_links,
		.visible = node_visible,
		.depth = table->options->depth,
		.data = table,
		.enter = node_enter,
		.rest = node_rest,
		.hidden = node_hidden};
	int r;

	table->root = nodes;
	if (table->columns)
		table->columns->heading(table);
	r = report_walk(&walker);
	style_legend(table->style);
	return r;
}

int report_tree(struct style *style, struct sheet *sheet)
{
	const struct profile_node *nodes = sheet->things;
	bool reverse = sheet->view == FIELD_REVERSE;
	struct table table;

	table_init(&table, style, sheet->options, sheet->time, sheet->waited);
	table.sheet = sheet;
	if (sheet_lay_out(sheet, style, table.width + 1))
		return HYB_ENOMEM;
	sheet_heading(sheet, style,
		!reverse                  ? "call tree"
		: sheet->set->shown_count ? "where it was, and who called"
					  : "where time was spent, and who called it");
	return table_tree(&table, nodes);
}

/* ---------------------------------------------------------------- flat */

static void put_row(struct table *t, const struct profile_row *row, size_t number)
{
	struct label label = {.kind = row->kind,
		.guess = row->guess,
		.name = row->name,
		.file = row->file,
		.module = row->module,
		.line = row->line};
	int used = sheet_cells(t->sheet, t->style, number);

	if (t->options->by == PROFILE_BY_THREAD)
		label.module = "";
	if ((t->options->by == PROFILE_BY_MODULE || t->options->by == PROFILE_BY_FILE) &&
		!t->style->full_paths)
		label.name = path_base(label.name);
	style_label(t->style, &label, (unsigned)used);
}

static void put_hidden(const struct table *t, size_t hidden, uint64_t rest)
{
	FILE *out = t->style->out;

	style_ink(t->style, INK_DIM);
	fprintf(out, "(%zu more below %g %%", hidden, t->options->threshold);
	if (!t->sheet->set->shown_count)
		fprintf(out, ", together %.3f %s alone", (double)rest / t->style->unit, t->style->unit_name);
	fputs(")\n", out);
	style_ink(t->style, INK_PLAIN);
}

int report_flat(struct style *style, const struct profile_flat *flat, struct sheet *sheet)
{
	static const char *const headings[] = {"function", "line", "module", "thread", "file"};
	const struct report_options *options = sheet->options;
	struct table table;
	uint64_t rest = 0;
	size_t hidden = 0;

	table_init(&table, style, options, sheet->time, sheet->waited);
	table.sheet = sheet;
	if (sheet_lay_out(sheet, style, table.width + 1))
		return HYB_ENOMEM;
	sheet_heading(sheet, style, headings[options->by]);
	for (size_t i = 0; i < flat->count; i++) {
		if (sheet_shows(sheet, i)) {
			put_row(&table, &flat->rows[i], i);
		} else {
			hidden++;
			rest += flat->rows[i].exclusive + flat->rows[i].blocked;
		}
	}
	if (hidden)
		put_hidden(&table, hidden, rest);
	style_legend(style);
	return 0;
}
