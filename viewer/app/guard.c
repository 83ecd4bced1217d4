#include "viewer/app/guard.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

/* In the order of the terminal's own exits: mouse reports off, attributes, cursor, keypad, screen before. */
#define MOUSE_OFF "\033[?1000l\033[?1002l\033[?1003l\033[?1006l"

static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

static volatile sig_atomic_t viewer; /* pid; of a handler */

static void pass_on(int number)
{
	int error = errno;

	if (viewer > 0)
		kill(viewer, number);
	errno = error;
}

static void handle(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++)
		sigaction(passed_on[i], &action, NULL);
}

static void put_capability(const char *name)
{
	const char *text = tigetstr(name);

	if (text && (intptr_t)text != -1)
		putp(text);
}

/* What the viewer would have done at its end. */
static void restore(const struct termios *modes)
{
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, modes) || setupterm(NULL, STDOUT_FILENO, &(int){0}) != OK)
		return;
	if (tigetstr("kmous") && (intptr_t)tigetstr("kmous") != -1)
		fputs(MOUSE_OFF, stdout);
	put_capability("sgr0");
	put_capability("op");
	put_capability("cnorm");
	put_capability("rmkx");
	put_capability("rmcup");
	fflush(stdout);
}

static void print_words(int fd)
{
	char bytes[4096];
	ssize_t n;

	if (fd < 0 || lseek(fd, 0, SEEK_SET))
		return;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		if (fwrite(bytes, 1, (size_t)n, stderr) < (size_t)n)
			return;
}

/* Stops when the viewer stops (Ctrl-Z), so that the shell sees it; goes on with it. */
static int wait_for(pid_t child)
{
	int status;

	for (;;) {
		if (waitpid(child, &status, WUNTRACED) < 0) {
			if (errno != EINTR)
				return 1 << 8;
		} else if (WIFSTOPPED(status)) {
			signal(SIGTSTP, SIG_DFL);
			raise(SIGTSTP);
			signal(SIGTSTP, SIG_IGN);
			kill(child, SIGCONT);
		} else {
			return status;
		}
	}
}

static int be_viewer(int (*view)(void *data), void *data, int words)
{
	handle(SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGHUP); /* without a guard it ends in order, too */
	if (words >= 0)
		dup2(words, STDERR_FILENO);
	return view(data);
}

int guard_run(int (*view)(void *data), void *data)
{
	struct termios modes;
	int words = memfd_create("words", MFD_CLOEXEC), status;
	bool terminal = !tcgetattr(STDIN_FILENO, &modes);
	pid_t child;

	fflush(NULL);
	signal(SIGTSTP, SIG_IGN); /* the viewer's stop is this one's */
	signal(SIGTTOU, SIG_IGN); /* the terminal is put right also from the background */
	handle(pass_on);
	child = fork();
	if (child <= 0) {
		signal(SIGTTOU, child < 0 ? SIG_IGN : SIG_DFL);
		return be_viewer(view, data, child < 0 ? -1 : words);
	}
	viewer = child;
	status = wait_for(child);
	viewer = 0;
	if (WIFSIGNALED(status) && terminal)
		restore(&modes);
	print_words(words);
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "hybrid-view: ended by signal %d (%s)\n", WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	return 128 + WTERMSIG(status);
}
