/* How the source pane looks. */
#include <stdio.h>
#include <string.h>

#include "profile/metrics/figures.h"
#include "viewer/panes/source.h"

#define TAB 8
#define MISSING_MAX 4096

/* What there is room for. */
struct columns {
	bool inclusive, time, samples;
	int bar, number;
};

static struct columns choose_columns(const struct source_pane *p, int width)
{
	unsigned last = row_count(p) ? line_of_row(p, row_count(p) - 1) : 0;
	struct columns c = {.inclusive = p->called && width >= 56,
		.samples = width >= 76,
		.time = width >= 96,
		.bar = width >= 76 ? 8 : 4};

	for (c.number = 3; last > 999; last /= 10)
		c.number++;
	return c;
}

static int draw_heading(const struct area *area, int y, const struct columns *c)
{
	int x = 0;

	if (c->inclusive)
		x += canvas_printf(area, y, x, INK_BOLD, "%6s ", "incl %");
	x += canvas_printf(area, y, x, INK_BOLD, "%6s ", "excl %");
	if (c->time)
		x += canvas_printf(area, y, x, INK_BOLD, "%9s ", "excl");
	if (c->samples)
		x += canvas_printf(area, y, x, INK_BOLD, "%7s ", "samples");
	x += c->bar + 1;
	x += canvas_printf(area, y, x, INK_BOLD, "%*s", c->number, "line");
	return x;
}

static double share_of(const struct source_pane *p, uint64_t time)
{
	return p->lines.total ? (double)time / (double)p->lines.total : 0;
}

static int draw_cost(const struct source_pane *p, const struct area *area, int y, const struct columns *c,
	const struct line_cost *cost)
{
	uint64_t own = cost ? cost->exclusive : 0;
	unsigned ink = canvas_heat(share_of(p, own));
	char text[FIGURE_SIZE];
	int x = 0;

	if (c->inclusive && cost && cost->inclusive)
		canvas_printf(area, y, x, canvas_heat(share_of(p, cost->inclusive - cost->idle)), "%6.1f",
			100 * share_of(p, cost->inclusive - cost->idle));
	x += c->inclusive ? 7 : 0;
	if (own)
		canvas_printf(area, y, x, ink, "%6.1f", 100 * share_of(p, own));
	x += 7;
	if (c->time && own)
		canvas_printf(area, y, x, ink, "%9s", figure_duration(own, text));
	x += c->time ? 10 : 0;
	if (c->samples && cost && cost->samples)
		canvas_printf(area, y, x, ink, "%7s", figure_count(cost->samples, text));
	x += c->samples ? 8 : 0;
	if (own && p->most)
		canvas_bar(
			area, y, x, c->bar, (double)own / (double)p->most, ink == INK_PLAIN ? INK_DIM : ink);
	return x + c->bar + 1;
}

/* The bytes up to the next tab or zero, as many as fit in a piece without cutting a character. */
static size_t piece_of(const char *text, size_t length, size_t room)
{
	size_t n = 0;

	while (n < length && n < room && text[n] && text[n] != '\t')
		n++;
	if (n == room)
		while (n > 1 && n < length && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	return n;
}

/* With tabs; `skip` columns are left of the area. */
static void draw_text(const struct area *area, int y, int skip, unsigned ink, const char *text, size_t length)
{
	char piece[512];
	int column = 0;

	length = length > LINE_MAX_SHOWN ? LINE_MAX_SHOWN : length;
	while (length && column - skip < area->width) {
		size_t n = piece_of(text, length, sizeof(piece) - 1);

		memcpy(piece, text, n);
		piece[n] = '\0';
		column += canvas_text(area, y, column - skip, ink, piece);
		text += n;
		length -= n;
		if (!length || n == sizeof(piece) - 1)
			continue;
		if (*text == '\t')
			column += TAB - column % TAB;
		else if (!*text)
			column += canvas_text(area, y, column - skip, INK_DIM, "?");
		length -= *text == '\t' || !*text;
		text += *text == '\t' || !*text;
	}
}

static void draw_row(
	const struct source_pane *p, const struct area *area, int y, const struct columns *c, size_t row)
{
	unsigned line = line_of_row(p, row);
	const struct line_cost *cost = lines_at(p->costs, p->cost_count, line);
	int x = draw_cost(p, area, y, c, cost);
	bool here = line && line == p->wanted;
	struct area code;

	x += canvas_printf(area, y, x, here ? INK_BOLD : INK_DIM, "%*u", c->number, line);
	if (here)
		canvas_glyph(area, y, x, INK_BOLD, GLYPH_CLOSED);
	x += 2;
	code = (struct area){area->canvas, area->y, area->x + x, area->height, area->width - x};
	if (p->path) {
		const char *text;
		size_t length = source_line(&p->source, row, &text);

		draw_text(&code, y, p->left, INK_PLAIN, text, length);
	} else if (cost) {
		canvas_text(&code, y, 0, INK_DIM, cost->name);
	}
	if (row == p->pane.list.cursor)
		canvas_reverse(area, y, 0, area->width);
}

static int draw_title(const struct source_pane *p, const struct area *area)
{
	int x = 0, y = 0;

	if (p->load && !p->path && !p->missing) {
		canvas_text(area, 0, 0, INK_DIM, "reading ...");
		return 1;
	}
	canvas_cut(area, 0, x, area->width, INK_PLACE, p->path ? p->path : p->file ? p->file : "");
	if (*p->note)
		canvas_cut(area, ++y, 0, area->width, INK_WARN, p->note);
	return y + 1;
}

/* What is missing, line by line; the next row. */
static int draw_missing(const struct source_pane *p, const struct area *area, int y)
{
	char line[MISSING_MAX];

	for (const char *at = p->missing; at && *at && y < area->height - 3;) {
		size_t n = strcspn(at, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)(n < sizeof(line) ? n : sizeof(line) - 1), at);
		canvas_cut(area, y++, 0, area->width, INK_WARN, line);
		at += n + (at[n] == '\n');
	}
	return y;
}

/* All that is known of the cursor's line. */
static void draw_detail(const struct source_pane *p, const struct area *area, int y)
{
	const struct line_cost *cost = lines_at(p->costs, p->cost_count, line_of_row(p, p->pane.list.cursor));
	char own[FIGURE_SIZE], inclusive[FIGURE_SIZE], samples[FIGURE_SIZE], calls[FIGURE_SIZE];
	int x;

	if (!cost)
		return;
	x = canvas_printf(area, y, 0, INK_DIM, "%s exclusive, %s samples",
		figure_duration(cost->exclusive, own), figure_number(cost->samples, samples));
	if (p->called)
		x += canvas_printf(
			area, y, x, INK_DIM, ", %s inclusive", figure_duration(cost->inclusive, inclusive));
	if (cost->calls)
		x += canvas_printf(area, y, x, INK_DIM, ", %s calls", figure_number(cost->calls, calls));
	if (cost->waited)
		x += canvas_printf(area, y, x, INK_DIM, ", %s waited", figure_duration(cost->waited, own));
	x += canvas_text(area, y, x, INK_DIM, cost->several ? ", in several: " : ", in ");
	canvas_name(area, y, x, area->width - x, INK_PLAIN, cost->name);
}

void source_draw(struct source_pane *p, const struct area *area)
{
	struct columns columns = choose_columns(p, area->width);
	int y = draw_title(p, area), rows;

	y = draw_missing(p, area, y);
	if (!p->path && !p->cost_count)
		return;
	draw_heading(area, y++, &columns);
	rows = area->height - y - 1;
	p->pane.first = y;
	list_set(&p->pane.list, row_count(p), rows);
	for (int i = 0; i < rows && p->pane.list.top + (size_t)i < p->pane.list.count; i++)
		draw_row(p, area, y + i, &columns, p->pane.list.top + (size_t)i);
	draw_detail(p, area, area->height - 1);
}
