#include "run/filter.h"

#include "run/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_MAX 1023

/* NULL if the line is right, else what is wrong. The line has no newline. */
static const char *line_fault(const char *line)
{
	static const char blanks[] = " \t\r";
	size_t word;

	line += strspn(line, blanks);
	if (!*line || *line == '#')
		return NULL;
	word = strcspn(line, blanks);
	if (word != 7 || (strncmp(line, "include", 7) && strncmp(line, "exclude", 7)))
		return "a line is `include PATTERN`, `exclude PATTERN` or a comment behind #";
	line += word;
	line += strspn(line, blanks);
	if (!strncmp(line, "python:", 7) && line[7] != ':')
		line += 7 + strspn(line + 7, blanks);
	if (!*line || *line == '#')
		return "a pattern is missing; * stands for any text, ? for one character";
	if (strlen(line) > PATTERN_MAX)
		return "the pattern is longer than 1023 bytes";
	return NULL;
}

/* Why a right line matches no function; NULL if it may. */
static const char *why_idle(const char *line, bool hooks)
{
	const char *pattern = strstr(line, "python:");

	if (line[strspn(line, " \t\r")] == '#' || !pattern || pattern[7] == ':')
		return NULL;
	if (!hooks)
		return "Python functions are probes with --python=hooks only: this line does nothing";
	pattern += 7 + strspn(pattern + 7, " \t\r");
	if (!pattern[strcspn(pattern, "*?.:")])
		return "names are package.module.function: this matches none, *.NAME would";
	return NULL;
}

static int check_lines(FILE *in, const char *path, bool hooks)
{
	char *line = NULL;
	size_t space = 0;
	const char *fault = NULL, *idle = NULL;
	unsigned number = 0;
	ssize_t length;

	while (!fault && (length = getline(&line, &space, in)) >= 0) {
		number++;
		if (length > 0 && line[length - 1] == '\n')
			line[--length] = 0;
		fault = strlen(line) == (size_t)length ? line_fault(line) : "a zero byte; this is not a text";
		if (fault || idle)
			continue;
		idle = why_idle(line, hooks);
		if (idle)
			message("%s:%u: %s", path, number, idle);
	}
	free(line);
	if (fault)
		message("%s:%u: %s", path, number, fault);
	else if (ferror(in))
		message("%s: cannot read the filter: %s", path, strerror(errno));
	return fault || ferror(in) ? -1 : 0;
}

int filter_check(const char *path, bool hooks)
{
	FILE *in = fopen(path, "re");
	int result;

	if (!in)
		return message("%s: cannot read the filter: %s", path, strerror(errno));
	result = check_lines(in, path, hooks);
	fclose(in);
	return result;
}
