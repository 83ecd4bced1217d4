/*
 * The sampling signal is invisible: a program may block all signals, wait for
 * all, and install handlers for all, and finds what it would find without us.
 * Ours stays unblocked; what the program wanted for it is kept and shown.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler.h"
#include "wrap.h"

/* Whether this is about the signal we use, in a process that is sampled. */
static bool is_ours(int sig)
{
	return rt.source && sig == rt.set.signal;
}

/* ------------------------------------------------------------ dispositions */

EXPORT int sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction previous;

	if (!is_ours(sig))
		return REAL(sigaction)(sig, action, old);
	previous = rt.program_action;
	if (action)
		rt.program_action = *action;
	if (old)
		*old = previous;
	return 0;
}

EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;

	if (!is_ours(sig))
		return REAL(signal)(sig, handler);
	sigaction(sig, &action, &old);
	return old.sa_handler;
}

/* The same signal, sent by somebody else: what the program installed for it happens. */
void foreign_signal(int sig, siginfo_t *info, void *context)
{
	struct sigaction action = rt.program_action;
	sigset_t before;

	if (action.sa_handler == SIG_IGN)
		return;
	if (action.sa_handler == SIG_DFL) {
		raw_sigaction(sig, &action);
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig); /* comes when we return */
		return;
	}
	if (action.sa_flags & (int)SA_RESETHAND)
		rt.program_action = (struct sigaction){.sa_handler = SIG_DFL};
	REAL(pthread_sigmask)(SIG_BLOCK, &action.sa_mask, &before);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(sig, info, context);
	else
		action.sa_handler(sig);
	REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
}

/* ------------------------------------------------------------------- masks */

/* A copy of the set without our signal; *ret_had: it was in. */
static const sigset_t *without(const sigset_t *set, sigset_t *copy, bool *ret_had)
{
	*ret_had = false;
	if (!set || !rt.source)
		return set;
	*ret_had = sigismember(set, rt.set.signal) == 1;
	*copy = *set;
	sigdelset(copy, rt.set.signal);
	return copy;
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	struct thread *t = self;
	sigset_t copy, before;
	bool had;
	int error;

	if (!t || t->state == THREAD_NONE || !rt.source)
		return REAL(pthread_sigmask)(how, set, old);
	set = without(set, &copy, &had);
	error = REAL(pthread_sigmask)(how, set, old ? &before : NULL);
	if (error)
		return error;
	if (old) { /* which may be the set */
		*old = before;
		if (t->blocks_signal)
			sigaddset(old, rt.set.signal);
	}
	if (set && how == SIG_SETMASK)
		t->blocks_signal = had;
	else if (set && had)
		t->blocks_signal = how == SIG_BLOCK;
	return 0;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	int error = pthread_sigmask(how, set, old);

	if (error)
		errno = error;
	return error ? -1 : 0;
}

/* ------------------------------------------------------------ waiting for */

EXPORT int sigwait(const sigset_t *set, int *sig)
{
	sigset_t copy;
	bool had;

	return REAL(sigwait)(without(set, &copy, &had), sig);
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t copy;
	bool had;

	return sigtimedwait(without(set, &copy, &had), info, NULL);
}

EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;
	bool had;

	return REAL(signalfd)(fd, without(set, &copy, &had), flags);
}
