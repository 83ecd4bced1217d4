/*
 * exec and _exit: the file gets how the image ended, and no sampling signal is left for the new one, for
 * which it would be deadly.
 */
#include <alloca.h>
#include <elf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "runtime/arch/arch.h"
#include "runtime/sample/sampler.h"
#include "runtime/store.h"
#include "runtime/sys.h"
#include "runtime/unwind/modules.h"
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
	store_define(HYB_DEF_CHILD, &def, DEF_WITH(path));
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

/* The interpreter in the first bytes of a program: ours, another, or none. */
static enum hyb_unmeasured look_at_interpreter(const char *head, size_t size)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)head;
	static const char loader[] = ARCH_LOADER;

	if (ehdr->e_phentsize != sizeof(Elf64_Phdr) || ehdr->e_phoff % 8 || ehdr->e_phoff > size ||
		ehdr->e_phnum > (size - ehdr->e_phoff) / sizeof(Elf64_Phdr))
		return HYB_UNMEASURED_NOT_KNOWN;
	for (unsigned i = 0; i < ehdr->e_phnum; i++) {
		const Elf64_Phdr *phdr = (const Elf64_Phdr *)(head + ehdr->e_phoff) + i;

		if (phdr->p_type != PT_INTERP)
			continue;
		if (phdr->p_offset > size || phdr->p_filesz > size - phdr->p_offset)
			return HYB_UNMEASURED_NOT_KNOWN;
		return phdr->p_filesz >= sizeof(loader) &&
				       !memcmp(head + phdr->p_offset + phdr->p_filesz - sizeof(loader),
					       loader, sizeof(loader))
			       ? HYB_UNMEASURED_NOT_KNOWN
			       : HYB_UNMEASURED_LIBC;
	}
	return HYB_UNMEASURED_STATIC;
}

/* Why this program cannot be measured, as far as it is easy to see. */
static enum hyb_unmeasured inspect(const char *path)
{
	char head[2048] __attribute__((aligned(8)));
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)head;
	struct stat st;
	ssize_t size;
	int fd;

	/* No other kind of file is opened: that could block, or do something. */
	if (!path || stat(path, &st) || !S_ISREG(st.st_mode))
		return HYB_UNMEASURED_NOT_KNOWN;
	if (((st.st_mode & S_ISUID) && st.st_uid != getuid()) ||
		((st.st_mode & S_ISGID) && st.st_gid != getgid()))
		return HYB_UNMEASURED_RIGHTS;
	fd = sys_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return HYB_UNMEASURED_NOT_KNOWN;
	size = sys_read(fd, head, sizeof(head));
	sys_close(fd);
	if (size < 20 || memcmp(ehdr->e_ident, ELFMAG, SELFMAG))
		return HYB_UNMEASURED_NOT_KNOWN;
	if (ehdr->e_ident[EI_CLASS] != ELFCLASS64 || ehdr->e_machine != ARCH_MACHINE)
		return HYB_UNMEASURED_FOREIGN;
	return (size_t)size < sizeof(*ehdr) || ehdr->e_type == ET_REL
		       ? HYB_UNMEASURED_NOT_KNOWN
		       : look_at_interpreter(head, (size_t)size);
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

/* The end of the entry at `p` of a list with colons, and whether it names a library of ours. */
static const char *entry_end(const char *p, bool *ret_ours)
{
	const char *name = p, *end = strchrnul(p, ':');

	for (const char *q = p; q < end; q++)
		if (*q == '/')
			name = q + 1;
	*ret_ours = is_ours(name, end);
	return end;
}

/* Copies "LD_PRELOAD=a:b:c" without our libraries; `to` has room for all of it. */
static void leave_out_library(const char *entry, char *to)
{
	const char *p = entry + sizeof(preload) - 1, *end;

	to = stpcpy(to, preload);
	for (; *p; p = end + (*end != '\0')) {
		bool ours;

		end = entry_end(p, &ours);
		if (ours)
			continue;
		if (to[-1] != '=')
			*to++ = ':';
		to = mempcpy(to, p, (size_t)(end - p));
	}
	*to = '\0';
}

static bool names_library(const char *list)
{
	const char *end;

	for (const char *p = list; *p; p = end + (*end != '\0')) {
		bool ours;

		end = entry_end(p, &ours);
		if (ours)
			return true;
	}
	return false;
}

/* What stands against measuring the program with that environment. */
static enum hyb_unmeasured why_unmeasured(const char *path, char *const *envp, bool searched)
{
	/* What is found on the PATH is looked at only by who names it whole. */
	enum hyb_unmeasured why = inspect(searched && path && !strchr(path, '/') ? NULL : path);

	if (why)
		return why;
	if (store_is_forbidden())
		return HYB_UNMEASURED_FILE;
	for (; envp && *envp; envp++)
		if (!strncmp(*envp, preload, sizeof(preload) - 1) &&
			names_library(*envp + sizeof(preload) - 1))
			return HYB_UNMEASURED_NOT_KNOWN;
	return HYB_UNMEASURED_ENVIRONMENT;
}

/* In our file, which a child of vfork shares. */
void note_program(uint64_t tick, pid_t pid, const char *path, enum hyb_unmeasured why)
{
	struct hyb_def_program def = {.tick = tick, .pid = (uint32_t)pid, .unmeasured = (uint16_t)why};

	if (!store.header || !path)
		return;
	def.path_len = (uint16_t)strnlen(path, 4095);
	store_define(HYB_DEF_PROGRAM, &def, DEF_WITH(path));
}

void note_itself(uint64_t tick, pid_t pid, enum hyb_unmeasured why)
{
	struct module_map map;

	if (modules_find(getauxval(AT_ENTRY), &map)) /* /proc need not be there */
		note_program(tick, pid, modules_path(&map), why);
}

/* Before an exec: what is measured needs no word of us. */
static enum hyb_unmeasured announce(const char *path, char *const *envp, bool searched)
{
	enum hyb_unmeasured why = why_unmeasured(path, envp, searched);
	pid_t pid = getpid();

	if (why || rt.pid != pid)
		note_program(clock_tick(), pid, path, why);
	return why;
}

typedef int program_start(const char *path, char *const *argv, char *const *envp);

/* With the program's own environment, without our library where it cannot be loaded. */
static int exec(program_start *start, const char *path, char *const *argv, char *const *envp, bool searched)
{
	enum hyb_unmeasured why = announce(path, envp, searched);
	struct attempt attempt = before(path);
	size_t entries = 0;
	char **copy;
	int result;

	if (envp && why == HYB_UNMEASURED_FOREIGN) {
		while (envp[entries])
			entries++;
		copy = alloca((entries + 1) * sizeof(*copy));
		for (size_t i = 0; i <= entries; i++) {
			copy[i] = envp[i];
			if (envp[i] && !strncmp(envp[i], preload, sizeof(preload) - 1)) {
				copy[i] = alloca(strlen(envp[i]) + 1);
				leave_out_library(envp[i], copy[i]);
			}
		}
		envp = copy;
	}
	result = start(path, argv, envp);
	after(attempt);
	return result;
}

EXPORT int execve(const char *path, char *const *argv, char *const *envp)
{
	return exec(REAL(execve), path, argv, envp, false);
}

EXPORT int execv(const char *path, char *const *argv)
{
	return execve(path, argv, environ);
}

EXPORT int execvpe(const char *file, char *const *argv, char *const *envp)
{
	return exec(REAL(execvpe), file, argv, envp, true);
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

static void note_spawned(pid_t pid, const char *path, char *const *envp, bool searched)
{
	int saved = errno;

	note_program(clock_tick(), pid, path, why_unmeasured(path, envp, searched));
	errno = saved;
}

/* Children made by the C library itself. */
static int spawn(__typeof__(&posix_spawn) start, pid_t *pid, const char *path,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const *argv,
	char *const *envp, bool searched)
{
	struct signal_inherited inherited = signal_inherit_begin();
	pid_t child = -1;
	int error = start(&child, path, actions, attributes, argv, envp);

	signal_inherit_end(&inherited);
	if (!error) {
		if (pid)
			*pid = child;
		note_spawned(child, path, envp, searched);
	}
	return error;
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const *argv, char *const *envp)
{
	return spawn(REAL(posix_spawn), pid, path, actions, attributes, argv, envp, false);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const *argv, char *const *envp)
{
	return spawn(REAL(posix_spawnp), pid, file, actions, attributes, argv, envp, true);
}

/* The C library makes the child, waits for it, and keeps its number for itself. */
static void note_shell(void)
{
	note_spawned(0, "/bin/sh", environ, false);
}

EXPORT int system(const char *command)
{
	uint64_t begin = wait_hidden_begin();
	struct signal_inherited inherited = signal_inherit_begin();
	int status = REAL(system)(command);

	signal_inherit_end(&inherited);
	if (command && status != -1) {
		note_shell();
		wait_hidden_end(begin, status);
	}
	return status;
}

EXPORT FILE *popen(const char *command, const char *mode)
{
	struct signal_inherited inherited = signal_inherit_begin();
	FILE *file = REAL(popen)(command, mode);

	signal_inherit_end(&inherited);
	if (file)
		note_shell();
	return file;
}

EXPORT int pclose(FILE *file)
{
	uint64_t begin = wait_hidden_begin();
	int status = REAL(pclose)(file);

	if (status != -1)
		wait_hidden_end(begin, status);
	return status;
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
