/*
 * exec and _exit: the file says how the image ended, and no sampling signal is
 * left for the new one, for which it would be deadly.
 */
#include <alloca.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "sampler.h"
#include "store.h"
#include "sys.h"
#include "wrap.h"

/* What has to be undone if an exec fails. */
struct attempt {
	bool ours; /* it is our process's own */
	struct signal_inherited inherited;
};

/* Not ours: not measured, or a vfork child in its parent's memory. */
static bool end_image(const char *path)
{
	struct hyb_def_child def = {.tick = clock_tick(), .pid = (uint32_t)rt.pid, .kind = HYB_CHILD_EXEC};
	struct sigaction now, ignore = {.sa_handler = SIG_IGN};
	struct thread *t = self;

	if (!store.header || rt.pid != getpid())
		return false;
	path = path ? path : "";
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

static struct attempt before(const char *path)
{
	return (struct attempt){.ours = end_image(path), .inherited = signal_inherit_begin()};
}

/* The exec failed: life goes on. */
static void after(struct attempt attempt)
{
	int saved = errno;

	signal_inherit_end(&attempt.inherited);
	if (attempt.ours) {
		if (store.header->state == HYB_STATE_EXEC) {
			store.header->state = HYB_STATE_RUNNING;
			store.header->end = 0;
		}
		if (self)
			sampler_start(self);
	}
	errno = saved;
}

/* ------------------------------------------------- programs of another kind */

/* Whether the dynamic linker of this program would complain about our library: it is not of our kind. */
static bool is_foreign(const char *path)
{
	Elf64_Ehdr ehdr;
	struct stat st;
	bool foreign;
	int fd;

	/* No other kind of file is opened: that could block, or do something. */
	if (!path || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = sys_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	foreign = sys_read(fd, &ehdr, sizeof(ehdr)) >= 20 && !memcmp(ehdr.e_ident, ELFMAG, SELFMAG) &&
		  (ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_machine != EM_X86_64);
	sys_close(fd);
	return foreign;
}

static const char preload[] = "LD_PRELOAD=";

static bool is_ours(const char *name, const char *end)
{
	static const char *const ours[] = {"libhybrid.so", "libhybrid-mpi.so"};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if ((size_t)(end - name) == strlen(ours[i]) && !memcmp(name, ours[i], strlen(ours[i])))
			return true;
	return false;
}

/* Copies "LD_PRELOAD=a:b:c" without our libraries; `to` has room for all of it. */
static void leave_out_library(const char *entry, char *to)
{
	const char *p = entry + sizeof(preload) - 1, *end;

	to = stpcpy(to, preload);
	for (; *p; p = end + (*end != '\0')) {
		const char *name = p;

		end = strchrnul(p, ':');
		for (const char *q = p; q < end; q++)
			if (*q == '/')
				name = q + 1;
		if (is_ours(name, end))
			continue;
		if (to[-1] != '=')
			*to++ = ':';
		to = mempcpy(to, p, (size_t)(end - p));
	}
	*to = '\0';
}

/* The environment for `path`: the program's own, without our library where it cannot be loaded. */
#define ENVIRONMENT(path, envp) \
	if (envp && is_foreign(path)) { \
		size_t entries = 0; \
		char **copy; \
		while (envp[entries]) \
			entries++; \
		copy = alloca((entries + 1) * sizeof(*copy)); \
		for (size_t i = 0; i <= entries; i++) { \
			copy[i] = envp[i]; \
			if (envp[i] && !strncmp(envp[i], preload, sizeof(preload) - 1)) { \
				copy[i] = alloca(strlen(envp[i]) + 1); \
				leave_out_library(envp[i], copy[i]); \
			} \
		} \
		envp = copy; \
	}

EXPORT int execve(const char *path, char *const *argv, char *const *envp)
{
	struct attempt attempt = before(path);
	int result;

	ENVIRONMENT(path, envp)
	result = REAL(execve)(path, argv, envp);

	after(attempt);
	return result;
}

EXPORT int execv(const char *path, char *const *argv)
{
	return execve(path, argv, environ);
}

EXPORT int execvpe(const char *file, char *const *argv, char *const *envp)
{
	struct attempt attempt = before(file);
	int result;

	/* Without a slash it is found on the PATH, where programs are of the system's own kind. */
	if (strchr(file, '/'))
		ENVIRONMENT(file, envp)
	result = REAL(execvpe)(file, argv, envp);

	after(attempt);
	return result;
}

EXPORT int execvp(const char *file, char *const *argv)
{
	return execvpe(file, argv, environ);
}

EXPORT int fexecve(int fd, char *const *argv, char *const *envp)
{
	struct attempt attempt = before("(a file descriptor)");
	int result = REAL(fexecve)(fd, argv, envp);

	after(attempt);
	return result;
}

EXPORT int execveat(int dir, const char *path, char *const *argv, char *const *envp, int flags)
{
	struct attempt attempt = before(path);
	int result = REAL(execveat)(dir, path, argv, envp, flags);

	after(attempt);
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

/* Children made by the C library itself. */
EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const *argv, char *const *envp)
{
	struct signal_inherited inherited = signal_inherit_begin();
	int error = REAL(posix_spawn)(pid, path, actions, attributes, argv, envp);

	signal_inherit_end(&inherited);
	return error;
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const *argv, char *const *envp)
{
	struct signal_inherited inherited = signal_inherit_begin();
	int error = REAL(posix_spawnp)(pid, file, actions, attributes, argv, envp);

	signal_inherit_end(&inherited);
	return error;
}

EXPORT int system(const char *command)
{
	struct signal_inherited inherited = signal_inherit_begin();
	int status = REAL(system)(command);

	signal_inherit_end(&inherited);
	return status;
}

EXPORT FILE *popen(const char *command, const char *mode)
{
	struct signal_inherited inherited = signal_inherit_begin();
	FILE *file = REAL(popen)(command, mode);

	signal_inherit_end(&inherited);
	return file;
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
