#include "run/message.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Files may not grow beyond a limit (ulimit -f): more would be the signal SIGXFSZ, which is deadly. */
static void write_bounded(const char *line, size_t length)
{
	struct timespec now = {0};
	sigset_t one, before, pending;
	bool was_pending;

	sigemptyset(&one);
	sigaddset(&one, SIGXFSZ);
	was_pending = !sigpending(&pending) && sigismember(&pending, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &one, &before);
	if (write(STDERR_FILENO, line, length) < 0 && errno == EFBIG && !was_pending)
		sigtimedwait(&one, NULL, &now);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int message(const char *format, ...)
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
	write_bounded(line, length); /* or nobody listens */
	return -1;
}
