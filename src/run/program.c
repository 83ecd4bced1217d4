#include "run/program.h"

#include "base/path.h"
#include "run/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_DEPTH 4 /* as the kernel: deeper ones are not executed */

static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

int program_find(const char *name, char ret_path[PATH_MAX])
{
	const char *dir = getenv("PATH");
	int result = -ENOENT, found;
	size_t length;
	char path[PATH_MAX];

	if (strchr(name, '/') || !*name) {
		if (strlen(name) >= PATH_MAX)
			return -ENAMETOOLONG;
		strcpy(ret_path, name);
		return check_executable(name);
	}
	if (!dir)
		dir = "/bin:/usr/bin";
	for (;; dir += length + 1) {
		length = strcspn(dir, ":");
		/* An empty entry is the current directory. */
		if (snprintf(path, sizeof(path), "%.*s%s%s", (int)length, dir, length ? "/" : "./", name) <
			(int)sizeof(path)) {
			found = check_executable(path);
			if (!found) {
				strcpy(ret_path, path);
				return 0;
			}
			if (found == -EACCES)
				result = found; /* as the shell: remember it, look on */
		}
		if (!dir[length])
			return result;
	}
}

char **program_words(const struct program *program, char **command)
{
	size_t count = 0, used = 0;
	char **words;

	if (!*program->script)
		return command;
	while (command[count])
		count++;
	words = calloc(count + 3, sizeof(*words));
	if (!words)
		return NULL;
	words[used++] = (char *)program->path;
	if (*program->option)
		words[used++] = (char *)program->option;
	words[used++] = (char *)program->script;
	memcpy(words + used, command + 1, (count - 1) * sizeof(*words));
	return words;
}

/* The path of the first PT_INTERP into `interp`; "" if there is none. False if the headers cannot be read. */
static bool read_interp(int fd, const ElfW(Ehdr) * elf, char interp[PATH_MAX])
{
	ElfW(Phdr) header;
	ssize_t length;

	interp[0] = 0;
	if (elf->e_phentsize != sizeof(header))
		return false;
	for (unsigned i = 0; i < elf->e_phnum; i++) {
		if (pread(fd, &header, sizeof(header), (off_t)(elf->e_phoff + i * sizeof(header))) !=
			sizeof(header))
			return false;
		if (header.p_type != PT_INTERP)
			continue;
		length = pread(fd, interp, PATH_MAX - 1, (off_t)header.p_offset);
		if (length < 0)
			return false;
		interp[(size_t)length < header.p_filesz ? (size_t)length : header.p_filesz] = 0;
		return true;
	}
	return true;
}

/* ELF header and dynamic linker of this very program: what the runtime was built for. */
static bool read_own(ElfW(Ehdr) * elf, char interp[PATH_MAX])
{
	bool known;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	known = pread(fd, elf, sizeof(*elf), 0) == sizeof(*elf) && read_interp(fd, elf, interp);
	close(fd);
	return known;
}

/* Programs that run with other rights than ours: their dynamic linker drops LD_PRELOAD. */
static bool changes_rights(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
		return true;
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getgid())
		return true;
	return getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* Reads the file as a whole for what stands deeper in it. */
static void look_inside(struct program *program, int fd, bool *ret_sanitized)
{
	struct stat st;
	char *file;

	*ret_sanitized = false;
	if (fstat(fd, &st) || st.st_size < (off_t)sizeof(ElfW(Ehdr)))
		return;
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		return;
	/* gcc's shared AddressSanitizer ends a program in which another library comes before it. */
	*ret_sanitized = elf_needs(file, (size_t)st.st_size, "libasan.so");
	program->static_mpi = elf_defines(file, (size_t)st.st_size, "MPI_Init") &&
			      !elf_needs(file, (size_t)st.st_size, "libmpi") &&
			      !elf_needs(file, (size_t)st.st_size, "libhybrid-mpi");
	munmap(file, (size_t)st.st_size);
}

static void set_obstacle(struct program *program, enum hyb_unmeasured why, const char *text)
{
	program->unmeasured = why;
	snprintf(program->obstacle, sizeof(program->obstacle), "%s", text);
}

/*
 * If the dynamic linker could not load the runtime it would complain on the program's stderr; another C
 * library would load it, miss glibc's functions and not start the program.
 */
static void inspect_elf(struct program *program, int fd, const ElfW(Ehdr) * elf)
{
	char interp[PATH_MAX], own_interp[PATH_MAX];
	bool sanitized;
	ElfW(Ehdr) own;

	if (!read_own(&own, own_interp))
		return;
	look_inside(program, fd, &sanitized);
	if (elf->e_ident[EI_CLASS] != own.e_ident[EI_CLASS]) {
		set_obstacle(program, HYB_UNMEASURED_FOREIGN, "is a 32-bit program");
		program->preload = false;
	} else if (elf->e_machine != own.e_machine || elf->e_ident[EI_DATA] != own.e_ident[EI_DATA]) {
		set_obstacle(program, HYB_UNMEASURED_FOREIGN, "is built for another kind of machine");
		program->preload = false;
	} else if (!read_interp(fd, elf, interp)) {
		return;
	} else if (!*interp) {
		set_obstacle(program, HYB_UNMEASURED_STATIC, "is static");
	} else if (strcmp(path_base(own_interp), path_base(interp))) {
		set_obstacle(program, HYB_UNMEASURED_LIBC, "");
		snprintf(program->obstacle, sizeof(program->obstacle), "uses another C library (%.60s)",
			path_base(interp));
		program->preload = false;
	} else if (sanitized) {
		set_obstacle(program, HYB_UNMEASURED_SANITIZER, "is built with AddressSanitizer");
		program->preload = false;
	} else if (changes_rights(fd)) {
		set_obstacle(program, HYB_UNMEASURED_RIGHTS,
			"runs with other rights (setuid, setgid or capabilities)");
	}
}

/* The interpreter of a #! line, ended in place; NULL if the text is none. */
static char *script_interpreter(char *text)
{
	if (strncmp(text, "#!", 2))
		return NULL;
	text += 2;
	text += strspn(text, " \t");
	text[strcspn(text, " \t\n")] = 0;
	return *text ? text : NULL;
}

void program_inspect(struct program *program)
{
	char head[256], *next = program->path;
	ElfW(Ehdr) elf;
	ssize_t length;
	int fd;

	set_obstacle(program, HYB_UNMEASURED_NOT_KNOWN, "");
	program->preload = true;
	program->text = false;
	for (int depth = 0; next && depth <= SCRIPT_DEPTH; depth++) {
		fd = open(next, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return;
		length = read(fd, head, sizeof(head) - 1);
		if (length < 0)
			length = 0;
		head[length] = 0;
		if (depth == 0)
			program->text = !memchr(head, 0, (size_t)length);
		if (length >= (ssize_t)sizeof(elf) && !memcmp(head, ELFMAG, SELFMAG)) {
			memcpy(&elf, head, sizeof(elf));
			inspect_elf(program, fd, &elf);
		}
		close(fd);
		next = script_interpreter(head);
	}
}
