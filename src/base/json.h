/* JSON and CSV text: for whatever writes either. */
#ifndef HYB_JSON_H
#define HYB_JSON_H

#include <stddef.h>
#include <stdio.h>

/* Bytes of the UTF-8 character at `text`, or 0 if it is none (too long, a surrogate, too large, the end). */
static inline size_t utf8_length(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	static const struct {
		unsigned char first, last, low, high;
		size_t length;
	} forms[] = {
		{0x01, 0x7f, 0, 0, 1},
		{0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3},
		{0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4},
		{0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
		size_t n = 1;

		if (*p < forms[f].first || *p > forms[f].last)
			continue;
		if (forms[f].length > 1 && (p[1] < forms[f].low || p[1] > forms[f].high))
			return 0;
		while (n < forms[f].length && (n == 1 || (p[n] & 0xc0) == 0x80))
			n++;
		return n == forms[f].length ? n : 0;
	}
	return 0;
}

/* A quoted string; bytes that are not UTF-8 become U+FFFD. */
static inline void json_string(FILE *out, const char *text)
{
	const char *plain = text; /* from here on nothing needs a second look */

	fputc('"', out);
	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t n = utf8_length(text);

		if (n && c != '"' && c != '\\' && c >= 0x20 && c != 0x7f) {
			text += n;
			continue;
		}
		fwrite(plain, 1, (size_t)(text - plain), out);
		if (!n)
			fputs("\\ufffd", out);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else
			fprintf(out, "\\u%04x", c);
		plain = ++text;
	}
	fwrite(plain, 1, (size_t)(text - plain), out);
	fputc('"', out);
}

/* The same for CSV; line breaks stay as they are. */
static inline void csv_string(FILE *out, const char *text)
{
	const char *plain = text;

	fputc('"', out);
	while (*text) {
		size_t n = utf8_length(text);

		if (n && *text != '"') {
			text += n;
			continue;
		}
		fwrite(plain, 1, (size_t)(text - plain), out);
		fputs(n ? "\"\"" : "\xef\xbf\xbd", out);
		plain = ++text;
	}
	fwrite(plain, 1, (size_t)(text - plain), out);
	fputc('"', out);
}

#endif
