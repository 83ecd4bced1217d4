/* Metrics as columns of text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/metrics/figures.h"
#include "sheet.h"

#define NAME_ROOM 30u /* columns that names should have */
#define HOT 10.0 /* percent from which a value is hot, and warm */
#define WARM 2.0

/* --------------------------------------------------------------- columns */

static unsigned total_width(const struct sheet *s)
{
	unsigned sum = 2;

	for (size_t i = 0; i < s->column_count; i++)
		sum += (unsigned)abs(s->columns[i].width);
	return sum;
}

/* What a row has of a column; of times in seconds. */
static double size_of(const struct sheet *s, size_t i, size_t column)
{
	return fabs(figure_seconds(&s->set->items[column], s->inclusive[i * s->set->count + column]));
}

/* Of a difference by the roots. */
static void choose_units(struct sheet *s, const struct style *style)
{
	for (size_t c = 0; c < s->set->count; c++) {
		double most = s->base ? size_of(s->base, 0, c) : 0;

		for (size_t i = 0; i < (s->base ? 1 : s->count); i++) {
			double v = size_of(s, i, c);

			most = v > most ? v : most;
		}
		s->units[c] = figure_unit(most);
	}
	if (s->base)
		s->units[s->metrics] = style->unit;
}

/* Whether samples are those of the first column's overflow, not of the clock. */
static bool has_overflows(const struct sheet *s)
{
	size_t first = s->set->shown_count ? s->set->shown[0] : s->metrics;

	for (size_t i = 0; s->values && first < s->metrics && i < s->count; i++)
		if (s->values[i * s->metrics + first].samples)
			return true;
	return false;
}

static bool is_shown(const struct sheet *s, size_t column)
{
	for (size_t i = 0; i < s->set->shown_count; i++)
		if (s->set->shown[i] == column)
			return true;
	return false;
}

/* What the profile has (enum field_need); a column of samples there is always. */
static unsigned has_of(const struct sheet *s)
{
	unsigned has = FIELD_HAS_SAMPLES;
	uint64_t whole = 0, ready = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct profile_values v = sheet_values(s, i);

		has |= (v.blocked ? FIELD_HAS_BLOCKED : 0) | (v.calls ? FIELD_HAS_CALLS : 0);
		whole = v.inclusive > whole ? v.inclusive : whole;
		ready = v.ready > ready ? v.ready : ready;
	}
	return has | field_has_ready(ready, whole);
}

static void add(struct sheet *s, struct sheet_column column)
{
	s->columns[s->column_count++] = column;
}

static void add_field(struct sheet *s, enum field_id id, unsigned has, int time_width, unsigned drop)
{
	const struct field *field = &fields[id];

	add(s, (struct sheet_column){.field = field,
		       .metric = SIZE_MAX,
		       .width = field->width ? field->width : time_width + field->wider,
		       .heading = s->view == FIELD_REVERSE && id == FIELD_INCLUSIVE ? "time"
				  : s->view == FIELD_REVERSE && id == FIELD_PERCENT
					  ? "time%"
					  : field_heading(field, has),
		       .hot = id == (s->view == FIELD_REVERSE ? FIELD_INCLUSIVE : FIELD_EXCLUSIVE),
		       .drop = drop});
}

/* Of the metrics that are shown the first has a share; the last loses its exclusive column first. */
static void add_metric(struct sheet *s, size_t shown)
{
	size_t metric = s->set->shown[shown];
	const struct column *c = &s->set->items[metric];
	bool alone = s->view != FIELD_REVERSE; /* in the reverse tree exclusive values have no meaning */

	add(s, (struct sheet_column){.metric = metric,
		       .hot = !shown && !alone,
		       .width = figure_width(c),
		       .heading = c->level ? "growth" : "incl"});
	if (!shown)
		add(s, (struct sheet_column){.field = &fields[FIELD_PERCENT],
			       .metric = metric,
			       .width = fields[FIELD_PERCENT].width,
			       .heading = c->ratio ? "time %" : fields[FIELD_PERCENT].name});
	if (alone)
		add(s, (struct sheet_column){.metric = metric,
			       .alone = true,
			       .blank = true,
			       .hot = !shown && !c->ratio,
			       .width = figure_width(c),
			       .heading = c->level ? "alone" : "excl",
			       .drop = shown ? 3 + (unsigned)(s->set->shown_count - shown) : 0});
}

static bool has_room(const struct style *style, const struct field_column *c)
{
	return !style->cut || style->width >= c->room;
}

static int list_width(const struct field_column *c, int time_width)
{
	return c->width ? c->width : c->field->width ? c->field->width : time_width + c->field->wider;
}

static const char *list_name(const struct field_column *c)
{
	return c->heading ? c->heading : c->field->name;
}

static bool is_over_metric(const struct sheet *s)
{
	return s->over && s->over->metric;
}

/* The times over ranks of a metric are its values. */
static void add_list(struct sheet *s, const struct style *style, int time_width)
{
	size_t metric = is_over_metric(s) ? s->set->shown[0] : SIZE_MAX;
	int width = metric != SIZE_MAX ? figure_width(&s->set->items[metric]) : time_width;

	for (const struct field_column *c = s->list; c->field; c++)
		if (has_room(style, c))
			add(s, (struct sheet_column){
				       .field = metric == SIZE_MAX || c->field->value ? c->field : NULL,
				       .metric = metric,
				       .width = list_width(c, width),
				       .heading = list_name(c),
				       .hot = c->hot});
}

static const struct field_column pair_columns[] = {COLUMN(&fields[FIELD_BEFORE]),
	COLUMN(&fields[FIELD_AFTER]), COLUMN(&fields[FIELD_CHANGE], .hot = true),
	COLUMN(&fields[FIELD_CHANGE_PERCENT], .heading = "%", .width = 7),
	COLUMN(&fields[FIELD_CHANGE_EXCLUSIVE], .heading = "excl", .hot = true), {0}};

/* Of a metric, or of time, all but what the first one alone has: a share; behind metrics time has its change.
 */
static void add_pair(struct sheet *s, size_t column, size_t at, size_t groups, int time_width)
{
	bool time = column == s->metrics, behind = at && time && !is_shown(s, column);
	int width = time ? time_width + (s->set->shown_count > 0) /* "time (ms)" */
			 : figure_width(&s->set->items[column]);

	for (const struct field_column *c = pair_columns; c->field; c++) {
		bool share = c->field == &fields[FIELD_CHANGE_PERCENT];
		bool alone = c->field == &fields[FIELD_CHANGE_EXCLUSIVE] && s->set->shown_count;

		if ((behind && c->field != &fields[FIELD_CHANGE]) || (at && share))
			continue;
		add(s, (struct sheet_column){.field = c->field,
			       .metric = s->set->shown_count ? column : SIZE_MAX,
			       .hot = c->hot && column == s->column,
			       .width = c->width ? c->width : width + (!time && c->field->sign),
			       .heading = share && column != s->column ? "time %" : list_name(c),
			       .drop = (unsigned)(alone ? groups - at
						  : at  ? 2 * groups - at
							: 0)});
	}
}

static void add_pairs(struct sheet *s, int time_width)
{
	size_t shown = s->set->shown_count, groups = shown + !is_shown(s, s->metrics);

	for (size_t i = 0; i < groups; i++)
		add_pair(s, i < shown ? s->set->shown[i] : s->metrics, i, groups, time_width);
}

static void add_metrics(struct sheet *s, unsigned has, int time_width)
{
	const struct column *time = &s->set->items[s->metrics];

	for (size_t i = 0; i < s->set->shown_count; i++)
		add_metric(s, i);
	if (!is_shown(s, s->metrics))
		add(s, (struct sheet_column){.metric = s->metrics,
			       .alone = s->by_exclusive,
			       .blank = true,
			       .width = figure_width(time),
			       .heading = s->by_exclusive ? "excl" : "incl",
			       .drop = 4 + (unsigned)s->set->shown_count});
	if (has & FIELD_HAS_CALLS)
		add_field(s, FIELD_CALLS, has, time_width, 1);
	add_field(s, FIELD_SAMPLES, has, time_width, s->overflows ? 0 : 2);
}

/* Takes out the columns of that number. */
static void drop(struct sheet *s, unsigned number)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->column_count; i++)
		if (s->columns[i].drop != number)
			s->columns[kept++] = s->columns[i];
	s->column_count = kept;
}

int sheet_lay_out(struct sheet *s, const struct style *style, int time_width)
{
	unsigned room = style->width > NAME_ROOM ? style->width - NAME_ROOM : 0;
	unsigned last = 4 + 2 * (unsigned)s->set->shown_count, has = has_of(s);

	s->columns = calloc(5 * s->set->shown_count + FIELDS + 1, sizeof(*s->columns));
	if (!s->columns)
		return HYB_ENOMEM;
	choose_units(s, style);
	s->overflows = has_overflows(s);
	if (s->base)
		add_pairs(s, time_width);
	else if (s->list)
		add_list(s, style, time_width);
	else if (s->set->shown_count)
		add_metrics(s, has, time_width);
	else
		for (unsigned id = 0; id < FIELDS; id++)
			if (field_is_in(&fields[id], fields[id].text, s->view, has))
				add_field(s, id, has, time_width, 0);
	for (unsigned number = 1; style->cut && number <= last && total_width(s) > room; number++)
		drop(s, number);
	return 0;
}

/* -------------------------------------------------------------- headings */

static const char *unit_name(double unit)
{
	return unit == 1e9 ? "s" : unit == 1e6 ? "ms" : "us";
}

/* A column's name and unit (`unit`: of times, ns that a printed 1.0 stands for) above all that stands below,
 * without what finds no room. */
static void put_name(const struct style *style, const struct column *c, double unit, int width)
{
	char words[128] = "", tail[48] = "";
	const char *name = c->name, *last;
	int room;

	if (figure_is_time(c))
		snprintf(tail, sizeof(tail), " (%s)", unit_name(unit));
	else if (*c->unit && strcmp(c->unit, "B"))
		snprintf(tail, sizeof(tail), " (%.31s)", c->unit);
	room = width - 1 - c->estimated - (int)strlen(tail);
	last = strrchr(name, ':');
	if ((int)strlen(name) > room && last && last[1])
		name = last + 1;
	if ((int)strlen(name) > room) {
		tail[0] = 0;
		room = width - 1 - c->estimated;
	}
	snprintf(words, sizeof(words), "%s%.*s%s", c->estimated ? "~" : "", room, name, tail);
	fprintf(style->out, "%*s", width, words);
}

/* Names of metrics, above all columns that each has. */
static void put_groups(const struct sheet *s, const struct style *style)
{
	size_t next;

	for (size_t i = 0; i < s->column_count; i = next) {
		size_t metric = s->columns[i].metric;
		int width = 0;

		for (next = i; next < s->column_count && s->columns[next].metric == metric; next++)
			width += s->columns[next].width;
		if (metric != SIZE_MAX)
			put_name(style, &s->set->items[metric], s->units[metric], width);
	}
	fputc('\n', style->out);
}

/* Of the tree over ranks: what its columns are of. */
static void put_over(const struct sheet *s, const struct style *style)
{
	size_t first = is_over_metric(s) ? s->set->shown[0] : s->metrics;
	const struct column *c = &s->set->items[first];

	if (is_over_metric(s))
		fprintf(style->out, " (%s%s%s%s)", c->estimated ? "~" : "", c->name,
			figure_is_time(c) ? ", " : "", figure_is_time(c) ? unit_name(s->units[first]) : "");
	else
		fprintf(style->out, " (%s)", style->unit_name);
}

void sheet_heading(const struct sheet *s, const struct style *style, const char *name)
{
	FILE *out = style->out;

	fputc('\n', out);
	style_ink(style, INK_DIM);
	if (s->set->shown_count && !s->list)
		put_groups(s, style);
	for (size_t i = 0; i < s->column_count; i++)
		fprintf(out, "%*s", s->columns[i].width, s->columns[i].heading);
	fprintf(out, "  %s", name);
	if (s->over)
		put_over(s, style);
	else if (!s->set->shown_count && !s->list)
		fprintf(out, " (%s)", style_unit_words(style));
	fputc('\n', out);
	style_ink(style, INK_PLAIN);
}

/* ----------------------------------------------------------------- cells */

/* What is too wide still has a blank in front. */
static int put_cell(const struct style *style, const char *text, int width, double share)
{
	int used;

	if (fabs(share) >= WARM)
		style_ink(style, share < 0 ? INK_PLACE : share >= HOT ? INK_HOT : INK_WARM);
	used = fprintf(style->out, "%s%*s", (int)strlen(text) >= width && width > 0 ? " " : "", width, text);
	if (fabs(share) >= WARM)
		style_ink(style, INK_PLAIN);
	return used;
}

/* Percent of what sizes go by: of a ratio there can be no shares. */
static double share_of(const struct sheet *s, size_t row, bool alone)
{
	size_t first = s->set->shown[0], by = s->set->items[first].ratio ? s->metrics : first;
	size_t at = row * s->set->count + by;

	return sheet_share(s, alone ? fabs(s->exclusive[at]) : s->inclusive[at]);
}

static int put_metric(
	const struct sheet *s, const struct style *style, const struct sheet_column *c, size_t row)
{
	double value = (c->alone ? s->exclusive : s->inclusive)[row * s->set->count + c->metric];
	char text[FIGURE_SIZE] = "";

	if (!c->blank || (value != 0 && !isnan(value)))
		figure_value(&s->set->items[c->metric], value, s->units[c->metric], text);
	return put_cell(style, text, c->width, c->hot ? share_of(s, row, c->alone) : 0);
}

/* Where no rank has anything there is no mean of them. */
static bool is_blank(const struct field *field, const struct field_row *row)
{
	return field->data & FIELD_OVER && !(row->spread && row->spread->ranks);
}

static int put_field(const struct sheet *s, const struct style *style, const struct sheet_column *c,
	const struct field_row *row, size_t i)
{
	bool shared = c->metric != SIZE_MAX && c->field == &fields[FIELD_PERCENT];
	double value = shared ? share_of(s, i, false) : field_value(c->field, row);
	char buffer[FIGURE_SIZE];
	const char *text;

	if (is_blank(c->field, row))
		text = "";
	else if (c->metric != SIZE_MAX && c->field->form == FIELD_TIME)
		text = figure_value(&s->set->items[c->metric], value, s->units[c->metric], buffer);
	else
		text = field_text(c->field, value, style->unit, buffer);
	return put_cell(style, text, c->width, c->hot ? c->field->heat(row) * 100 : 0);
}

/* A part of a metric's difference. */
static double pair_value(const struct sheet *s, const struct field *field, size_t column, size_t i)
{
	size_t at = i * s->set->count + column;

	switch (field - fields) {
	case FIELD_BEFORE:
		return s->base->inclusive[at];
	case FIELD_AFTER:
		return s->inclusive[at];
	case FIELD_CHANGE_EXCLUSIVE:
		return s->exclusive[at] - s->base->exclusive[at];
	}
	return s->inclusive[at] - s->base->inclusive[at];
}

static int put_metric_pair(
	const struct sheet *s, const struct style *style, const struct sheet_column *c, size_t i)
{
	bool is_share = c->field->form == FIELD_SHARE;
	size_t column = is_share ? s->column : c->metric;
	double value = pair_value(s, c->field, column, i), share = sheet_share(s, value);
	char number[FIGURE_SIZE], text[FIGURE_SIZE + 1] = "";

	if (is_share)
		field_text(c->field, share, 1, text);
	else if (c->field->sign || value != 0)
		snprintf(text, sizeof(text), "%s%s", c->field->sign && value >= 0 ? "+" : "",
			figure_value(&s->set->items[column], value, s->units[column], number));
	return put_cell(style, text, c->width, c->hot && fabs(share) >= WARM ? copysign(HOT, share) : 0);
}

/* 0 of a side is left blank; of what is left out there is only its change. */
static int put_pair(const struct sheet *s, const struct style *style, const struct sheet_column *c,
	const struct field_row *row, size_t i)
{
	bool change = c->field == &fields[FIELD_CHANGE];
	size_t column = c->field->form == FIELD_SHARE ? s->column : c->metric;
	char text[FIGURE_SIZE];
	double share;

	if (i == s->count && !(change && !(c->metric != SIZE_MAX && s->set->items[c->metric].ratio)))
		return put_cell(style, "", c->width, 0);
	if (column != SIZE_MAX && column != s->metrics)
		return put_metric_pair(s, style, c, i);
	share = c->hot ? c->field->heat(row) * 100 : 0;
	return put_cell(style, field_text(c->field, field_value(c->field, row), style->unit, text), c->width,
		fabs(share) >= WARM ? copysign(HOT, share) : 0);
}

int sheet_cells(const struct sheet *s, const struct style *style, size_t i)
{
	const struct field_row row = sheet_row(s, i);
	int used = 0;

	for (size_t k = 0; k < s->column_count; k++) {
		const struct sheet_column *c = &s->columns[k];

		used += s->base    ? put_pair(s, style, c, &row, i)
			: c->field ? put_field(s, style, c, &row, i)
				   : put_metric(s, style, c, i);
	}
	return used + fprintf(style->out, "  ");
}

/* -------------------------------------------------- tables of their own */

void list_heading(
	const struct style *style, const struct field_column *list, int time_width, const char *name)
{
	fputc('\n', style->out);
	style_ink(style, INK_DIM);
	for (; list->field; list++)
		if (list->field->name && has_room(style, list))
			fprintf(style->out, "%*s", list_width(list, time_width), list_name(list));
	fprintf(style->out, "  %s\n", name);
	style_ink(style, INK_PLAIN);
}

int list_cells(const struct style *style, const struct field_column *list, int time_width,
	const struct field_row *row)
{
	char text[FIGURE_SIZE];
	int used = 0;

	for (; list->field; list++) {
		if (!list->field->name || !has_room(style, list))
			continue;
		used += put_cell(style,
			field_text(list->field, field_value(list->field, row), style->unit, text),
			list_width(list, time_width), list->hot ? list->field->heat(row) * 100 : 0);
	}
	return used;
}
