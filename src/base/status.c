#include "base/status.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

const char *status_text(int status, char text[STATUS_SIZE])
{
	const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;

	if (name)
		snprintf(text, STATUS_SIZE, "signal SIG%s", name);
	else if (WIFSIGNALED(status))
		snprintf(text, STATUS_SIZE, "signal %d", WTERMSIG(status));
	else
		snprintf(text, STATUS_SIZE, "exit %d", WEXITSTATUS(status));
	return text;
}

int status_read(const char *text)
{
	char word[STATUS_SIZE], name[STATUS_SIZE];
	int number;

	if (sscanf(text, "exit %d", &number) == 1)
		return (number & 0xff) << 8;
	if (sscanf(text, "%*s %15s", word) != 1)
		return 0;
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (!strcmp(strchr(status_text(signal, name), ' ') + 1, word))
			return signal;
	return 0;
}
