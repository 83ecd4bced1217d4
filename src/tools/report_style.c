#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/report.h"

#define NARROWEST 40u

static const char *const inks[] = {
	[INK_PLAIN] = "\033[0m",
	[INK_BOLD] = "\033[1m",
	[INK_DIM] = "\033[2m",
	[INK_PLACE] = "\033[36m",
	[INK_WARN] = "\033[33m",
	[INK_HOT] = "\033[31m",
	[INK_WARM] = "\033[33m",
};

void style_init(struct style *style, const struct report_options *options)
{
	bool terminal = isatty(STDOUT_FILENO);
	const char *columns = getenv("COLUMNS"), *term = getenv("TERM");
	struct winsize size = {0};

	*style = (struct style){.out = stdout, .width = 80, .unit = 1e9, .unit_name = "s"};
	style->full_paths = options->full_paths;
	style->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	style->cut = terminal;
	if (terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		style->width = size.ws_col;
	else if (terminal && columns && atoi(columns) > 0)
		style->width = (unsigned)atoi(columns);
	if (style->width < NARROWEST)
		style->width = NARROWEST;
	style->colour = options->colour > 0 || (options->colour < 0 && terminal && term &&
						       strcmp(term, "dumb") && !getenv("NO_COLOR"));
}

void style_set_unit(struct style *style, uint64_t largest)
{
	style->unit = largest >= 1000000000 ? 1e9 : largest >= 1000000 ? 1e6 : 1e3;
	style->unit_name = largest >= 1000000000 ? "s" : largest >= 1000000 ? "ms" : "us";
}

void style_ink(const struct style *style, enum ink ink)
{
	if (style->colour)
		fputs(inks[ink], style->out);
}

const char *style_count(uint64_t count, char text[COUNT_SIZE])
{
	static const char units[] = "kMGTPE";
	double v = (double)count / 1000;
	int u = 0;

	if (count < 1000000) {
		snprintf(text, COUNT_SIZE, "%" PRIu64, count);
		return text;
	}
	for (; v >= 999.5 && u < 5; u++)
		v /= 1000;
	snprintf(text, COUNT_SIZE, "%.*f%c", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[u]);
	return text;
}

const char *style_number(uint64_t number, char text[COUNT_SIZE])
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

const char *style_duration(uint64_t ns, char text[COUNT_SIZE])
{
	double v = (double)ns;

	if (ns >= 1000000000)
		snprintf(text, COUNT_SIZE, "%.3f s", v / 1e9);
	else if (ns >= 1000000)
		snprintf(text, COUNT_SIZE, "%.1f ms", v / 1e6);
	else if (ns >= 1000)
		snprintf(text, COUNT_SIZE, "%.1f us", v / 1e3);
	else
		snprintf(text, COUNT_SIZE, "%" PRIu64 " ns", ns);
	return text;
}

/* Bytes that begin a character; the others of UTF-8 take no column. */
static bool begins(const struct style *style, char c)
{
	return !style->utf8 || ((unsigned char)c & 0xc0) != 0x80;
}

static size_t columns_of(const struct style *style, const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += begins(style, *text);
	return n;
}

/* Names come from the measured program: nothing in them may steer a terminal. */
static void put_safe(const struct style *style, const char *text, size_t from, size_t to)
{
	size_t column = 0;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		column += begins(style, *text);
		if (column > from && column <= to)
			fputc(c < 0x20 || c == 0x7f ? '?' : c, style->out);
	}
}

/* In at most `room` columns, the middle left out. */
static void put_cut(const struct style *style, const char *text, size_t room)
{
	size_t length = columns_of(style, text), dots = style->utf8 ? 1 : 3, head;

	if (length <= room || room < 2 * dots) {
		put_safe(style, text, 0, SIZE_MAX);
		return;
	}
	head = (room - dots + 1) / 2;
	put_safe(style, text, 0, head);
	fputs(style->utf8 ? "…" : "...", style->out);
	put_safe(style, text, length - (room - dots - head), SIZE_MAX);
}

/* The last part of a path; of a package's "__init__.py" and "__main__.py" the last two. */
static const char *short_path(const char *path)
{
	const char *base = strrchr(path, '/'), *above = base;

	if (!base)
		return path;
	if (strncmp(base, "/__init__.", 10) && strncmp(base, "/__main__.", 10))
		return base + 1;
	while (above > path && above[-1] != '/')
		above--;
	return above;
}

/* Where the code is: ":file.c:23", " (file.c:12)", " (libm.so.6)"; allocated, or NULL. */
static char *place_of(const struct style *style, const struct label *label)
{
	const char *file = label->file;
	const char *module = strrchr(label->module, '/');
	char *text = NULL;
	int n = -1;

	if (!style->full_paths)
		file = short_path(file);
	module = module && !style->full_paths ? module + 1 : label->module;
	if (strstr(module, "libhybrid.so")) /* our wrapper of what the program called */
		module = "";
	if (label->kind == PROFILE_PROBE && *label->file)
		n = label->line ? asprintf(&text, " (%s:%u)", file, label->line)
				: asprintf(&text, " (%s)", file);
	else if (label->kind != PROFILE_PROBE && *label->file && label->line)
		n = asprintf(&text, ":%s:%u", file, label->line);
	else if ((label->kind == PROFILE_LEAF || label->python) && *label->file)
		n = asprintf(&text, ":%s", file);
	else if (label->kind != PROFILE_PROBE && !*label->file && *module && *label->name != '[')
		n = asprintf(&text, " (%s)", module);
	return n < 0 ? NULL : text;
}

static enum ink ink_of(unsigned kind)
{
	switch (kind) {
	case PROFILE_ROOT:
	case PROFILE_PROBE:
		return INK_BOLD;
	case PROFILE_INTERMEDIATE:
		return INK_DIM;
	case PROFILE_INCOMPLETE:
		return INK_WARN;
	}
	return INK_PLAIN;
}

void style_label(struct style *style, const struct label *label, unsigned used)
{
	bool brackets = label->kind == PROFILE_INTERMEDIATE && *label->name != '[';
	char *place = place_of(style, label), count[COUNT_SIZE], tail[80] = "";
	size_t taken, room = SIZE_MAX;

	if (label->skipped)
		snprintf(tail, sizeof(tail), "  %s calls only counted", style_count(label->skipped, count));
	taken = used + 2 * brackets + label->guess + (place ? columns_of(style, place) : 0) + strlen(tail);
	if (style->cut)
		room = style->width > taken + 8 ? style->width - taken : 8;
	style_ink(style, ink_of(label->kind));
	fputs(brackets ? "[" : "", style->out);
	put_cut(style, label->name, room);
	fputs(label->guess ? "~" : "", style->out);
	style->guessed |= label->guess;
	if (place && label->kind != PROFILE_INTERMEDIATE) {
		style_ink(style, INK_PLAIN);
		style_ink(style, label->kind == PROFILE_PROBE ? INK_DIM : INK_PLACE);
	}
	if (place)
		put_safe(style, place, 0, SIZE_MAX);
	fputs(brackets ? "]" : "", style->out);
	style_ink(style, INK_PLAIN);
	if (*tail) {
		style_ink(style, INK_WARN);
		fputs(tail, style->out);
		style_ink(style, INK_PLAIN);
	}
	fputc('\n', style->out);
	free(place);
}
