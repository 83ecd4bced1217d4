#include "base/csv.h"

#include <inttypes.h>
#include <math.h>

#include "base/json.h"

static void begin(struct csv *csv)
{
	if (csv->filled)
		fputc(',', csv->out);
	csv->filled = true;
}

/* Line breaks stay as they are. */
void csv_text(struct csv *csv, const char *text)
{
	const char *plain = text;

	begin(csv);
	fputc('"', csv->out);
	while (*text) {
		size_t n = utf8_length(text);

		if (n && *text != '"') {
			text += n;
			continue;
		}
		fwrite(plain, 1, (size_t)(text - plain), csv->out);
		fputs(n ? "\"\"" : "\xef\xbf\xbd", csv->out);
		plain = ++text;
	}
	fwrite(plain, 1, (size_t)(text - plain), csv->out);
	fputc('"', csv->out);
}

void csv_plain(struct csv *csv, const char *text)
{
	begin(csv);
	fputs(text, csv->out);
}

void csv_number(struct csv *csv, uint64_t value)
{
	begin(csv);
	fprintf(csv->out, "%" PRIu64, value);
}

void csv_signed(struct csv *csv, int64_t value)
{
	begin(csv);
	fprintf(csv->out, "%" PRId64, value);
}

void csv_id(struct csv *csv, uint64_t value)
{
	begin(csv);
	fprintf(csv->out, "%016" PRIx64, value);
}

void csv_empty(struct csv *csv)
{
	begin(csv);
}

void csv_fixed(struct csv *csv, double value, int digits)
{
	begin(csv);
	if (isfinite(value))
		fprintf(csv->out, "%.*f", digits, value);
}

void csv_real(struct csv *csv, double value, int digits)
{
	begin(csv);
	if (isfinite(value))
		fprintf(csv->out, "%.*g", digits, value);
}

void csv_end(struct csv *csv)
{
	fputs(csv->end ? csv->end : "\n", csv->out);
	csv->filled = false;
}
