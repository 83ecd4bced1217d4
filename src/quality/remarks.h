/* The quality block as lines: a label, and words that are broken where a screen ends. */
#ifndef HYB_QUALITY_REMARKS_H
#define HYB_QUALITY_REMARKS_H

#include <stdbool.h>
#include <stdio.h>

#include "format/words.h"
#include "profile/metrics/figures.h"

/* Text that grows; text for which there is no memory is missing. */
struct text {
	char *bytes;
	size_t size;
	FILE *stream; /* NULL: nothing was added */
};

#define NO_BREAK "\1" /* a space at which no line is broken */

struct text text_begin(void);
__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);
/* The text, to be freed, which is empty then; NULL: there is none. */
char *text_take(struct text *text);

uint64_t text_sum(const uint64_t *values, size_t count);

/* "" or "s" */
const char *text_plural(uint64_t n);

/* "12 %", "0.37 %": with as many digits as are significant; the space in it does not break. */
const char *text_percent(uint64_t part, uint64_t whole, char text[FIGURE_SIZE]);

/* ": 10 so, 2 so" for all that are not 0; without the number if it is only one. */
void text_reasons(struct text *text, const uint64_t *counts, size_t count, const struct words *words);

struct remark {
	bool warns;
	const char *label;
	char *text;
};

/* Zero bytes are an empty, valid one. */
struct remarks {
	struct remark *list;
	size_t count;
};

/* The text behind a label, which is empty then. Nothing if there is none, or memory is out. */
void remarks_add(struct remarks *remarks, bool warns, const char *label, struct text *text);
void remarks_release(struct remarks *remarks);

/* Prints one in at most `width` columns. `marks`: in front of the label, behind it, and in front of the lines
 * that follow. */
void remark_put(const struct remark *remark, FILE *out, unsigned width, const char *const marks[3]);

#endif
