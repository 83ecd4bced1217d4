/* The lines of the quality block: a label, and words that are broken where the screen ends. */
#ifndef HYB_REPORT_TEXT_H
#define HYB_REPORT_TEXT_H

#include "format/words.h"
#include "report.h"

/* Text that grows; what did not fit into memory is missing. */
struct text {
	char *bytes;
	size_t size;
	FILE *stream; /* NULL: nothing was added */
};

#define NO_BREAK "\1" /* a space at which no line is broken */

struct text text_begin(void);
__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);

/* Prints the text behind its label, broken between words, and frees it. Nothing if there is none. */
void text_line(const struct style *style, enum ink ink, const char *label, struct text *text);

uint64_t text_sum(const uint64_t *values, size_t count);

/* "" or "s" */
const char *text_plural(uint64_t n);

/* "12 %", "0.37 %": as many digits as say something; the space in it does not break. */
const char *text_percent(uint64_t part, uint64_t whole, char text[FIGURE_SIZE]);

/* ": 10 so, 2 so" for all that are not 0; without the number if it is only one. */
void text_reasons(struct text *text, const uint64_t *counts, size_t count, const struct words *words);

#endif
