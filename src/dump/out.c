#include "out.h"

#include <inttypes.h>

void out_begin(struct out *out, const char *record)
{
	if (!out->json) {
		fputs(record, out->file);
		return;
	}
	out->object = (struct json){.out = out->file};
	json_object(&out->object, NULL);
	json_text(&out->object, "record", record);
}

void out_number(struct out *out, const char *field, uint64_t value)
{
	if (out->json)
		json_number(&out->object, field, value);
	else
		fprintf(out->file, " %s %" PRIu64, field, value);
}

void out_signed(struct out *out, const char *field, int64_t value)
{
	if (out->json)
		json_signed(&out->object, field, value);
	else
		fprintf(out->file, " %s %" PRId64, field, value);
}

void out_real(struct out *out, const char *field, double value)
{
	if (out->json)
		json_real(&out->object, field, value, 17);
	else
		fprintf(out->file, " %s %.17g", field, value);
}

void out_hex(struct out *out, const char *field, uint64_t value)
{
	if (out->json)
		json_number(&out->object, field, value);
	else
		fprintf(out->file, " %s 0x%" PRIx64, field, value);
}

void out_flag(struct out *out, const char *field, bool value)
{
	if (out->json)
		json_bool(&out->object, field, value);
	else if (value)
		fprintf(out->file, " %s", field);
}

void out_word(struct out *out, const char *field, const char *word)
{
	if (out->json)
		json_text(&out->object, field, word);
	else
		fprintf(out->file, " %s %s", field, word);
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* One character that does not stand for itself, or is longer than a byte; returns its bytes. */
static size_t put_special(FILE *file, const char *text)
{
	size_t length = utf8_length(text);

	if (length > 1)
		fwrite(text, 1, length, file);
	else if (*text == '"' || *text == '\\')
		fprintf(file, "\\%c", *text);
	else if (*text == '\n')
		fputs("\\n", file);
	else
		fprintf(file, "\\x%02x", (unsigned char)*text);
	return length ? length : 1;
}

static void put_text(FILE *file, const char *text)
{
	putc('"', file);
	while (*text) {
		const char *start = text;

		while (is_plain((unsigned char)*text))
			text++;
		fwrite(start, 1, (size_t)(text - start), file);
		if (*text)
			text += put_special(file, text);
	}
	putc('"', file);
}

void out_text(struct out *out, const char *field, const char *text)
{
	if (out->json) {
		json_text(&out->object, field, text);
		return;
	}
	fprintf(out->file, " %s ", field);
	put_text(out->file, text);
}

void out_list(struct out *out, const char *field, const int64_t *values, size_t count)
{
	if (!out->json) {
		fprintf(out->file, " %s ", field);
		for (size_t i = 0; i < count; i++)
			fprintf(out->file, "%s%" PRId64, i ? "," : "", values[i]);
		return;
	}
	json_array(&out->object, field);
	for (size_t i = 0; i < count; i++)
		json_signed(&out->object, NULL, values[i]);
	json_end(&out->object);
}

void out_metrics(struct out *out, const char *field, const struct hyb_metric *metrics, const int64_t *values,
	size_t count)
{
	if (!out->json) {
		fprintf(out->file, " %s", field);
		for (size_t i = 0; i < count; i++) {
			putc(' ', out->file);
			put_text(out->file, metrics[i].name);
			fprintf(out->file, " %" PRId64, values[i]);
		}
		return;
	}
	json_object(&out->object, field);
	for (size_t i = 0; i < count; i++)
		json_signed(&out->object, metrics[i].name, values[i]);
	json_end(&out->object);
}

void out_end(struct out *out)
{
	if (out->json)
		json_end(&out->object);
	putc('\n', out->file);
}
