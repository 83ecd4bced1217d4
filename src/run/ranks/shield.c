#include "run/ranks/shield.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_US 10000 /* for hydra to see that the rank's connection is closed */

static bool is_stop(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* A traced process stops at each signal: it gets that, and stays stopped by those that do so. */
static void go_on(pid_t process)
{
	int status;

	if (waitpid(process, &status, __WALL) != process || !WIFSTOPPED(status))
		return;
	if (status >> 16 != PTRACE_EVENT_STOP)
		ptrace(PTRACE_CONT, process, 0, WSTOPSIG(status));
	else
		ptrace(is_stop(WSTOPSIG(status)) ? PTRACE_LISTEN : PTRACE_CONT, process, 0, 0);
}

static _Noreturn void hold(pid_t run, pid_t program)
{
	struct pollfd end = {.events = POLLIN};
	siginfo_t info;

	/* Output and connection of the rank must not stay open by us. */
	if (syscall(SYS_close_range, 0, ~0u, 0) || setsid() < 0)
		_exit(0);
	end.fd = (int)syscall(SYS_pidfd_open, program, 0);
	if (end.fd < 0 || ptrace(PTRACE_SEIZE, run, 0, 0))
		_exit(0);
	for (;;) {
		if (waitid(P_PID, (id_t)run, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL))
			_exit(0);
		if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
			break;
		go_on(run);
	}
	while (poll(&end, 1, -1) <= 0)
		;
	usleep(GRACE_US);
	_exit(0); /* lets go */
}

pid_t shield_raise(pid_t program)
{
	pid_t run = getpid(), pid;
	int ready[2];
	char byte;

	if (!getenv("PMI_FD") || pipe(ready))
		return 0;
	pid = fork();
	if (!pid) {
		close(ready[1]);
		if (!read(ready[0], &byte, 1)) /* it may trace us now */
			hold(run, program);
		_exit(0);
	}
	prctl(PR_SET_PTRACER, pid);
	close(ready[0]);
	close(ready[1]);
	return pid < 0 ? 0 : pid;
}

void shield_lower(pid_t shield, int status)
{
	if (!shield || status)
		return;
	kill(shield, SIGKILL);
	waitpid(shield, NULL, 0);
}
