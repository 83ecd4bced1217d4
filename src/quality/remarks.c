#include "quality/remarks.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LABEL_WIDTH 9
#define WIDEST 100u /* longer lines are hard to read */

struct text text_begin(void)
{
	return (struct text){0};
}

void text_add(struct text *text, const char *format, ...)
{
	va_list arguments;

	if (!text->stream)
		text->stream = open_memstream(&text->bytes, &text->size);
	if (!text->stream)
		return;
	va_start(arguments, format);
	vfprintf(text->stream, format, arguments);
	va_end(arguments);
}

char *text_take(struct text *text)
{
	char *bytes;

	if (!text->stream)
		return NULL;
	fclose(text->stream);
	bytes = text->bytes;
	*text = (struct text){0};
	return bytes;
}

void remarks_add(struct remarks *remarks, bool warns, const char *label, struct text *text)
{
	char *bytes = text_take(text);

	if (bytes && ARRAY_ROOM(remarks->list, remarks->count))
		remarks->list[remarks->count++] = (struct remark){warns, label, bytes};
	else
		free(bytes);
}

void remarks_release(struct remarks *remarks)
{
	for (size_t i = 0; i < remarks->count; i++)
		free(remarks->list[i].text);
	free(remarks->list);
	*remarks = (struct remarks){0};
}

/* Prints a word, without the control characters that a program may have put into it. */
static void put_word(FILE *out, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		fputc(word[i] == *NO_BREAK                                 ? ' '
			: (unsigned char)word[i] < 0x20 || word[i] == 0x7f ? '?'
									   : word[i],
			out);
}

void remark_put(const struct remark *remark, FILE *out, unsigned width, const char *const marks[3])
{
	unsigned room = width < WIDEST ? width : WIDEST, column = LABEL_WIDTH;

	fprintf(out, "%s%-*s%s", marks[0], LABEL_WIDTH - 1, remark->label, marks[1]);
	for (const char *p = remark->text; *p;) {
		size_t length = strcspn(p, " ");

		if (column > LABEL_WIDTH && column + 1 + length > room) {
			fprintf(out, "\n%s%*s", marks[2], LABEL_WIDTH - 1, "");
			column = LABEL_WIDTH;
		}
		fputc(' ', out);
		put_word(out, p, length);
		column += (unsigned)length + 1;
		p += length + (p[length] == ' ');
	}
	fputc('\n', out);
}

const char *text_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

const char *text_percent(uint64_t part, uint64_t whole, char text[FIGURE_SIZE])
{
	double p = whole ? (double)part * 100 / (double)whole : 0;

	snprintf(text, FIGURE_SIZE, "%.*f" NO_BREAK "%%",
		p >= 9.95     ? 0
		: p >= 0.995  ? 1
		: p >= 0.0995 ? 2
			      : 3,
		p);
	return text;
}

uint64_t text_sum(const uint64_t *values, size_t count)
{
	uint64_t s = 0;

	for (size_t i = 0; i < count; i++)
		s += values[i];
	return s;
}

void text_reasons(struct text *text, const uint64_t *counts, size_t count, const struct words *words)
{
	const char *comma = ": ";
	uint64_t all = text_sum(counts, count);
	char number[FIGURE_SIZE];

	for (size_t i = 0; i < count; i++) {
		if (!counts[i])
			continue;
		text_add(text, "%s%s%s%s", comma, counts[i] == all ? "" : figure_number(counts[i], number),
			counts[i] == all ? "" : " ", word_text(words, i));
		comma = ", ";
	}
}
