/* The call tree over the ranks: total, mean, least and most of each node. */
#include <inttypes.h>

#include "table.h"

static void over_heading(const struct table *t)
{
	const struct report_over *over = t->data;
	FILE *out = t->style->out;
	char n[FIGURE_SIZE];
	int w = t->sheet ? sheet_first_width(t->sheet) : t->width + 1;

	fputc('\n', out);
	style_ink(t->style, INK_DIM);
	fprintf(out, "%*s%*s%*s@rank %*s@rank %7s  call tree, %s ranks (", w, "total", w, "mean", w, "min", w,
		"max", "imb %", figure_number(over->ranks, n));
	if (t->sheet)
		sheet_first_name(t->sheet, t->style);
	else
		fputs(t->style->unit_name, out);
	fputs(")\n", out);
	style_ink(t->style, INK_PLAIN);
}

static int put_value(const struct table *t, uint64_t value)
{
	return t->sheet ? sheet_first_value(t->sheet, t->style, (double)value, 0)
			: table_time(t, value, false, false);
}

/* That of all ranks together. */
static int put_total(const struct table *t, const struct profile_node *n)
{
	size_t row;
	double value;

	if (!t->sheet)
		return table_time(t, n->inclusive, false, true);
	row = n->spread == UINT32_MAX ? t->sheet->count : (size_t)(n - t->root);
	value = t->sheet->inclusive[row * t->sheet->set->count + t->sheet->set->shown[0]];
	return sheet_first_value(t->sheet, t->style, value, sheet_share(t->sheet, value));
}

int table_extreme(const struct table *t, uint64_t value, bool known, uint32_t rank)
{
	char text[FIGURE_SIZE] = "";
	int n = put_value(t, value);

	if (known)
		snprintf(text, sizeof(text), "@%" PRIu32, rank);
	return n + fprintf(t->style->out, "%-6s", text);
}

static int over_cells(const struct table *t, const struct profile_node *n)
{
	static const struct profile_spread none;
	const struct report_over *over = t->data;
	const struct profile_spread *s = n->spread == UINT32_MAX ? &none : &over->spreads[n->spread];
	int used = put_total(t, n);

	if (!s->ranks)
		return used + fprintf(t->style->out, "%*s", 3 * used + 21, "");
	used += put_value(t, profile_spread_mean(s, over->ranks));
	used += table_extreme(
		t, profile_spread_least(s, over->ranks), s->ranks >= over->ranks, s->least_rank);
	used += table_extreme(t, s->most, true, s->most_rank);
	return used + fprintf(t->style->out, "%7.1f  ", profile_spread_imbalance(s, over->ranks));
}

struct report_over report_over(const struct report_options *options, const struct profile *profile)
{
	return (struct report_over){.spreads = profile_spreads(profile),
		.ranks = profile_quality(profile)->ranks,
		.metric = *options->over_metric ? options->over_metric : NULL};
}

int report_over_ranks(struct style *style, const struct report_options *options,
	const struct profile_node *nodes, const struct report_over *over)
{
	static const struct columns columns = {over_heading, over_cells};
	struct table table;

	table_init(&table, style, options, nodes[0].inclusive, nodes[0].blocked);
	table.columns = &columns;
	table.data = over;
	table.sheet = over->sheet;
	if (table.sheet && sheet_lay_out(table.sheet, style, table.width + 1))
		return HYB_ENOMEM;
	return table_tree(&table, nodes);
}

/* ------------------------------------------------------------- machines */

/* A member whose key ends with a unit. */
static const char *unit_key(char text[32], const char *name, const char *unit)
{
	snprintf(text, 32, "%s%s", name, unit);
	return text;
}

void report_json_spread(struct json *json, const struct profile_spread *s, uint64_t ranks, const char *unit)
{
	char key[32];

	json_number(json, "ranks", s->ranks);
	json_number(json, unit_key(key, "mean", unit), profile_spread_mean(s, ranks));
	json_number(json, unit_key(key, "min", unit), profile_spread_least(s, ranks));
	json_number(json, unit_key(key, "max", unit), s->most);
	if (s->ranks && s->ranks >= ranks)
		json_number(json, "min_rank", s->least_rank);
	else
		json_null(json, "min_rank");
	if (s->ranks)
		json_number(json, "max_rank", s->most_rank);
	else
		json_null(json, "max_rank");
	json_fixed(json, unit_key(key, "deviation", unit), profile_spread_deviation(s, ranks), 3);
	json_fixed(json, "imbalance", profile_spread_imbalance(s, ranks) / 100, 6);
}

void report_csv_spread(struct csv *csv, const struct profile_spread *s, uint64_t ranks)
{
	csv_number(csv, s->ranks);
	csv_number(csv, profile_spread_mean(s, ranks));
	csv_number(csv, profile_spread_least(s, ranks));
	if (s->ranks && s->ranks >= ranks)
		csv_number(csv, s->least_rank);
	else
		csv_empty(csv);
	csv_number(csv, s->most);
	if (s->ranks)
		csv_number(csv, s->most_rank);
	else
		csv_empty(csv);
	csv_fixed(csv, profile_spread_deviation(s, ranks), 3);
	csv_fixed(csv, profile_spread_imbalance(s, ranks) / 100, 6);
}
