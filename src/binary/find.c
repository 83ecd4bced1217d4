#include "binary/find.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned id_length(const struct hyb_module *module)
{
	return module->build_id_len <= sizeof(module->build_id) ? module->build_id_len : 0;
}

/* -1: the file has no build-id or is no ELF file; else whether it is the module's. */
static int compare_build_id(int fd, const struct hyb_module *module)
{
	const void *id = NULL;
	Elf *elf;
	ssize_t len;
	int equal = -1;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return -1;
	len = elf_kind(elf) == ELF_K_ELF ? dwelf_elf_gnu_build_id(elf, &id) : -1;
	if (len > 0 && id_length(module))
		equal = (size_t)len == id_length(module) && !memcmp(id, module->build_id, (size_t)len);
	elf_end(elf);
	return equal;
}

/* Why the file cannot be the one that ran; NULL if it is. */
static const char *difference(int fd, const struct stat *st, const struct sym_wanted *wanted)
{
	const struct hyb_module *module = wanted->module;
	int equal = compare_build_id(fd, module);

	if (equal >= 0)
		return equal ? NULL : "changed since the run; build-id differs";
	if (wanted->saved)
		return NULL;
	if (!module->file_size || !module->mtime)
		return "may be a later version: neither build-id nor time are known";
	if ((uint64_t)st->st_size != module->file_size)
		return "changed since the run; size differs";
	return st->st_mtime == module->mtime ? NULL : "changed since the run; modification time differs";
}

static int open_regular(const char *path, struct stat *ret_st)
{
	/* Not to wait at a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && (fstat(fd, ret_st) < 0 || !S_ISREG(ret_st->st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

/* The descriptor if it is the module's file by build-id, else -1. Takes the descriptor. */
static int only_if_equal(int fd, const struct hyb_module *module)
{
	if (fd >= 0 && compare_build_id(fd, module) != 1) {
		close(fd);
		return -1;
	}
	return fd;
}

unsigned sym_build_id_hex(const struct hyb_module *module, char hex[SYM_HEX_SIZE])
{
	hex[0] = '\0';
	for (unsigned i = 0; i < id_length(module); i++)
		snprintf(hex + 2 * i, 3, "%02x", module->build_id[i]);
	return id_length(module);
}

/* DIRECTORY/.build-id/12/3456.debug for each absolute directory of the debug path. */
static int find_in_directories(const struct sym_wanted *wanted)
{
	const char *dirs = wanted->debug_path ? wanted->debug_path : SYM_DEBUG_PATH;
	char hex[SYM_HEX_SIZE], path[PATH_MAX];
	struct stat st;
	int fd = -1;

	/* Shorter than two bytes it does not make a path. */
	if (sym_build_id_hex(wanted->module, hex) < 2)
		return -1;
	while (*dirs && fd < 0) {
		int len = (int)strcspn(dirs, ":");

		if (*dirs == '/' && snprintf(path, sizeof(path), "%.*s/.build-id/%.2s/%s.debug", len, dirs,
					    hex, hex + 2) < (int)sizeof(path))
			fd = only_if_equal(open_regular(path, &st), wanted->module);
		dirs += len;
		dirs += *dirs == ':';
	}
	return fd;
}

/*
 * From the servers in DEBUGINFOD_URLS. The library is loaded only when it is
 * asked for, as libdwfl does: it brings a whole HTTP client along.
 */
static int find_on_server(const struct hyb_module *module)
{
	const char *urls = id_length(module) ? getenv(DEBUGINFOD_URLS_ENV_VAR) : NULL;
	void *library = urls && *urls ? dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_find_debuginfo) *find;
	__typeof__(debuginfod_end) *end;
	debuginfod_client *client;
	int fd = -1;

	if (!library)
		return -1;
	begin = (__typeof__(begin))dlsym(library, "debuginfod_begin");
	find = (__typeof__(find))dlsym(library, "debuginfod_find_debuginfo");
	end = (__typeof__(end))dlsym(library, "debuginfod_end");
	client = begin && find && end ? begin() : NULL;
	if (client) {
		fd = find(client, module->build_id, (int)id_length(module), NULL);
		end(client);
	}
	/* The library stays: an HTTP client does not unload well. */
	return only_if_equal(fd, module);
}

int sym_find_code(const struct sym_wanted *wanted, char *problem, size_t problem_size)
{
	const char *why;
	struct stat st;
	int fd;

	problem[0] = '\0';
	/* "[vdso]" without a copy and the like are no files: nothing is wrong with them. */
	if (wanted->path[0] != '/')
		return -1;
	fd = open_regular(wanted->path, &st);
	why = fd < 0 ? strerror(errno) : difference(fd, &st, wanted);
	if (!why)
		return fd;
	snprintf(problem, problem_size, "%s: %s", wanted->path, why);
	if (fd >= 0)
		close(fd);
	return -1;
}

int sym_find(const struct sym_wanted *wanted, char *problem, size_t problem_size)
{
	int fd = sym_find_code(wanted, problem, problem_size);

	if (fd < 0)
		fd = find_in_directories(wanted);
	if (fd < 0)
		fd = find_on_server(wanted->module);
	if (fd >= 0)
		problem[0] = '\0';
	return fd;
}
