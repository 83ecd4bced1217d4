/*
 * The sampling signal is invisible: a program may block all signals, wait for
 * all, and install handlers for all, and finds what it would find without us.
 * Ours stays unblocked; what the program wanted for it is kept and shown.
 */
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/python/python.h"
#include "runtime/sample/sampler.h"
#include "wrap.h"

#define KERNEL_SIGSET 8 /* bytes of a set that the kernel, and glibc, read and write */

bool signal_is_ours(int sig)
{
	return rt.source && sig == rt.set.signal;
}

/* ------------------------------------------------------------ dispositions */

/* Signals that a thread's own instructions cause, and those of the C library's own. */
static bool comes_at_any_time(int sig)
{
	static const uint64_t own = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) |
				    1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1) |
				    1ull << (32 - 1) | 1ull << (33 - 1);

	return sig >= 1 && sig <= 64 && !(own >> (sig - 1) & 1);
}

static void note_handler(int sig, sighandler_t handler)
{
	if (handler != SIG_DFL && handler != SIG_IGN && comes_at_any_time(sig))
		atomic_store(&rt.program_handles, true);
}

struct kernel_action {
	sighandler_t handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static bool is_handled(int sig, struct kernel_action *ret)
{
	return !syscall(SYS_rt_sigaction, sig, NULL, ret, KERNEL_SIGSET) && ret->handler != SIG_DFL &&
	       ret->handler != SIG_IGN;
}

bool signal_program_handles(void)
{
	struct kernel_action action;

	for (int sig = 1; sig <= 64 && !atomic_load(&rt.program_handles); sig++)
		if (!signal_is_ours(sig) && comes_at_any_time(sig) && is_handled(sig, &action))
			atomic_store(&rt.program_handles, true);
	return atomic_load(&rt.program_handles);
}

bool signal_ends_calls(const sigset_t *blocked)
{
	struct kernel_action action;
	uint64_t pending = 0, stays;

	if (!atomic_load(&rt.program_handles) || syscall(SYS_rt_sigpending, &pending, KERNEL_SIGSET))
		return false;
	memcpy(&stays, blocked, KERNEL_SIGSET);
	pending &= ~stays;
	for (int sig = 1; sig <= 64; sig++)
		if (pending >> (sig - 1) & 1 && !signal_is_ours(sig) && is_handled(sig, &action) &&
			!(action.flags & SA_RESTART))
			return true;
	return false;
}

/*
 * An alternate stack on which a sample, and the kernel's two frames, may have no room: handlers there come
 * without samples. One that is not there yet may be so.
 */
#define SMALL_STACK 32768u

static bool is_for_small_stack(const struct sigaction *action)
{
	stack_t now;

	return (action->sa_flags & SA_ONSTACK) &&
	       (sigaltstack(NULL, &now) || (now.ss_flags & SS_DISABLE) || now.ss_size < SMALL_STACK);
}

/* While the program's handler runs, samples go on: our signal is not in its mask, but the program sees it
 * there if it was. */
static int other_action(int sig, const struct sigaction *action, struct sigaction *old)
{
	uint64_t bit = 1ull << (sig - 1);
	struct sigaction copy;
	bool had = action && sigismember(&action->sa_mask, rt.set.signal) == 1;
	int error;

	if (!rt.source || sig < 1 || sig > 64)
		return REAL(sigaction)(sig, action, old);
	if (action) {
		copy = *action;
		if (is_for_small_stack(action))
			sigaddset(&copy.sa_mask, rt.set.signal);
		else
			sigdelset(&copy.sa_mask, rt.set.signal);
	}
	error = REAL(sigaction)(sig, action ? &copy : NULL, old);
	if (error)
		return error;
	if (old && atomic_load(&rt.masks_with_ours) & bit)
		sigaddset(&old->sa_mask, rt.set.signal);
	else if (old)
		sigdelset(&old->sa_mask, rt.set.signal);
	if (had)
		atomic_fetch_or(&rt.masks_with_ours, bit);
	else if (action)
		atomic_fetch_and(&rt.masks_with_ours, ~bit);
	return 0;
}

EXPORT int sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction previous;

	python_look(); /* an interpreter that was opened later begins with its signals */
	if (action)
		note_handler(sig, action->sa_handler);
	if (!signal_is_ours(sig))
		return other_action(sig, action, old);
	previous = rt.program_action;
	if (action)
		rt.program_action = *action;
	if (old)
		*old = previous;
	return 0;
}

long signal_set_own(const void *want, void *ret_old)
{
	const struct kernel_action *new = want;
	struct kernel_action *old = ret_old;
	struct sigaction action = {0}, previous;

	if (new) {
		action.sa_handler = new->handler;
		action.sa_flags = (int)new->flags;
		memcpy(&action.sa_mask, &new->mask, KERNEL_SIGSET);
	}
	sigaction(rt.set.signal, new ? &action : NULL, &previous);
	if (old) {
		*old = (struct kernel_action){
			.handler = previous.sa_handler, .flags = (unsigned)previous.sa_flags};
		memcpy(&old->mask, &previous.sa_mask, KERNEL_SIGSET);
	}
	return 0;
}

EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;

	note_handler(sig, handler);
	if (!signal_is_ours(sig))
		return REAL(signal)(sig, handler);
	sigaction(sig, &action, &old);
	return old.sa_handler;
}

/* ------------------------------------------------------------------ giving up */

/* Makes the kernel's mask what the program believes it to be; `mask` is that of an interrupted context. */
void signal_yield_thread(struct thread *t, void *context)
{
	sampler_stop(t);
	if (t->blocks_signal)
		sigaddset(&((ucontext_t *)context)->uc_sigmask, rt.set.signal);
}

/*
 * The program blocks our signal to wait for it, and somebody has sent it: it
 * really uses it. The signal is the program's from now on.
 */
static void yield_signal(struct thread *t, const siginfo_t *info, void *context)
{
	if (!atomic_exchange(&rt.yielded, true)) {
		static const char why[] =
			"the program uses our signal itself: sampling ends; see hybrid-run --signal";

		store_note(HYB_NOTE_WARNING, why);
		for (unsigned i = 0; i < rt.signalfds; i++) { /* now with our signal */
			sigaddset(&rt.signalfd[i].set, rt.set.signal);
			REAL(signalfd)(rt.signalfd[i].fd, &rt.signalfd[i].set, 0);
		}
	}
	signal_yield_thread(t, context);
	/* It becomes pending when we return, as it would have been. */
	if (info->si_code == SI_TKILL)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), rt.set.signal, info);
	else
		syscall(SYS_rt_sigqueueinfo, getpid(), rt.set.signal, info);
}

/* The same signal, sent by somebody else: what the program installed for it happens. */
void foreign_signal(int sig, siginfo_t *info, void *context)
{
	struct sigaction action = rt.program_action;
	struct thread *t = self;
	sigset_t before;

	if (t && t->state != THREAD_NONE && t->blocks_signal) {
		yield_signal(t, info, context);
		return;
	}
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

static bool has_ours(const sigset_t *set)
{
	return set && rt.source && sigismember(set, rt.set.signal) == 1;
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	struct thread *t = self;
	sigset_t copy, before;
	bool had = has_ours(set), blocked, blocks;
	int error;

	if (!t || t->state == THREAD_NONE || !rt.source)
		return REAL(pthread_sigmask)(how, set, old);
	if (had && !atomic_load(&rt.yielded)) {
		copy = *set;
		sigdelset(&copy, rt.set.signal);
		set = &copy;
	}
	blocked = blocks = t->blocks_signal;
	if (set && (had || how == SIG_SETMASK))
		blocks = had && how != SIG_UNBLOCK;
	t->blocks_signal = blocked && blocks; /* what is pending comes in the call if it is unblocked */
	error = REAL(pthread_sigmask)(how, set, &before);
	t->blocks_signal = error ? blocked : blocks;
	if (error)
		return error;
	if (blocked)
		sigaddset(&before, rt.set.signal);
	else
		sigdelset(&before, rt.set.signal);
	if (old) /* which may be the set; the kernel's part is all that is there for sure */
		memcpy(old, &before, KERNEL_SIGSET);
	return 0;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	int error = pthread_sigmask(how, set, old);

	if (error)
		errno = error;
	return error ? -1 : 0;
}

/* Blocks or unblocks our signal in the kernel; true if that changed the mask. */
bool signal_block(bool block)
{
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, rt.set.signal);
	REAL(pthread_sigmask)(block ? SIG_BLOCK : SIG_UNBLOCK, &set, &before);
	return sigismember(&before, rt.set.signal) != block;
}

struct signal_inherited signal_inherit_begin(void)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct signal_inherited done = {.blocked = false};

	if (!rt.source || !self || self->state == THREAD_NONE)
		return done;
	done.blocked = self->blocks_signal && signal_block(true);
	if (rt.program_action.sa_handler == SIG_IGN) {
		REAL(sigaction)(rt.set.signal, &ignore, &done.action);
		done.ignored = true;
	}
	return done;
}

void signal_inherit_end(struct signal_inherited *done)
{
	int saved = errno;

	if (done->ignored)
		raw_sigaction(rt.set.signal, &done->action);
	if (done->blocked)
		signal_block(false);
	errno = saved;
}

/* The state that we find is the program's. */
void signal_take_over(struct thread *t, const struct sigaction *handler)
{
	REAL(sigaction)(rt.set.signal, handler, &rt.program_action);
	t->blocks_signal = !signal_block(true);
	signal_block(false);
}

/* ------------------------------------------------------------ waiting for */

/* What is left of `timeout` (NULL: forever) that began at `start`. */
static const struct timespec *remaining(const struct timespec *timeout, uint64_t start, struct timespec *left)
{
	uint64_t passed = clock_ns(CLOCK_MONOTONIC) - start, want;

	if (!timeout)
		return NULL;
	want = (uint64_t)timeout->tv_sec * 1000000000u + (uint64_t)timeout->tv_nsec;
	want = want > passed ? want - passed : 0;
	left->tv_sec = (time_t)(want / 1000000000u);
	left->tv_nsec = (long)(want % 1000000000u);
	return left;
}

/* A sample that comes while the program waits for all signals is not what it waits for: it is sent again
 * after. */
EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	struct thread *t = self;
	siginfo_t got, ours;
	struct timespec left;
	struct wait wait;
	bool blocked;
	int result, saved, swallowed = 0;

	if (!t || t->state == THREAD_NONE || !rt.source)
		return REAL(sigtimedwait)(set, info, timeout);
	blocked = signal_block(true);
	wait = wait_begin();
	result = REAL(sigtimedwait)(set, &got, timeout);
	for (; result == rt.set.signal && sampler_sent(&got);
		result = REAL(sigtimedwait)(set, &got, remaining(timeout, start, &left))) {
		swallowed += 1 + (got.si_code == SI_TIMER ? got.si_overrun : 0);
		ours = got;
	}
	wait_end(&wait);
	saved = errno;
	if (swallowed && ours.si_code == SI_TIMER) {
		ours.si_overrun = swallowed - 1;
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), rt.set.signal, &ours);
	}
	t->in_blocking_call = true;
	signal_barrier();
	if (blocked && !(atomic_load(&rt.yielded) && t->blocks_signal))
		signal_block(false);
	signal_barrier();
	t->in_blocking_call = false;
	errno = saved;
	if (result > 0 && info)
		*info = got;
	return result;
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return sigtimedwait(set, info, NULL);
}

EXPORT int sigwait(const sigset_t *set, int *sig)
{
	int result;

	do
		result = sigtimedwait(set, NULL, NULL);
	while (result < 0 && errno == EINTR);
	if (result < 0)
		return errno;
	*sig = result;
	return 0;
}

/* Without our signal, which it would take away from the handler; noted, should the program need it. */
EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;
	int result;
	unsigned i;

	if (!has_ours(set) || atomic_load(&rt.yielded))
		return REAL(signalfd)(fd, set, flags);
	copy = *set;
	sigdelset(&copy, rt.set.signal);
	result = REAL(signalfd)(fd, &copy, flags);
	for (i = 0; i < rt.signalfds && rt.signalfd[i].fd != result; i++)
		;
	if (result >= 0 && i < sizeof(rt.signalfd) / sizeof(rt.signalfd[0])) {
		rt.signalfd[i].fd = result;
		rt.signalfd[i].set = copy;
		rt.signalfds = i < rt.signalfds ? rt.signalfds : i + 1;
	}
	return result;
}
