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
		sum += (unsigned)s->columns[i].width;
	return sum;
}

static void choose_units(struct sheet *s)
{
	for (size_t c = 0; c < s->set->count; c++) {
		double most = 0;

		for (size_t i = 0; i < s->count; i++) {
			double v =
				fabs(figure_seconds(&s->set->items[c], s->inclusive[i * s->set->count + c]));

			most = v > most ? v : most;
		}
		s->units[c] = figure_unit(most);
	}
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
	struct sheet_thing thing;

	for (size_t i = 0; i < s->count; i++) {
		s->get(s->things, i, &thing);
		has |= (thing.values.blocked ? FIELD_HAS_BLOCKED : 0) |
		       (thing.values.calls ? FIELD_HAS_CALLS : 0);
	}
	return has;
}

static void add(struct sheet *s, struct sheet_column column)
{
	s->columns[s->column_count++] = column;
}

static void add_field(struct sheet *s, enum field_id id, int time_width, unsigned drop)
{
	const struct field *field = &fields[id];

	add(s, (struct sheet_column){.field = field,
		       .metric = SIZE_MAX,
		       .width = field->width ? field->width : time_width + field->wider,
		       .heading = s->view == FIELD_REVERSE && id == FIELD_INCLUSIVE ? "time" : field->name,
		       .hot = id == (s->view == FIELD_REVERSE ? FIELD_INCLUSIVE : FIELD_EXCLUSIVE),
		       .drop = drop});
}

/* Of the metrics that are shown the first has a share; the last loses its exclusive column first. */
static void add_metric(struct sheet *s, size_t shown)
{
	size_t metric = s->set->shown[shown];
	const struct column *c = &s->set->items[metric];
	bool alone = s->view != FIELD_REVERSE; /* of ways up what nodes have alone says nothing */

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

static void add_metrics(struct sheet *s, int time_width)
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
	if (has_of(s) & FIELD_HAS_CALLS)
		add_field(s, FIELD_CALLS, time_width, 1);
	add_field(s, FIELD_SAMPLES, time_width, s->overflows ? 0 : 2);
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
	unsigned last = 4 + (unsigned)s->set->shown_count, has = has_of(s);

	s->columns = calloc(3 * s->set->shown_count + FIELDS + 1, sizeof(*s->columns));
	if (!s->columns)
		return HYB_ENOMEM;
	choose_units(s);
	s->overflows = has_overflows(s);
	if (s->set->shown_count)
		add_metrics(s, time_width);
	else
		for (unsigned id = 0; id < FIELDS; id++)
			if (field_is_in(&fields[id], fields[id].text, s->view, has))
				add_field(s, id, time_width, 0);
	for (unsigned number = 1; style->cut && number <= last && total_width(s) > room; number++)
		drop(s, number);
	return 0;
}

/* -------------------------------------------------------------- headings */

static const char *unit_name(double unit)
{
	return unit == 1e9 ? "s" : unit == 1e6 ? "ms" : "us";
}

/* The unit behind the name, without what finds no room. */
void sheet_name(const struct style *style, const struct column *c, double unit, int width)
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
			sheet_name(style, &s->set->items[metric], s->units[metric], width);
	}
	fputc('\n', style->out);
}

void sheet_heading(const struct sheet *s, const struct style *style, const char *name)
{
	FILE *out = style->out;

	fputc('\n', out);
	style_ink(style, INK_DIM);
	if (s->set->shown_count)
		put_groups(s, style);
	for (size_t i = 0; i < s->column_count; i++)
		fprintf(out, "%*s", s->columns[i].width, s->columns[i].heading);
	fprintf(out, "  %s", name);
	if (!s->set->shown_count)
		fprintf(out, " (%s)", style_unit_words(style));
	fputc('\n', out);
	style_ink(style, INK_PLAIN);
}

/* ----------------------------------------------------------------- cells */

static int put_cell(const struct style *style, const char *text, int width, double share)
{
	if (share >= WARM)
		style_ink(style, share >= HOT ? INK_HOT : INK_WARM);
	fprintf(style->out, "%*s", width, text);
	if (share >= WARM)
		style_ink(style, INK_PLAIN);
	return width;
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

static int put_field(const struct sheet *s, const struct style *style, const struct sheet_column *c,
	const struct field_row *row, size_t i)
{
	double value = c->metric == SIZE_MAX ? field_value(c->field, row) : share_of(s, i, false);
	double share = c->hot && row->whole ? value * 100 / (double)row->whole : 0;
	char text[FIGURE_SIZE];

	field_text(c->field, value, style->unit, text);
	if (s->view == FIELD_FLAT && c->metric == SIZE_MAX && c->field->form == FIELD_SHARE &&
		value >= 100.05)
		*text = 0; /* a row that has waited */
	return put_cell(style, text, c->width, share);
}

int sheet_cells(const struct sheet *s, const struct style *style, size_t i)
{
	const struct field_row row = sheet_row(s, i);
	int used = 0;

	for (size_t k = 0; k < s->column_count; k++) {
		const struct sheet_column *c = &s->columns[k];

		used += c->field ? put_field(s, style, c, &row, i) : put_metric(s, style, c, i);
	}
	return used + fprintf(style->out, "  ");
}

/* ------------------------------------------------ the first column alone */

int sheet_first_width(const struct sheet *s)
{
	return figure_width(&s->set->items[s->set->shown[0]]);
}

int sheet_first_value(const struct sheet *s, const struct style *style, double value, double share)
{
	size_t first = s->set->shown[0];
	char text[FIGURE_SIZE];

	figure_value(&s->set->items[first], value, s->units[first], text);
	return put_cell(style, text, sheet_first_width(s), share);
}

void sheet_first_name(const struct sheet *s, const struct style *style)
{
	size_t first = s->set->shown[0];
	const struct column *c = &s->set->items[first];

	fprintf(style->out, "%s%s%s%s", c->estimated ? "~" : "", c->name, figure_is_time(c) ? ", " : "",
		figure_is_time(c) ? unit_name(s->units[first]) : "");
}
