/* Lines about metrics beside their values: the list of metrics, and the hot spots of the first one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "format/format.h"
#include "profile/views/label.h"
#include "sheet.h"

#define HOT_MAX 5u /* functions in the line of hot spots, */
#define HOT_SHARE 100u /* each with at least 1/100 of the time, */
#define HOT_NAME 40 /* and so much of their names */

/* --------------------------------------------------- which there are */

void report_list_metrics(const struct profile_metric *m, size_t count)
{
	int width = 4;

	for (size_t i = 0; i < count; i++)
		width = (int)strlen(m[i].name) > width ? (int)strlen(m[i].name) : width;
	for (size_t i = 0; i < count; i++)
		printf("%-*s  %s%s%s%s\n", width, m[i].name, m[i].description,
			m[i].level ? " (goes up and down)" : "", m[i].process_wide ? " (of the process)" : "",
			m[i].estimated ? " (estimated)" : "");
	printf("%-*s  seconds\n", width, "time");
}

void report_json_metrics(struct json *json, const struct column_set *set, const struct profile_metric *m)
{
	if (set->count < 2)
		return;
	json_list(json, "metrics");
	for (size_t i = 0; i < set->count; i++) {
		const struct column *c = &set->items[i];

		if (i == set->metrics)
			continue;
		json_row(json);
		json_text(json, "name", c->name);
		json_text(json, "unit", c->unit);
		json_bool(json, "level", c->level);
		json_bool(json, "estimated", c->estimated);
		if (c->derive) {
			json_text(json, "expression", c->expression ? c->expression : "");
		} else {
			json_text(json, "description", m[i].description);
			json_bool(json, "process_wide", m[i].process_wide);
			json_bool(json, "shared", m[i].shared);
			json_number(json, "period", m[i].period);
			json_number(json, "samples", m[i].samples);
			json_number(json, "processes", m[i].processes);
		}
		json_end(json);
	}
	json_end(json);
}

/* ------------------------------------------------------------- hot spots */

/* The column whose shares are shown, or SIZE_MAX: time as it ran. */
static size_t hot_column(const struct column_set *set)
{
	if (!set || !set->shown_count || set->items[set->shown[0]].ratio)
		return SIZE_MAX;
	return set->shown[0];
}

/* Of each row what it has alone. */
static double *hot_values(
	const struct report_options *options, const struct column_set *set, const struct profile_tree *flat)
{
	double *values = calloc(flat->count + 1, sizeof(*values));
	size_t column = hot_column(set);
	struct sheet sheet = {.options = options,
		.set = set,
		.nodes = flat->nodes,
		.values = flat->values,
		.count = flat->count};

	for (size_t i = 0; values && column == SIZE_MAX && i < flat->count; i++)
		values[i] = (double)flat->nodes[i].exclusive;
	if (!values || column == SIZE_MAX)
		return values;
	if (sheet_make(&sheet)) {
		free(values);
		values = NULL;
	}
	for (size_t i = 0; values && i < flat->count; i++)
		values[i] = sheet.exclusive[i * set->count + column];
	sheet_release(&sheet);
	return values;
}

/* The row that has most among those that have less than the one before it, or the same behind it. */
static size_t next_hot(const struct profile_tree *flat, const double *values, size_t before)
{
	size_t next = SIZE_MAX;

	for (size_t i = 0; i < flat->count; i++) {
		if (flat->nodes[i].kind == PROFILE_ROOT ||
			(before != SIZE_MAX &&
				(values[i] > values[before] || (values[i] == values[before] && i <= before))))
			continue;
		if (next == SIZE_MAX || values[i] > values[next])
			next = i;
	}
	return next;
}

static void add_hot(struct text *text, const struct profile_node *row, double share, bool first)
{
	int length = (int)strnlen(row->name, HOT_NAME);
	struct label label = label_of(row);
	char n[FIGURE_SIZE], *place;

	while (length && ((unsigned char)row->name[length] & 0xc0) == 0x80)
		length--; /* not in the middle of a UTF-8 character */
	text_add(text, "%s%.*s%s", first ? "" : ", ", length, row->name, row->name[length] ? "..." : "");
	place = row->guess ? label_place(&label, false) : NULL; /* it means little without the module */
	text_add(text, "%s", place ? place : "");
	free(place);
	text_add(text, " %s", text_percent((uint64_t)(share * 1e9), 1000000000, n));
}

int report_hot(const struct style *style, const struct report_options *options, const struct column_set *set,
	const struct profile *profile)
{
	struct text text = text_begin();
	struct profile_tree flat;
	size_t row = SIZE_MAX;
	double whole = 0, *values;

	if (!profile_quality(profile)->samples && hot_column(set) == SIZE_MAX)
		return 0;
	if (profile_flat(profile, PROFILE_BY_FUNCTION, PROFILE_SORT_EXCLUSIVE, &flat))
		return HYB_ENOMEM;
	values = hot_values(options, set, &flat);
	for (size_t i = 0; values && i < flat.count; i++)
		whole += fabs(values[i]);
	for (unsigned i = 0; values && i < HOT_MAX; i++) {
		row = next_hot(&flat, values, row);
		if (row == SIZE_MAX || values[row] <= 0 || values[row] < whole / HOT_SHARE)
			break;
		add_hot(&text, &flat.nodes[row], values[row] / whole, !i);
	}
	if (text.stream && hot_column(set) != SIZE_MAX)
		text_add(&text, " of %s", set->items[hot_column(set)].name);
	else if (text.stream)
		text_add(&text,
			profile_quality(profile)->sources & (1u << HYB_SOURCE_WALL) ? " of time" : " of CPU");
	text_line(style, INK_HOT, "hot", &text);
	profile_tree_release(&flat);
	free(values);
	return values ? 0 : HYB_ENOMEM;
}
