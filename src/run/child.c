#include "run/child.h"

#include "base/now.h"
#include "run/ranks/shield.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * All signals are blocked, so no handler runs in the child, which shares our
 * memory until it executes; its errno comes back that way.
 */
static pid_t start(const char *path, char **argv, char **envp, const sigset_t *mask,
	const struct sigaction *on_child, int *ret_error)
{
	volatile int error = 0;
	pid_t pid = vfork();

	if (pid == 0) {
		sigaction(SIGCHLD, on_child, NULL);
		sigprocmask(SIG_SETMASK, mask, NULL);
		execve(path, argv, envp);
		error = errno;
		_exit(127);
	}
	*ret_error = pid < 0 ? errno : error;
	return pid;
}

static void set_one_blocked(int how, int signal)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, signal);
	sigprocmask(how, &one, NULL);
}

/* Ends or stops this process as `signal` does by default; returns when it was continued. */
static void take_default(int signal)
{
	struct sigaction standard = {.sa_handler = SIG_DFL}, before;

	sigaction(signal, &standard, &before);
	kill(getpid(), signal);
	set_one_blocked(SIG_UNBLOCK, signal);
	set_one_blocked(SIG_BLOCK, signal);
	sigaction(signal, &before, NULL);
}

/* Hands a signal on, unless the program got it from the kernel as we did. */
static void forward(pid_t pid, const siginfo_t *info)
{
	bool hangup = info->si_signo == SIGHUP && getsid(0) == getpid(); /* goes to the session leader only */

	if (info->si_code > 0 && !hangup)
		return;
	if (info->si_pid == pid)
		return; /* the program signals its whole group, and so itself */
	if (info->si_code == SI_QUEUE)
		sigqueue(pid, info->si_signo, info->si_value);
	else
		kill(pid, info->si_signo);
}

static bool is_stopped(pid_t pid)
{
	char path[32], text[512] = "", *name_end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	name_end = fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	fclose(file);
	return name_end && (!strncmp(name_end, ") T", 3) || !strncmp(name_end, ") t", 3));
}

/* A process that continues us when the program was continued by itself: we stand still, and would not see it.
 */
static pid_t start_watcher(pid_t program)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	pid_t us = getpid(), watcher = fork();

	if (watcher)
		return watcher;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == us && is_stopped(program))
		nanosleep(&pause, NULL);
	if (getppid() == us)
		kill(us, SIGCONT);
	_exit(0);
}

/* The program stopped: the shell that waits for us must see that. */
static void stop_alike(pid_t program, int signal)
{
	const struct timespec now = {0};
	sigset_t set;
	siginfo_t info;
	pid_t watcher;

	if (!sigpending(&set) && sigismember(&set, SIGCONT))
		return; /* continued already; nobody would continue us again */
	watcher = start_watcher(program);
	take_default(signal);
	if (watcher < 0)
		return;
	kill(watcher, SIGKILL);
	waitpid(watcher, NULL, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	if (sigtimedwait(&set, &info, &now) == SIGCONT && info.si_pid != watcher)
		forward(program, &info);
}

/* True when the program has ended. */
static bool collect(struct outcome *outcome)
{
	pid_t pid;

	while ((pid = wait4(outcome->pid, &outcome->status, WUNTRACED | WNOHANG, &outcome->usage)) > 0) {
		if (!WIFSTOPPED(outcome->status))
			return true;
		stop_alike(outcome->pid, WSTOPSIG(outcome->status));
	}
	return pid < 0 && errno != EINTR;
}

static void wait_for(struct outcome *outcome, const sigset_t *all)
{
	siginfo_t info;

	for (;;) {
		if (sigwaitinfo(all, &info) < 0)
			continue; /* interrupted by a stop */
		if (info.si_signo != SIGCHLD)
			forward(outcome->pid, &info);
		else if (collect(outcome))
			return;
	}
}

int child_run(const char *path, char **argv, char **envp, struct outcome *ret)
{
	struct sigaction standard = {.sa_handler = SIG_DFL}, on_child;
	struct outcome outcome = {0};
	sigset_t all, mask;
	uint64_t begin;
	pid_t shield;
	int error;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	sigaction(SIGCHLD, &standard, &on_child); /* were it ignored, there would be nothing to wait for */
	begin = now();
	outcome.pid = start(path, argv, envp, &mask, &on_child, &error);
	if (error) {
		if (outcome.pid > 0)
			waitpid(outcome.pid, NULL, 0);
		sigaction(SIGCHLD, &on_child, NULL);
		sigprocmask(SIG_SETMASK, &mask, NULL);
		return -error;
	}
	shield = shield_raise(outcome.pid);
	wait_for(&outcome, &all);
	outcome.wall = now() - begin;
	shield_lower(shield, outcome.status);
	*ret = outcome;
	return 0;
}

int child_run_report(const char *path, char **argv, char **envp)
{
	sigset_t none;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execve(path, argv, envp);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
}

void child_end_alike(int status)
{
	struct rlimit none = {0, 0};

	if (WIFSIGNALED(status)) {
		/* The core file, if any, is the program's. A core handler of the system obeys the second
		 * only. */
		setrlimit(RLIMIT_CORE, &none);
		prctl(PR_SET_DUMPABLE, 0);
		take_default(WTERMSIG(status));
		_exit(128 + WTERMSIG(status)); /* process 1 of a container does not die by its own signal */
	}
	_exit(WEXITSTATUS(status));
}
