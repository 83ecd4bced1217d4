/*
 * Calls by syscall(): those that make a process, that end with EINTR at any signal, or that set what our
 * signal does. The others go on to the kernel. A program's own system call instructions are not seen.
 */
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <sys/syscall.h>

#include "runtime/fork.h"
#include "wrap.h"

/* Called by syscall(), of runtime/arch, for all but clones whose child would return on this stack. */
__attribute__((used, visibility("hidden"))) long wrap_system_call(
	long number, long a, long b, long c, long d, long e, long f);
__attribute__((used, visibility("hidden"))) long (*wrap_system_call_target)(long, ...);

static bool forks(long number, long flags, long stack)
{
#ifdef SYS_fork
	if (number == SYS_fork)
		return true;
#endif
	return number == SYS_clone && !(flags & CLONE_VM) && !stack;
}

/* A wait without an end is restarted after our handler; one with a `timeout` is not. */
static bool waits_for_futex(long operation, long timeout)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
		return timeout;
	default:
		return false;
	}
}

/* Whether our signal would end it, as signal(7) has it. */
static bool is_cut_short(long number, long b, long d)
{
	switch (number) {
	case SYS_futex:
		return waits_for_futex(b, d);
	case SYS_io_uring_enter:
		return d & IORING_ENTER_GETEVENTS;
#ifdef SYS_poll
	case SYS_poll:
	case SYS_select:
	case SYS_epoll_wait:
	case SYS_pause:
#endif
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_semop:
	case SYS_semtimedop:
		return true;
	default:
		return false;
	}
}

long wrap_system_call(long number, long a, long b, long c, long d, long e, long f)
{
	struct held_call held = {.t = NULL};
	long result;

	if (unlikely(!wrap_system_call_target)) /* once: all threads read it */
		wrap_system_call_target = REAL(syscall);
	if (number == SYS_rt_sigaction && signal_is_ours((int)a))
		return signal_set_own((const void *)b, (void *)c);
	if (!forks(number, a, b)) {
		if (is_cut_short(number, b, d))
			held = wrap_hold();
		else if (number == SYS_futex)
			held.wait = wait_begin();
		result = wrap_system_call_target(number, a, b, c, d, e, f);
		wrap_release(&held);
		return result;
	}
	fork_prepare();
	result = wrap_system_call_target(number, a, b, c, d, e, f);
	if (result)
		fork_parent();
	else
		fork_child();
	return result;
}
