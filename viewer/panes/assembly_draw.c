/* How the assembly pane looks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "profile/metrics/figures.h"
#include "viewer/panes/assembly.h"

#define BYTES_SHOWN 8
#define HEADING_INDENT 2

/* Where columns begin; 0: there is no room for it. */
struct columns {
	int through, here, bar, mark, address, bytes, text, place, place_width;
	int digits; /* of addresses */
};

static struct columns choose_columns(const struct assembly_pane *p, int width)
{
	const struct assembly *a = &p->assembly;
	uint64_t last = a->count ? a->items[a->count - 1].address : 0, through = 0, here = 0;
	struct columns c = {.digits = 4};
	bool lines = false;
	int x = 15; /* percent and samples */

	for (size_t i = 0; i < a->count; i++) {
		through += a->items[i].through;
		here += a->items[i].here;
		lines |= !a->items[i].heading && a->items[i].line;
	}
	while (c.digits < 16 && last >> (4 * c.digits))
		c.digits++;
	if (through && width >= 80) {
		c.through = x;
		x += 8;
	}
	if (here && here != a->samples && width >= 90) {
		c.here = x;
		x += 8;
	}
	c.bar = x;
	c.mark = c.bar + 5;
	c.address = c.mark + 2;
	x = c.address + c.digits + 1;
	if (width >= 120) {
		c.bytes = x;
		x += 3 * BYTES_SHOWN + 1;
	}
	c.text = x;
	if (width >= 72 && lines) {
		c.place_width = width >= 100 ? 26 : 18;
		c.place = width - c.place_width;
	}
	return c;
}

static void draw_columns(const struct area *area, int y, const struct columns *c)
{
	canvas_printf(area, y, 0, INK_BOLD, "%6s %7s", "func %", "samples");
	if (c->through)
		canvas_printf(area, y, c->through, INK_BOLD, "%7s", "called");
	if (c->here)
		canvas_printf(area, y, c->here, INK_BOLD, "%7s", "here");
	canvas_printf(area, y, c->address, INK_BOLD, "%*s", c->digits, "addr");
	if (c->bytes)
		canvas_text(area, y, c->bytes, INK_BOLD, "bytes");
	canvas_text(area, y, c->text, INK_BOLD, "instruction");
	if (c->place)
		canvas_text(area, y, c->place, INK_BOLD, " source");
}

static void draw_count(const struct area *area, int y, int x, unsigned ink, uint64_t count)
{
	char text[FIGURE_SIZE];

	if (x && count)
		canvas_printf(area, y, x, ink, "%7s", figure_count(count, text));
}

static void draw_numbers(const struct assembly_pane *p, const struct area *area, int y,
	const struct columns *c, const struct code_item *item)
{
	const struct assembly *a = &p->assembly;
	double share = a->samples ? (double)item->samples / (double)a->samples : 0;
	unsigned ink = canvas_heat(share);

	if (item->samples)
		canvas_printf(area, y, 0, ink, "%6.1f", 100 * share);
	draw_count(area, y, 7, ink, item->samples);
	draw_count(area, y, c->through, INK_PLAIN, item->through);
	draw_count(area, y, c->here, INK_PLAIN, item->here);
	if (item->samples)
		canvas_bar(area, y, c->bar, 4, (double)item->samples / (double)a->most,
			ink == INK_PLAIN ? INK_DIM : ink);
}

/* The source of an item, where it is not that of the one in front. */
static void draw_place(
	const struct assembly_pane *p, const struct area *area, int y, const struct columns *c, size_t row)
{
	const struct code_item *item = &p->assembly.items[row], *before = item - 1;
	char text[400];

	if (!c->place || !*item->file || !item->line)
		return;
	if (row && !before->heading && before->line == item->line && !strcmp(before->file, item->file))
		return;
	snprintf(text, sizeof(text), " %.300s:%u", path_base(item->file), item->line);
	canvas_printf(area, y, c->place, INK_PLAIN, "%*s", c->place_width, "");
	canvas_cut(area, y, c->place, c->place_width, item->at_line ? INK_BOLD : INK_PLACE, text);
}

static void draw_bytes(const struct area *area, int y, int x, const struct code_item *item)
{
	for (int i = 0; i < item->size && i < BYTES_SHOWN; i++)
		canvas_printf(area, y, x + 3 * i, INK_DIM, "%02x", item->bytes[i]);
	if (item->size > BYTES_SHOWN)
		canvas_glyph(area, y, x + 3 * BYTES_SHOWN - 1, INK_DIM, GLYPH_DOTS);
}

static void draw_instruction(
	const struct assembly_pane *p, const struct area *area, int y, const struct columns *c, size_t row)
{
	const struct assembly *a = &p->assembly;
	const struct code_item *item = &a->items[row], *cursor = &a->items[p->pane.list.cursor];
	unsigned ink = item->at_line ? INK_BOLD : a->inlined && !item->of_function ? INK_DIM : INK_PLAIN;
	int end = c->place ? c->place : area->width;
	struct area text = {area->canvas, area->y, area->x + c->text, area->height, end - c->text};

	draw_numbers(p, area, y, c, item);
	if (!cursor->heading && item->target && item->target == cursor->address)
		canvas_glyph(area, y, c->mark, INK_MATCH, GLYPH_CLOSED);
	else if (a->inlined && item->own)
		canvas_glyph(area, y, c->mark, INK_KEY, GLYPH_VERTICAL);
	else if (a->inlined && item->of_function) /* inlined into it */
		canvas_text(area, y, c->mark, INK_DIM, ":");
	canvas_printf(area, y, c->address, INK_PLACE, "%*" PRIx64, c->digits, item->address);
	if (c->bytes)
		draw_bytes(area, y, c->bytes, item);
	canvas_text(&text, y, -p->left, ink, item->text);
	if (cursor->jump && cursor->target == item->address)
		canvas_ink(area, y, c->address, end - c->address, INK_MATCH);
	draw_place(p, area, y, c, row);
}

static void draw_heading(const struct area *area, int y, const struct code_item *item)
{
	char number[FIGURE_SIZE];
	int x = HEADING_INDENT;

	x += canvas_cut(area, y, x, area->width / 2, INK_BOLD, item->text);
	canvas_printf(area, y, x, INK_PLACE, " (%s), %s samples", path_base(item->file),
		figure_number(item->samples, number));
}

/* What is shown, and how much of all it is; the next row. */
static int draw_title(const struct assembly_pane *p, const struct area *area)
{
	const struct assembly *a = &p->assembly;
	char own[FIGURE_SIZE], all[FIGURE_SIZE];
	int x = canvas_name(area, 0, 0, area->width / 2, INK_BOLD, p->name);

	x += canvas_printf(area, 0, x, INK_PLAIN, ": %s samples", figure_number(a->own, own));
	if (p->total)
		x += canvas_printf(
			area, 0, x, INK_PLAIN, ", %.1f %% of all", 100 * (double)a->own / (double)p->total);
	if (a->samples != a->own)
		canvas_printf(area, 0, x, INK_DIM, "; %s in what is shown", figure_number(a->samples, all));
	if (!*a->problem)
		return 1;
	canvas_cut(area, 1, 0, area->width, INK_WARN, a->problem);
	return 2;
}

void assembly_draw(struct assembly_pane *p, const struct area *area)
{
	const struct assembly *a = &p->assembly;
	struct columns columns = choose_columns(p, area->width);
	int y, rows;

	if (!p->made) {
		canvas_text(area, 0, 0, INK_DIM, "reading ...");
		return;
	}
	y = draw_title(p, area);
	draw_columns(area, y++, &columns);
	rows = area->height - y;
	p->pane.first = y;
	list_set(&p->pane.list, a->count, rows);
	for (int i = 0; i < rows && p->pane.list.top + (size_t)i < a->count; i++) {
		size_t row = p->pane.list.top + (size_t)i;

		if (a->items[row].heading)
			draw_heading(area, y + i, &a->items[row]);
		else
			draw_instruction(p, area, y + i, &columns, row);
		if (row == p->pane.list.cursor)
			canvas_reverse(area, y + i, 0, area->width);
	}
}
