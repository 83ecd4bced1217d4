#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/launch.h"
#include "report.h"

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

/* What several ranks print passes through their launcher, though it may give them a terminal of its own. */
static bool is_terminal(void)
{
	struct launch_place place;

	return isatty(STDOUT_FILENO) && !(launch_place(&place) && place.size > 1);
}

void style_init(struct style *style, const struct report_options *options)
{
	bool terminal = is_terminal();
	const char *columns = getenv("COLUMNS"), *term = getenv("TERM");
	struct winsize size = {0};

	*style =
		(struct style){.out = stdout, .json.out = stdout, .width = 80, .unit = 1e9, .unit_name = "s"};
	style->full_paths = options->full_paths;
	style->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	style->cut = terminal;
	if (terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		style->width = size.ws_col;
	else if (terminal && columns && atoi(columns) > 0)
		style->width = (unsigned)atoi(columns);
	if (style->width < NARROWEST)
		style->width = NARROWEST;
	style->colour = options->look.colour > 0 || (options->look.colour < 0 && terminal && term &&
							    strcmp(term, "dumb") && !getenv("NO_COLOR"));
}

void style_set_unit(struct style *style, uint64_t largest)
{
	style->unit = largest >= 1000000000 ? 1e9 : largest >= 1000000 ? 1e6 : 1e3;
	style->unit_name = largest >= 1000000000 ? "s" : largest >= 1000000 ? "ms" : "us";
}

int style_times(struct style *style, uint64_t total)
{
	int digits;

	style_set_unit(style, total);
	digits = snprintf(NULL, 0, "%.3f", (double)total / style->unit);
	return (digits > 8 ? digits : 8) + 1;
}

const char *style_unit_words(const struct style *style)
{
	return style->unit == 1e9 ? "seconds" : style->unit == 1e6 ? "milliseconds" : "microseconds";
}

void style_ink(const struct style *style, enum ink ink)
{
	if (style->colour)
		fputs(inks[ink], style->out);
}

void style_put(const struct style *style, enum ink ink, const char *format, ...)
{
	va_list list;

	style_ink(style, ink);
	va_start(list, format);
	vfprintf(style->out, format, list);
	va_end(list);
	style_ink(style, INK_PLAIN);
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

/* Names come from the measured program: control characters in them must not reach the terminal. */
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
	char *place = label_place(label, style->full_paths), count[FIGURE_SIZE], tail[80] = "";
	size_t taken, room = SIZE_MAX;

	if (label->skipped)
		snprintf(tail, sizeof(tail), "  %s calls only counted", figure_count(label->skipped, count));
	taken = used + 2 * brackets + (place ? columns_of(style, place) : 0) + strlen(tail);
	if (style->cut)
		room = style->width > taken + 8 ? style->width - taken : 8;
	style_ink(style, ink_of(label->kind));
	fputs(brackets ? "[" : "", style->out);
	put_cut(style, label->name, room);
	style->guessed |= label->guess;
	if (place && label->kind != PROFILE_INTERMEDIATE) {
		style_ink(style, INK_PLAIN);
		style_ink(style, label->kind == PROFILE_PROBE ? INK_DIM : INK_PLACE);
	}
	if (place)
		put_safe(style, place, 0, SIZE_MAX);
	fputs(brackets ? "]" : "", style->out);
	style_ink(style, INK_PLAIN);
	if (*tail)
		style_put(style, INK_WARN, "%s", tail);
	fputc('\n', style->out);
	free(place);
}

void style_legend(const struct style *style)
{
	if (style->guessed)
		style_put(style, INK_DIM,
			"\nlib.so+0x10: a function without a symbol, which begins there; "
			"name~: code behind a label without a size\n");
}

static void put_remark(const struct style *style, enum ink ink, const struct remark *remark)
{
	const char *const marks[] = {
		style->colour ? inks[ink] : "", style->colour ? inks[INK_PLAIN] : "", ""};

	remark_put(remark, style->out, style->width, marks);
}

void text_line(const struct style *style, enum ink ink, const char *label, struct text *text)
{
	const struct remark remark = {.label = label, .text = text_take(text)};

	if (remark.text)
		put_remark(style, ink, &remark);
	free(remark.text);
}

void report_quality(const struct style *style, const struct quality *quality, const struct profile *profile)
{
	struct remarks remarks = {0};

	quality_remarks(quality, profile, &remarks);
	for (size_t i = 0; i < remarks.count; i++)
		put_remark(style, remarks.list[i].warns ? INK_WARN : INK_BOLD, &remarks.list[i]);
	remarks_release(&remarks);
}
