#include "run/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void say(const char *format, ...)
{
	static const char prefix[] = "hybrid-run: ";
	char line[8192];
	size_t start = sizeof(prefix) - 1, length;
	va_list list;

	memcpy(line, prefix, start);
	va_start(list, format);
	vsnprintf(line + start, sizeof(line) - start - 1, format, list);
	va_end(list);
	length = strlen(line);
	line[length++] = '\n';
	if (write(STDERR_FILENO, line, length) < 0)
		return; /* nobody listens */
}
