#include "viewer/app/canvas.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "hybrid/reader.h"
#include "viewer/app/utf8.h"

#define REPLACED '?'

unsigned canvas_heat(double share)
{
	static const double steps[HEAT_STEPS] = {0.02, 0.05, 0.1, 0.2, 0.4, 0.7};
	unsigned n = 0;

	while (n < HEAT_STEPS && share >= steps[n])
		n++;
	return n ? INK_HEAT + n - 1 : INK_PLAIN;
}

int canvas_resize(struct canvas *canvas, int width, int height)
{
	struct cell *cells;

	width = width < 1 ? 1 : width;
	height = height < 1 ? 1 : height;
	cells = calloc((size_t)width * (size_t)height, sizeof(*cells));
	if (!cells)
		return HYB_ENOMEM;
	free(canvas->cells);
	canvas->cells = cells;
	canvas->width = width;
	canvas->height = height;
	canvas_clear(canvas);
	return 0;
}

void canvas_clear(struct canvas *canvas)
{
	size_t count = (size_t)canvas->width * (size_t)canvas->height;

	for (size_t i = 0; i < count; i++)
		canvas->cells[i] = (struct cell){.character = ' '};
}

void canvas_release(struct canvas *canvas)
{
	free(canvas->cells);
	*canvas = (struct canvas){.utf8 = canvas->utf8};
}

/* NULL: outside of the area, or of the canvas. */
static struct cell *cell_at(const struct area *area, int y, int x)
{
	const struct canvas *canvas = area->canvas;

	if (y < 0 || x < 0 || y >= area->height || x >= area->width)
		return NULL;
	y += area->y;
	x += area->x;
	if (y < 0 || x < 0 || y >= canvas->height || x >= canvas->width)
		return NULL;
	return &canvas->cells[(size_t)y * (size_t)canvas->width + (size_t)x];
}

/* The next character, and past it; what is no UTF-8 counts as one replaced byte. */
static uint32_t next_character(const char **text)
{
	const unsigned char *p = (const unsigned char *)*text;
	unsigned length = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 ? 2 : 0;
	uint32_t c = length < 2 ? *p : *p & (0x7fu >> length);

	for (unsigned i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			length = 0;
			break;
		}
		c = c << 6 | (p[i] & 0x3f);
	}
	*text += length ? length : 1;
	return length ? c : REPLACED;
}

/* Columns of a character, and how it is shown: what does not print, or steers, becomes '?'. */
static int columns_of(const struct canvas *canvas, uint32_t *character)
{
	int columns;

	if (*character >= 0x20 && *character < 0x7f)
		return 1;
	columns = canvas->utf8 && *character >= 0xa0 ? wcwidth((wchar_t)*character) : -1;
	if (columns >= 0 && columns <= 2)
		return columns;
	*character = REPLACED;
	return 1;
}

static void put(const struct area *area, int y, int x, unsigned ink, uint32_t character, int columns)
{
	struct cell *cell = cell_at(area, y, x), *behind = columns > 1 ? cell_at(area, y, x + 1) : NULL;

	if (!cell)
		return;
	if (columns > 1 && !behind) /* half of it would be outside */
		character = ' ';
	*cell = (struct cell){.character = character, .ink = (uint8_t)ink};
	if (behind)
		*behind = (struct cell){.character = 0, .ink = (uint8_t)ink};
}

int canvas_text(const struct area *area, int y, int x, unsigned ink, const char *text)
{
	int taken = 0;

	while (*text) {
		uint32_t character = next_character(&text);
		int columns = columns_of(area->canvas, &character);

		if (columns)
			put(area, y, x + taken, ink, character, columns);
		taken += columns;
	}
	return taken;
}

int canvas_printf(const struct area *area, int y, int x, unsigned ink, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return canvas_text(area, y, x, ink, text);
}

int canvas_columns(const struct canvas *canvas, const char *text)
{
	int taken = 0;

	while (*text) {
		uint32_t character = next_character(&text);

		taken += columns_of(canvas, &character);
	}
	return taken;
}

/* Those characters of a text that stand in columns from `from` to below `to`; columns taken. */
static int put_part(const struct area *area, int y, int x, unsigned ink, const char *text, int from, int to)
{
	int column = 0, taken = 0;

	while (*text && column < to) {
		uint32_t character = next_character(&text);
		int columns = columns_of(area->canvas, &character);

		if (columns && column >= from && column + columns <= to) {
			put(area, y, x + taken, ink, character, columns);
			taken += columns;
		}
		column += columns;
	}
	return taken;
}

int canvas_cut(const struct area *area, int y, int x, int room, unsigned ink, const char *text)
{
	int length = canvas_columns(area->canvas, text), head, taken;

	if (room <= 0)
		return 0;
	if (length <= room)
		return canvas_text(area, y, x, ink, text);
	head = room / 2;
	taken = put_part(area, y, x, ink, text, 0, head);
	taken += canvas_glyph(area, y, x + taken, ink, GLYPH_DOTS);
	return taken + put_part(area, y, x + taken, ink, text, length - (room - taken), length);
}

int canvas_glyph(const struct area *area, int y, int x, unsigned ink, enum glyph glyph)
{
	static const struct {
		uint32_t utf8;
		char ascii;
	} shapes[GLYPH_COUNT] = {
		[GLYPH_VERTICAL] = {0x2502, '|'},
		[GLYPH_BRANCH] = {0x251c, '|'},
		[GLYPH_LAST] = {0x2514, '`'},
		[GLYPH_HORIZONTAL] = {0x2500, '-'},
		[GLYPH_OPEN] = {0x25be, 'v'},
		[GLYPH_CLOSED] = {0x25b8, '>'},
		[GLYPH_MARK] = {0x25cf, '*'},
		[GLYPH_DOTS] = {0x2026, '~'},
		[GLYPH_UP] = {0x25b2, '^'},
		[GLYPH_DOWN] = {0x25bc, 'v'},
		[GLYPH_BLOCK] = {0x2588, '#'},
	};

	put(area, y, x, ink, area->canvas->utf8 ? shapes[glyph].utf8 : (unsigned char)shapes[glyph].ascii, 1);
	return 1;
}

void canvas_bar(const struct area *area, int y, int x, int columns, double share, unsigned ink)
{
	int eighths, full;

	share = share >= 0 ? share > 1 ? 1 : share : 0; /* NAN: 0 */
	eighths = (int)(share * columns * 8 + 0.5);
	full = eighths / 8;
	if (!area->canvas->utf8)
		full = (eighths + 4) / 8;
	for (int i = 0; i < full; i++)
		canvas_glyph(area, y, x + i, ink, GLYPH_BLOCK);
	if (area->canvas->utf8 && eighths % 8) /* U+258F is one eighth, U+2589 seven */
		put(area, y, x + full, ink, 0x2590u - (uint32_t)(eighths % 8), 1);
}

void canvas_reverse(const struct area *area, int y, int x, int columns)
{
	for (int i = 0; i < columns; i++) {
		struct cell *cell = cell_at(area, y, x + i);

		if (cell)
			cell->reverse = true;
	}
}

void canvas_ink(const struct area *area, int y, int x, int columns, unsigned ink)
{
	for (int i = 0; i < columns; i++) {
		struct cell *cell = cell_at(area, y, x + i);

		if (cell)
			cell->ink = (uint8_t)ink;
	}
}

static void write_character(FILE *out, uint32_t character)
{
	char bytes[UTF8_MAX] = "", *end = utf8_put(bytes, character);

	fwrite(bytes, 1, (size_t)(end - bytes), out);
}

int canvas_write(const struct canvas *canvas, FILE *out)
{
	for (int y = 0; y < canvas->height; y++) {
		const struct cell *row = canvas->cells + (size_t)y * (size_t)canvas->width;
		int end = canvas->width;

		while (end && row[end - 1].character == ' ')
			end--;
		for (int x = 0; x < end; x++)
			if (row[x].character)
				write_character(out, row[x].character);
		fputc('\n', out);
	}
	return fflush(out) || ferror(out) ? -1 : 0;
}
