/*
 * What a screen shows: a grid of characters with inks, in memory. Panes draw here and know nothing of
 * terminals; screen.h brings it to one, canvas_write() to a file. One thread.
 */
#ifndef HYB_CANVAS_H
#define HYB_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a piece of text is; how that looks is the screen's business (256, 8 or no colours). */
enum ink {
	INK_PLAIN = 0,
	INK_DIM, /* guides, intermediates, what may be overlooked */
	INK_BOLD, /* probes, headings */
	INK_PLACE, /* file and line behind a name */
	INK_WARN, /* incomplete, damaged, estimated */
	INK_GOOD, /* became less */
	INK_BAD, /* became more; errors */
	INK_BAR, /* title and key lines */
	INK_KEY, /* a key's name in the key line */
	INK_MATCH, /* what a search found */
	INK_HEAT, /* INK_HEAT + 0..HEAT_STEPS - 1: from warm to hot */
};
#define HEAT_STEPS 6u
#define INK_BAND \
	(INK_HEAT + HEAT_STEPS) /* INK_BAND + 0..BANDS - 1: colours of a timeline, on their background */
#define BANDS 12u
#define INKS (INK_BAND + BANDS)

/* Of a share from 0 to 1; INK_PLAIN below 0.02. */
unsigned canvas_heat(double share);

enum glyph {
	GLYPH_VERTICAL = 0, /* │ | */
	GLYPH_BRANCH, /* ├ |- */
	GLYPH_LAST, /* └ `- */
	GLYPH_HORIZONTAL, /* ─ - */
	GLYPH_OPEN, /* ▾ v: shown below */
	GLYPH_CLOSED, /* ▸ > */
	GLYPH_MARK, /* ● * */
	GLYPH_DOTS, /* … ~ */
	GLYPH_UP, /* ▲ ^ */
	GLYPH_DOWN, /* ▼ v */
	GLYPH_BLOCK, /* █ # */
	GLYPH_COUNT,
};

struct cell {
	uint32_t character; /* one column; 0: behind a wide one */
	uint8_t ink;
	bool reverse; /* the cursor's line, a band */
};

struct canvas {
	int width, height;
	bool utf8; /* else only ASCII is shown */
	struct cell *cells; /* [y * width + x] */
};

/* A part of a canvas, in which 0, 0 is its own corner; drawing outside of it does nothing. */
struct area {
	struct canvas *canvas;
	int y, x, height, width;
};

/* All blank. 0 or HYB_ENOMEM, *canvas is then as before. Zero bytes are an empty one. */
int canvas_resize(struct canvas *canvas, int width, int height);
void canvas_clear(struct canvas *canvas);
void canvas_release(struct canvas *canvas);

/*
 * Text in UTF-8 at that place, cut at the area's edge; columns taken, also of what was cut. What does not
 * print (names come from measured programs) shows as '?'. canvas_cut(): in at most `room` columns, with the
 * middle left out if it does not fit; canvas_name(): a function's, first without what its brackets hold
 * (arguments, then those of templates), then without classes and namespaces in front.
 */
int canvas_text(const struct area *area, int y, int x, unsigned ink, const char *text);
int canvas_printf(const struct area *area, int y, int x, unsigned ink, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
int canvas_cut(const struct area *area, int y, int x, int room, unsigned ink, const char *text);
int canvas_name(const struct area *area, int y, int x, int room, unsigned ink, const char *name);
int canvas_glyph(const struct area *area, int y, int x, unsigned ink, enum glyph glyph);

/* Columns that a text takes. */
int canvas_columns(const struct canvas *canvas, const char *text);

/* A horizontal bar of so many columns, to an eighth where the canvas has UTF-8. */
void canvas_bar(const struct area *area, int y, int x, int columns, double share, unsigned ink);

/* Background of what stands there already, from x on so many columns. */
void canvas_reverse(const struct area *area, int y, int x, int columns);
void canvas_ink(const struct area *area, int y, int x, int columns, unsigned ink);

/* Lines without trailing blanks, in UTF-8 (or ASCII); 0 or -1 with errno. */
int canvas_write(const struct canvas *canvas, FILE *out);

#endif
