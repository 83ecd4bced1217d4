/* JSON text: for whatever writes it. The file is one thread's. */
#ifndef HYB_JSON_H
#define HYB_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/*
 * Writes one JSON text: commas, quotes and what closes are its own. Zero bytes with `out` begin one. `key` is
 * the name of a member of an object, NULL in an array and in front of the whole. At most 64 levels.
 */
struct json {
	FILE *out;
	uint64_t filled, arrays; /* bits, by level: something stands there; it is an array */
	unsigned depth;
	bool line; /* what comes next begins a line */
	uint64_t written; /* bytes */
};

void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
void json_end(struct json *json); /* of the innermost object or array */

/* Bytes that are not UTF-8 become U+FFFD. NULL: null. */
void json_text(struct json *json, const char *key, const char *text);
void json_number(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
/* The value by 10^digits, exactly: ns in milliseconds with 6. */
void json_decimal(struct json *json, const char *key, uint64_t value, unsigned digits);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
void json_id(struct json *json, const char *key, uint64_t value); /* a text of 16 hexadecimal digits */
/* What is not finite becomes null. So many digits behind the point; so many significant ones (17:
 * exactly). */
void json_fixed(struct json *json, const char *key, double value, int digits);
void json_real(struct json *json, const char *key, double value, int digits);

/* The next value, with its key, begins a line. */
static inline void json_line(struct json *json)
{
	json->line = true;
}

/* An array that begins a line. */
static inline void json_list(struct json *json, const char *key)
{
	json_line(json);
	json_array(json, key);
}

/* An object in an array, on a line of its own. */
static inline void json_row(struct json *json)
{
	json_line(json);
	json_object(json, NULL);
}

#endif
