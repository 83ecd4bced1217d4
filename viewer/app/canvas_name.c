/* Shortens names of functions: the parts that differ between functions are kept longest. */
#include <stdlib.h>
#include <string.h>

#include "viewer/app/canvas.h"

#define SHORT 3 /* bytes in brackets that are no more than the dots for them */

/* operator() and operator<: these brackets are the name itself. */
static bool is_operator(const char *name, const char *at)
{
	static const char word[] = "operator";
	const size_t length = sizeof(word) - 1;

	while (at > name && at[-1] == '<')
		at--;
	return (size_t)(at - name) >= length && !memcmp(at - length, word, length);
}

/* Behind the bracket that closes the one at `p`; NULL: there is none. */
static const char *behind_bracket(const char *p)
{
	unsigned depth = 0;

	for (const char *from = p; *p; p++) {
		if (strchr("(<[{", *p))
			depth++;
		else if (strchr(")]}", *p) || (*p == '>' && (p == from || p[-1] != '-')))
			depth--;
		if (!depth)
			return p + 1;
	}
	return NULL;
}

/* With dots for what stands between these brackets; to be freed, NULL: memory is out. */
static char *leave_out(const char *name, const char *brackets, const char *dots)
{
	char *text = malloc(strlen(name) + 1), *out = text;
	const char *p = name;

	while (text && *p) {
		bool opens = strchr(brackets, *p) && !is_operator(name, p) && !(p > name && p[-1] == '.');
		const char *end = opens ? behind_bracket(p) : NULL;

		*out++ = *p++;
		if (!end || end - p - 1 <= SHORT || (p == name + 1 && !*end))
			continue;
		out = stpcpy(out, dots);
		p = end - 1;
	}
	if (text)
		*out = 0;
	return text;
}

/* Without as few of the namespaces and classes in front as must be; then without arguments; then cut. */
static int put_end(const struct area *area, int y, int x, int room, unsigned ink, char *text)
{
	char *last = NULL, *arguments = strrchr(text, '(');
	int taken = 0;

	for (char *next = strstr(text, "::"); next; next = strstr(last, "::")) {
		last = next + 2;
		if (canvas_columns(area->canvas, last) < room)
			break;
	}
	if (last)
		taken = canvas_glyph(area, y, x, ink, GLYPH_DOTS);
	else
		last = text;
	if (arguments > last && canvas_columns(area->canvas, last) > room - taken &&
		!is_operator(text, arguments))
		*arguments = 0;
	return taken + canvas_cut(area, y, x + taken, room - taken, ink, last);
}

int canvas_name(const struct area *area, int y, int x, int room, unsigned ink, const char *name)
{
	static const char *const steps[] = {"(", "(<"};
	const char *dots = area->canvas->utf8 ? "…" : "~";
	char *text = NULL;
	int taken;

	if (room <= 1 || canvas_columns(area->canvas, name) <= room)
		return canvas_cut(area, y, x, room, ink, name);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		free(text);
		text = leave_out(name, steps[i], dots);
		if (!text)
			return canvas_cut(area, y, x, room, ink, name);
		if (canvas_columns(area->canvas, text) <= room)
			break;
	}
	if (canvas_columns(area->canvas, text) <= room)
		taken = canvas_text(area, y, x, ink, text);
	else
		taken = put_end(area, y, x, room, ink, text);
	free(text);
	return taken;
}
