#include "base/json.h"

#include <inttypes.h>
#include <math.h>

void json_string(FILE *out, const char *text)
{
	const char *plain = text; /* from here on nothing needs a second look */

	fputc('"', out);
	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t n = c >= 0x20 && c < 0x7f ? 1 : utf8_length(text); /* most are ASCII */

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

/* What stands in front of each value. */
static void begin(struct json *json, const char *key)
{
	uint64_t bit = UINT64_C(1) << json->depth;

	if (json->filled & bit)
		fputc(',', json->out);
	if (json->line)
		fputc('\n', json->out);
	json->filled |= bit;
	json->line = false;
	if (key) {
		json_string(json->out, key);
		fputc(':', json->out);
	}
}

static void open(struct json *json, const char *key, bool array)
{
	uint64_t bit;

	begin(json, key);
	fputc(array ? '[' : '{', json->out);
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
		fputc('\n', json->out);
	json->line = false;
	fputc(json->arrays >> json->depth & 1 ? ']' : '}', json->out);
	json->depth--;
}

void json_text(struct json *json, const char *key, const char *text)
{
	if (!text) {
		json_null(json, key);
		return;
	}
	begin(json, key);
	json_string(json->out, text);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	begin(json, key);
	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	fwrite(digits + at, 1, sizeof(digits) - at, json->out); /* printf() takes several times as long */
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	begin(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_id(struct json *json, const char *key, uint64_t value)
{
	begin(json, key);
	fprintf(json->out, "\"%016" PRIx64 "\"", value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *key)
{
	begin(json, key);
	fputs("null", json->out);
}

void json_fixed(struct json *json, const char *key, double value, int digits)
{
	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	begin(json, key);
	fprintf(json->out, "%.*f", digits, value);
}

void json_real(struct json *json, const char *key, double value, int digits)
{
	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	begin(json, key);
	fprintf(json->out, "%.*g", digits, value);
}
