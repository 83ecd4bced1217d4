#include "filter.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "runtime/sys.h"

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

struct rule {
	const char *pattern, *end;
	bool include;
	bool python;
};

static bool skip_word(const char **at, const char *end, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(end - *at) < length || memcmp(*at, word, length))
		return false;
	*at += length;
	return true;
}

static void skip_blanks(const char **at, const char *end)
{
	while (*at < end && isspace((unsigned char)**at))
		++*at;
}

/* "python:" begins a rule for Python; "python::" is a namespace of C++. */
static bool skip_python(const char **at, const char *end)
{
	const char *p = *at;

	if (!skip_word(&p, end, "python:") || (p < end && *p == ':'))
		return false;
	*at = p;
	return true;
}

/* Reads one line; false if there is no rule in it. */
static bool read_rule(const char *line, const char *stop, struct rule *ret)
{
	const char *comment = memchr(line, '#', (size_t)(stop - line));

	if (comment)
		stop = comment;
	while (stop > line && isspace((unsigned char)stop[-1]))
		stop--;
	skip_blanks(&line, stop);
	ret->include = skip_word(&line, stop, "include");
	if (!ret->include && !skip_word(&line, stop, "exclude"))
		return false;
	skip_blanks(&line, stop);
	ret->python = skip_python(&line, stop);
	skip_blanks(&line, stop);
	ret->pattern = line;
	ret->end = stop;
	return line < stop;
}

/* The next rule at or behind *at, which moves on; false behind the last. */
static bool next_rule(const char **at, struct rule *ret)
{
	const char *end = filter.text + filter.size;

	while (*at < end) {
		const char *line = *at, *next = memchr(line, '\n', (size_t)(end - line));

		*at = next ? next + 1 : end;
		if (read_rule(line, next ? next : end, ret))
			return true;
	}
	return false;
}

/* A function has up to two names; `other` may be NULL. */
static bool excludes(bool python, const char *name, const char *other)
{
	const char *at = filter.text;
	bool first = true, excluded = false;
	struct rule rule;

	while (next_rule(&at, &rule)) {
		if (rule.python != python)
			continue;
		if (first)
			excluded = rule.include;
		first = false;
		if (matches(rule.pattern, rule.end, name) ||
			(other && matches(rule.pattern, rule.end, other)))
			excluded = !rule.include;
	}
	return excluded;
}

bool filter_excludes(const char *symbol)
{
	char qualified[512];
	bool mangled = filter_qualified(symbol, qualified, sizeof(qualified));

	return excludes(false, symbol, mangled ? qualified : NULL);
}

/* ------------------------------------------------------------------ Python */

#define PART 1024 /* bytes of a file's path, and of a function's name, with a NUL */

/* Whether the directory whose path these bytes are is a package; fewer than PART. */
static bool is_package(const char *path, size_t length)
{
	static const char name[] = "/__init__.py";
	char file[PART + sizeof(name)];

	memcpy(file, path, length);
	memcpy(file + length, name, sizeof(name));
	return !syscall(SYS_faccessat, AT_FDCWD, file, F_OK);
}

/* Shortens a text by `end` if it ends so and is not only that. */
static size_t without(const char *text, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length > n && !memcmp(text + length - n, end, n) ? length - n : length;
}

/* The part of a file's path that names its module, with slashes for dots. */
static const char *module_of(const char *file, size_t length, size_t *ret_length)
{
	static const char frozen[] = "<frozen "; /* a module that is built into the interpreter */
	size_t start;

	if (length > sizeof(frozen) && !memcmp(file, frozen, sizeof(frozen) - 1)) {
		*ret_length = length - sizeof(frozen);
		return file + sizeof(frozen) - 1;
	}
	length = without(file, length, ".py");
	length = without(file, length, "/__init__");
	for (start = length; start; start--)
		if (file[start - 1] == '/' && !is_package(file, start - 1))
			break;
	*ret_length = length - start;
	return file + start;
}

static void join(char to[2 * PART], const char *front, size_t length, char mark, const char *back)
{
	size_t rest = strnlen(back, PART - 1);

	memcpy(to, front, length);
	to[length] = mark;
	memcpy(to + length + 1, back, rest);
	to[length + 1 + rest] = '\0';
}

bool filter_excludes_python(const char *file, const char *qualname)
{
	char path[2 * PART], dotted[2 * PART];
	size_t length = strlen(file), module_length;
	const char *module;
	int saved = errno;

	if (!filter.text)
		return false;
	if (length >= PART) { /* the end is more useful */
		file += length - (PART - 1);
		length = PART - 1;
	}
	module = module_of(file, length, &module_length);
	errno = saved;
	join(path, file, length, ':', qualname);
	join(dotted, module, module_length, '.', qualname);
	for (char *p = dotted; p < dotted + module_length; p++)
		if (*p == '/')
			*p = '.';
	return excludes(true, dotted, path);
}
