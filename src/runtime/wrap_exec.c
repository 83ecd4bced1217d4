/*
 * exec and _exit: the file says how the image ended, and no sampling signal is
 * left for the new one, for which it would be deadly.
 */
#include <alloca.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "sampler.h"
#include "store.h"
#include "wrap.h"

/* False: not our process's own exec (not measured, or a vfork child in its parent's memory). */
static bool before(const char *path)
{
	struct hyb_def_child def = {.tick = clock_tick(), .pid = (uint32_t)rt.pid, .kind = HYB_CHILD_EXEC};
	struct sigaction now, ignore = {.sa_handler = SIG_IGN};
	struct thread *t = self;

	if (!store.header || rt.pid != getpid())
		return false;
	def.path_len = (uint16_t)strnlen(path, 4095);
	store_define(HYB_DEF_CHILD, &def, sizeof(def), path, def.path_len, NULL, 0);
	runtime_end(HYB_STATE_EXEC);
	if (rt.source && t && t->armed) {
		sampler_stop(t);
		/* Ignoring a signal discards those that are pending. */
		REAL(sigaction)(rt.set.signal, NULL, &now);
		raw_sigaction(rt.set.signal, &ignore);
		raw_sigaction(rt.set.signal, &now);
	}
	return true;
}

/* The exec failed: life goes on. */
static void after(bool was_ours)
{
	int saved = errno;

	if (was_ours) {
		if (store.header->state == HYB_STATE_EXEC) {
			store.header->state = HYB_STATE_RUNNING;
			store.header->end = 0;
		}
		if (self)
			sampler_start(self);
	}
	errno = saved;
}

EXPORT int execve(const char *path, char *const *argv, char *const *envp)
{
	bool ours = before(path);
	int result = REAL(execve)(path, argv, envp);

	after(ours);
	return result;
}

EXPORT int execv(const char *path, char *const *argv)
{
	return execve(path, argv, environ);
}

EXPORT int execvpe(const char *file, char *const *argv, char *const *envp)
{
	bool ours = before(file);
	int result = REAL(execvpe)(file, argv, envp);

	after(ours);
	return result;
}

EXPORT int execvp(const char *file, char *const *argv)
{
	return execvpe(file, argv, environ);
}

EXPORT int fexecve(int fd, char *const *argv, char *const *envp)
{
	bool ours = before("(a file descriptor)");
	int result = REAL(fexecve)(fd, argv, envp);

	after(ours);
	return result;
}

/* The arguments of an execl call as an array on the caller's stack; `list` ends behind the NULL. */
#define COLLECT(list, first, argv) \
	size_t count = 1; \
	va_start(list, first); \
	while (va_arg(list, char *)) \
		count++; \
	va_end(list); \
	argv = alloca((count + 1) * sizeof(*argv)); \
	argv[0] = (char *)first; \
	va_start(list, first); \
	for (size_t i = 1; i <= count; i++) \
		argv[i] = va_arg(list, char *);

EXPORT int execl(const char *path, const char *first, ...)
{
	va_list list;
	char **argv;

	COLLECT(list, first, argv)
	va_end(list);
	return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list list;
	char **argv;

	COLLECT(list, first, argv)
	va_end(list);
	return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	va_list list;
	char **argv, **envp;

	COLLECT(list, first, argv)
	envp = va_arg(list, char **);
	va_end(list);
	return execve(path, argv, envp);
}

EXPORT void _exit(int status)
{
	runtime_end(HYB_STATE_EXITED);
	REAL(_exit)(status);
	__builtin_unreachable();
}

EXPORT void _Exit(int status)
{
	_exit(status);
}
