/* Processes that are made without atfork handlers. What shares the caller's memory (vfork) is no child to us.
 */
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/clock.h"
#include "runtime/fork.h"
#include "runtime/store.h"
#include "wrap.h"

EXPORT pid_t _Fork(void)
{
	pid_t pid;

	fork_prepare();
	pid = REAL(_Fork)();
	if (pid)
		fork_parent();
	else
		fork_child();
	return pid;
}

/* A child by clone() that is a process of its own. */
struct clone_start {
	int (*function)(void *);
	void *argument;
};

static int clone_start(void *data)
{
	struct clone_start start = *(struct clone_start *)data;

	fork_child();
	return start.function(start.argument);
}

EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	struct clone_start start = {function, argument};
	va_list list;
	void *a, *b, *c;
	int result;

	va_start(list, argument);
	a = va_arg(list, void *);
	b = va_arg(list, void *);
	c = va_arg(list, void *);
	va_end(list);
	if (flags & CLONE_VM || !store.header) {
		uint64_t tick = clock_tick();

		result = REAL(clone)(function, stack, flags, argument, a, b, c);
		if (result > 0 && !(flags & CLONE_THREAD))
			/* What it executes it records later. */
			note_itself(tick, result, HYB_UNMEASURED_MEMORY);
		return result;
	}
	/* Its memory is a copy: what stands on our stack is there for it too. */
	fork_prepare();
	result = REAL(clone)(clone_start, stack, flags, &start, a, b, c);
	fork_parent();
	return result;
}
