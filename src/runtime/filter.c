#include "filter.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	const char *text;
	size_t size;
} filter;

bool filter_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *text = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size > 0)
		text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	close(fd);
	if (text == MAP_FAILED)
		return st.st_size == 0;
	filter.text = text;
	filter.size = (size_t)st.st_size;
	return true;
}

bool filter_active(void)
{
	return filter.text;
}

/* Glob with '*' and '?'; the pattern ends at `end`. */
static bool matches(const char *pattern, const char *end, const char *text)
{
	const char *star = NULL, *retry = NULL;

	while (*text) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			retry = text;
		} else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++retry;
		} else
			return false;
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

bool filter_qualified(const char *symbol, char *to, size_t size)
{
	const char *p = symbol + 2, *last = NULL;
	size_t used = 0, last_len = 0;
	bool nested;

	if (strncmp(symbol, "_Z", 2))
		return false;
	nested = *p == 'N';
	if (nested)
		for (p++; *p == 'K' || *p == 'V' || *p == 'r' || *p == 'R' || *p == 'O'; p++)
			;
	to[0] = '\0';
	for (bool first = true;; first = false) {
		const char *part = last;
		size_t len = 0;

		if (p[0] == 'S' && p[1] == 't') {
			part = "std";
			len = 3;
			p += 2;
		} else if (isdigit((unsigned char)*p)) {
			for (; isdigit((unsigned char)*p) && len < 10000; p++)
				len = len * 10 + (size_t)(*p - '0');
			part = p;
			if (strnlen(p, len) < len)
				return false;
			p += len;
		} else if (last && (*p == 'C' || *p == 'D') && isdigit((unsigned char)p[1])) {
			len = last_len; /* constructors and destructors are called as their class */
			p += 2;
		} else
			break;
		if (used + len + 4 > size)
			return false;
		if (!first) {
			memcpy(to + used, "::", 2);
			used += 2;
		}
		memcpy(to + used, part, len);
		used += len;
		to[used] = '\0';
		last = part;
		last_len = len;
		if (!nested && !(len == 3 && part[0] == 's' && part[1] == 't' && part[2] == 'd'))
			break;
	}
	return used > 0;
}

bool filter_excludes(const char *symbol)
{
	const char *line = filter.text, *end = filter.text + filter.size;
	char qualified[512];
	bool first = true, excluded = false, mangled = filter_qualified(symbol, qualified, sizeof(qualified));

	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line)), *stop = next ? next : end,
			   *comment;
		bool include;

		comment = memchr(line, '#', (size_t)(stop - line));
		if (comment)
			stop = comment;
		while (stop > line && isspace((unsigned char)stop[-1]))
			stop--;
		while (line < stop && isspace((unsigned char)*line))
			line++;
		if (stop - line > 8) {
			include = !strncmp(line, "include", 7);
			if (first)
				excluded = include;
			first = false;
			for (line += 7; line < stop && isspace((unsigned char)*line); line++)
				;
			if (matches(line, stop, symbol) || (mangled && matches(line, stop, qualified)))
				excluded = !include;
		}
		line = next ? next + 1 : end;
	}
	return excluded;
}
