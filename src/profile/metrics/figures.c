#include "profile/metrics/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *figure_count(uint64_t count, char text[FIGURE_SIZE])
{
	static const char units[] = "kMGTPE";
	double v = (double)count / 1000;
	int u = 0;

	if (count < 1000000) {
		snprintf(text, FIGURE_SIZE, "%" PRIu64, count);
		return text;
	}
	for (; v >= 999.5 && u < 5; u++)
		v /= 1000;
	snprintf(text, FIGURE_SIZE, "%.*f%c", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[u]);
	return text;
}

const char *figure_number(uint64_t number, char text[FIGURE_SIZE])
{
	char plain[24];
	int digits = snprintf(plain, sizeof(plain), "%" PRIu64, number);
	char *p = text;

	for (int i = 0; i < digits; i++) {
		if (i && (digits - i) % 3 == 0)
			*p++ = ',';
		*p++ = plain[i];
	}
	*p = 0;
	return text;
}

const char *figure_duration(uint64_t ns, char text[FIGURE_SIZE])
{
	double v = (double)ns;

	if (ns >= 1000000000)
		snprintf(text, FIGURE_SIZE, "%.3f s", v / 1e9);
	else if (ns >= 1000000)
		snprintf(text, FIGURE_SIZE, "%.1f ms", v / 1e6);
	else if (ns >= 1000)
		snprintf(text, FIGURE_SIZE, "%.1f us", v / 1e3);
	else
		snprintf(text, FIGURE_SIZE, "%" PRIu64 " ns", ns);
	return text;
}

bool figure_is_time(const struct column *c)
{
	return !strcmp(c->unit, "ns") || !strcmp(c->unit, "s");
}

static bool is_bytes(const struct column *c)
{
	return *c->unit == 'B' && (!c->unit[1] || c->unit[1] == '/');
}

int figure_width(const struct column *c)
{
	return is_bytes(c) || figure_is_time(c) ? 10 : 9;
}

double figure_seconds(const struct column *c, double value)
{
	return !strcmp(c->unit, "ns") ? value / 1e9 : value;
}

double figure_unit(double most)
{
	return most >= 1 ? 1e9 : most >= 0.001 ? 1e6 : 1e3;
}

/* At most seven columns and a sign. */
static const char *scaled(double value, double step, const char *const *units, char text[FIGURE_SIZE])
{
	unsigned u = 0;
	double v = fabs(value);

	for (; v >= (step > 1000 ? 1023.5 : 999.5) && u < 6; u++)
		v /= step;
	snprintf(text, FIGURE_SIZE, "%s%.*f%s", value < 0 ? "-" : "",
		!u || v >= 99.95 ? 0
		: v >= 9.995     ? 1
				 : 2,
		v, units[u]);
	return text;
}

const char *figure_value(const struct column *c, double value, double unit, char text[FIGURE_SIZE])
{
	static const char *const bytes[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
	static const char *const numbers[] = {"", "k", "M", "G", "T", "P", "E"};

	if (isnan(value))
		snprintf(text, FIGURE_SIZE, "-");
	else if (figure_is_time(c))
		snprintf(text, FIGURE_SIZE, "%.3f", figure_seconds(c, value) * 1e9 / unit);
	else if (is_bytes(c))
		scaled(value, 1024, bytes, text);
	else if (fabs(value) >= 999999.5)
		scaled(value, 1000, numbers, text);
	else if (!c->derive || fabs(value) >= 9999.9995)
		snprintf(text, FIGURE_SIZE, "%.0f", value);
	else if (value != 0 && fabs(value) < 0.001)
		snprintf(text, FIGURE_SIZE, "%.1e", value);
	else
		snprintf(text, FIGURE_SIZE, "%.3f", value);
	return text;
}
