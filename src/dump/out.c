#include "out.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void out_begin(struct out *out, const char *record)
{
	fprintf(out->file, out->json ? "{\"record\":\"%s\"" : "%s", record);
}

static void field_name(struct out *out, const char *field)
{
	fprintf(out->file, out->json ? ",\"%s\":" : " %s ", field);
}

void out_number(struct out *out, const char *field, uint64_t value)
{
	field_name(out, field);
	fprintf(out->file, "%" PRIu64, value);
}

void out_signed(struct out *out, const char *field, int64_t value)
{
	field_name(out, field);
	fprintf(out->file, "%" PRId64, value);
}

void out_real(struct out *out, const char *field, double value)
{
	field_name(out, field);
	if (out->json && !isfinite(value))
		fputs("null", out->file);
	else
		fprintf(out->file, "%.17g", value);
}

void out_hex(struct out *out, const char *field, uint64_t value)
{
	field_name(out, field);
	fprintf(out->file, out->json ? "%" PRIu64 : "0x%" PRIx64, value);
}

void out_flag(struct out *out, const char *field, bool value)
{
	if (out->json) {
		field_name(out, field);
		fputs(value ? "true" : "false", out->file);
	} else if (value) {
		fprintf(out->file, " %s", field);
	}
}

void out_word(struct out *out, const char *field, const char *word)
{
	field_name(out, field);
	fprintf(out->file, out->json ? "\"%s\"" : "%s", word);
}

/* Bytes of the well-formed UTF-8 character at `s`, or 0. */
static unsigned utf8_length(const unsigned char *s)
{
	unsigned length = *s >= 0xc2 && *s < 0xe0   ? 2
			  : *s >= 0xe0 && *s < 0xf0 ? 3
			  : *s >= 0xf0 && *s < 0xf5 ? 4
						    : 0;

	for (unsigned i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Too long, a surrogate, or above the last character. */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) || (*s == 0xf0 && s[1] < 0x90) ||
		(*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* One character that does not stand for itself, or is longer than a byte; returns its bytes. */
static unsigned put_special(struct out *out, const unsigned char *s)
{
	unsigned length = utf8_length(s);

	if (length)
		fwrite(s, 1, length, out->file);
	else if (*s == '"' || *s == '\\')
		fprintf(out->file, "\\%c", *s);
	else if (*s == '\n')
		fputs("\\n", out->file);
	else
		fprintf(out->file, out->json ? "\\u%04x" : "\\x%02x", *s);
	return length ? length : 1;
}

static void put_text(struct out *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out->file);
	while (*s) {
		const unsigned char *start = s;

		while (is_plain(*s))
			s++;
		fwrite(start, 1, (size_t)(s - start), out->file);
		if (*s)
			s += put_special(out, s);
	}
	putc('"', out->file);
}

void out_text(struct out *out, const char *field, const char *text)
{
	field_name(out, field);
	put_text(out, text);
}

void out_list(struct out *out, const char *field, const int64_t *values, size_t count)
{
	field_name(out, field);
	if (out->json)
		putc('[', out->file);
	for (size_t i = 0; i < count; i++)
		fprintf(out->file, "%s%" PRId64, i ? "," : "", values[i]);
	if (out->json)
		putc(']', out->file);
}

void out_metrics(struct out *out, const char *field, const struct hyb_metric *metrics, const int64_t *values,
	size_t count)
{
	field_name(out, field);
	for (size_t i = 0; i < count; i++) {
		if (out->json || i)
			putc(!out->json ? ' ' : i ? ',' : '{', out->file);
		put_text(out, metrics[i].name);
		fprintf(out->file, out->json ? ":%" PRId64 : " %" PRId64, values[i]);
	}
	if (out->json)
		putc('}', out->file);
}

void out_bytes(struct out *out, const char *field, const uint8_t *bytes, size_t length)
{
	field_name(out, field);
	if (out->json)
		putc('"', out->file);
	for (size_t i = 0; i < length; i++)
		fprintf(out->file, "%02x", bytes[i]);
	if (out->json)
		putc('"', out->file);
	else if (!length)
		putc('-', out->file);
}

void out_end(struct out *out)
{
	fputs(out->json ? "}\n" : "\n", out->file);
}
