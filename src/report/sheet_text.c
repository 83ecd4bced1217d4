/* Metrics as columns of text. */
#include <math.h>
#include <string.h>

#include "profile/metrics/figures.h"
#include "sheet.h"

#define NAME_ROOM 30u /* columns that names should have */
#define HOT 10.0 /* percent from which a value is hot, and warm */
#define WARM 2.0

/* -------------------------------------------------------------- headings */

/* Width of a shown column with all that stands below its name. */
static int group_width(const struct sheet *s, size_t shown)
{
	int w = figure_width(&s->set->items[s->set->shown[shown]]);

	return w + (shown ? 0 : 7) + (s->alone[shown] ? w : 0);
}

static unsigned total_width(const struct sheet *s)
{
	unsigned sum = 2 + (s->time ? 10u : 0) + (s->calls ? 8u : 0) + (s->samples ? 8u : 0);

	for (size_t i = 0; i < s->set->shown_count; i++)
		sum += (unsigned)group_width(s, i);
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
	size_t first = s->set->shown[0];

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

void sheet_lay_out(struct sheet *s, const struct style *style)
{
	unsigned room = style->width > NAME_ROOM ? style->width - NAME_ROOM : 0;
	struct sheet_thing thing;

	choose_units(s);
	s->overflows = has_overflows(s);
	for (size_t i = 0; i < s->set->shown_count; i++)
		s->alone[i] = !s->reverse;
	s->time = !is_shown(s, s->set->metrics);
	s->samples = true;
	for (size_t i = 0; i < s->count && !s->calls; i++) {
		s->get(s->things, i, &thing);
		s->calls = thing.calls;
	}
	if (!style->cut)
		return;
	if (total_width(s) > room)
		s->calls = false;
	if (total_width(s) > room && !s->overflows)
		s->samples = false;
	for (size_t i = s->set->shown_count; i-- > 1 && total_width(s) > room;)
		s->alone[i] = false;
	if (total_width(s) > room)
		s->time = false;
}

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

void sheet_heading(const struct sheet *s, const struct style *style, const char *name)
{
	FILE *out = style->out;
	const struct column *time = &s->set->items[s->set->metrics];

	fputc('\n', out);
	style_ink(style, INK_DIM);
	for (size_t i = 0; i < s->set->shown_count; i++)
		sheet_name(style, &s->set->items[s->set->shown[i]], s->units[s->set->shown[i]],
			group_width(s, i));
	if (s->time)
		sheet_name(style, time, s->units[s->set->metrics], 10);
	fputc('\n', out);
	for (size_t i = 0; i < s->set->shown_count; i++) {
		const struct column *c = &s->set->items[s->set->shown[i]];

		fprintf(out, "%*s", figure_width(c), c->level ? "growth" : "incl");
		if (!i)
			fprintf(out, " %6s", s->set->items[s->set->shown[0]].ratio ? "time %" : "%");
		if (s->alone[i])
			fprintf(out, "%*s", figure_width(c), c->level ? "alone" : "excl");
	}
	if (s->time)
		fprintf(out, "%10s", s->by_exclusive ? "excl" : "incl");
	if (s->calls)
		fprintf(out, "%8s", "calls");
	if (s->samples)
		fprintf(out, "%8s", "samples");
	fprintf(out, "  %s\n", name);
	style_ink(style, INK_PLAIN);
}

/* ----------------------------------------------------------------- cells */

static int put_value(const struct sheet *s, const struct style *style, size_t column, double value,
	double share, bool blank)
{
	const struct column *c = &s->set->items[column];
	char text[FIGURE_SIZE] = "";
	int width = figure_width(c);

	if (!blank || (value != 0 && !isnan(value)))
		figure_value(c, value, s->units[column], text);
	if (share >= WARM)
		style_ink(style, share >= HOT ? INK_HOT : INK_WARM);
	fprintf(style->out, "%*s", width, text);
	if (share >= WARM)
		style_ink(style, INK_PLAIN);
	return width;
}

static int put_first(const struct sheet *s, const struct style *style, size_t row)
{
	const double *inclusive = s->inclusive + row * s->set->count,
		     *exclusive = s->exclusive + row * s->set->count;
	size_t first = s->set->shown[0], by = s->set->items[first].ratio ? s->set->metrics : first;
	double share = sheet_share(s, inclusive[by]), alone = sheet_share(s, fabs(exclusive[by]));
	bool ratio = s->set->items[first].ratio;
	int used = put_value(s, style, first, inclusive[first], s->alone[0] ? 0 : share, false);

	used += fprintf(style->out, " %6.1f", share);
	if (s->alone[0])
		used += put_value(s, style, first, exclusive[first], ratio ? 0 : alone, true);
	return used;
}

int sheet_cells(const struct sheet *s, const struct style *style, size_t row)
{
	const double *inclusive = s->inclusive + row * s->set->count,
		     *exclusive = s->exclusive + row * s->set->count;
	struct sheet_thing thing = {0};
	char text[FIGURE_SIZE];
	uint64_t samples = 0;
	int used = put_first(s, style, row);

	if (row < s->count) {
		s->get(s->things, row, &thing);
		samples =
			s->overflows ? s->values[row * s->metrics + s->set->shown[0]].samples : thing.samples;
	}
	for (size_t i = 1; i < s->set->shown_count; i++) {
		used += put_value(s, style, s->set->shown[i], inclusive[s->set->shown[i]], 0, false);
		if (s->alone[i])
			used += put_value(s, style, s->set->shown[i], exclusive[s->set->shown[i]], 0, true);
	}
	if (s->time)
		used += put_value(s, style, s->set->metrics,
			(s->by_exclusive ? exclusive : inclusive)[s->set->metrics], 0, true);
	if (s->calls)
		used += fprintf(style->out, "%8s", thing.calls ? figure_count(thing.calls, text) : "");
	if (s->samples)
		used += fprintf(style->out, "%8s", samples ? figure_count(samples, text) : "");
	return used + fprintf(style->out, "  ");
}

/* ------------------------------------------------ the first column alone */

int sheet_first_width(const struct sheet *s)
{
	return figure_width(&s->set->items[s->set->shown[0]]);
}

int sheet_first_value(const struct sheet *s, const struct style *style, double value, double share)
{
	return put_value(s, style, s->set->shown[0], value, share, false);
}

void sheet_first_name(const struct sheet *s, const struct style *style)
{
	size_t first = s->set->shown[0];
	const struct column *c = &s->set->items[first];

	fprintf(style->out, "%s%s%s%s", c->estimated ? "~" : "", c->name, figure_is_time(c) ? ", " : "",
		figure_is_time(c) ? unit_name(s->units[first]) : "");
}
