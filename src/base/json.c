#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

/* Without a lock for each: that takes longer than the bytes. */
static void put(struct json *json, const char *text, size_t length)
{
	json->written += fwrite_unlocked(text, 1, length, json->out);
}

static void put_byte(struct json *json, char byte)
{
	json->written += putc_unlocked(byte, json->out) != EOF;
}

static void put_format(struct json *json, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_format(struct json *json, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vfprintf(json->out, format, arguments);
	va_end(arguments);
	json->written += n > 0 ? (uint64_t)n : 0;
}

/* printf() takes several times as long. `behind`: so many digits stand behind a point. */
static void put_digits(struct json *json, uint64_t value, unsigned behind)
{
	char text[24];
	size_t at = sizeof(text);
	unsigned n = 0;

	do {
		if (n && n == behind)
			text[--at] = '.';
		text[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (++n <= behind || value);
	put(json, text + at, sizeof(text) - at);
}

/* A character that does not stand for itself, or is longer than a byte. Returns its bytes. */
static size_t put_special(struct json *json, const char *text)
{
	size_t length = utf8_length(text);

	if (length > 1)
		put(json, text, length);
	else if (!length)
		put(json, "\\ufffd", 6);
	else if (*text == '"' || *text == '\\')
		put(json, (const char[]){'\\', *text}, 2);
	else
		put_format(json, "\\u%04x", (unsigned char)*text);
	return length ? length : 1;
}

static void put_string(struct json *json, const char *text)
{
	put_byte(json, '"');
	while (*text) {
		size_t plain = 0;

		while (text[plain] >= 0x20 && text[plain] < 0x7f && text[plain] != '"' && text[plain] != '\\')
			plain++;
		put(json, text, plain);
		text += plain;
		if (*text)
			text += put_special(json, text);
	}
	put_byte(json, '"');
}

/* What stands in front of each value. */
static void begin(struct json *json, const char *key)
{
	uint64_t bit = UINT64_C(1) << json->depth;

	if (json->filled & bit)
		put_byte(json, ',');
	if (json->line)
		put_byte(json, '\n');
	json->filled |= bit;
	json->line = false;
	if (key) {
		put_string(json, key);
		put_byte(json, ':');
	}
}

static void open(struct json *json, const char *key, bool array)
{
	uint64_t bit;

	begin(json, key);
	put_byte(json, array ? '[' : '{');
	bit = UINT64_C(1) << ++json->depth;
	json->filled &= ~bit;
	json->arrays = array ? json->arrays | bit : json->arrays & ~bit;
}

void json_object(struct json *json, const char *key)
{
	open(json, key, false);
}

void json_array(struct json *json, const char *key)
{
	open(json, key, true);
}

void json_end(struct json *json)
{
	if (json->line)
		put_byte(json, '\n');
	json->line = false;
	put_byte(json, json->arrays >> json->depth & 1 ? ']' : '}');
	json->depth--;
}

void json_text(struct json *json, const char *key, const char *text)
{
	if (!text) {
		json_null(json, key);
		return;
	}
	begin(json, key);
	put_string(json, text);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	json_decimal(json, key, value, 0);
}

void json_decimal(struct json *json, const char *key, uint64_t value, unsigned digits)
{
	begin(json, key);
	put_digits(json, value, digits);
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	begin(json, key);
	if (value < 0)
		put_byte(json, '-');
	put_digits(json, value < 0 ? -(uint64_t)value : (uint64_t)value, 0);
}

void json_id(struct json *json, const char *key, uint64_t value)
{
	begin(json, key);
	put_format(json, "\"%016" PRIx64 "\"", value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin(json, key);
	put(json, value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json *json, const char *key)
{
	begin(json, key);
	put(json, "null", 4);
}

void json_fixed(struct json *json, const char *key, double value, int digits)
{
	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	begin(json, key);
	put_format(json, "%.*f", digits, value);
}

void json_real(struct json *json, const char *key, double value, int digits)
{
	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	begin(json, key);
	put_format(json, "%.*g", digits, value);
}
