#include "sym_help.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/hyb-symbols-XXXXXX";

int sym_set_up(void **state)
{
	(void)state;
	unsetenv("DEBUGINFOD_URLS");
	setenv("LC_ALL", "C", 1);
	return mkdtemp(directory) ? 0 : -1;
}

int sym_tear_down(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

const char *sym_path(const char *name)
{
	static char paths[16][256];
	static unsigned next;
	char *path = paths[next++ % 16];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static char *make_command(const char *format, va_list args)
{
	char *text, *command;

	assert_true(vasprintf(&text, format, args) >= 0);
	assert_true(asprintf(&command, "cd %s && { %s; }", directory, text) >= 0);
	free(text);
	return command;
}

bool sym_run(const char *format, ...)
{
	char *command;
	va_list args;
	int status;

	va_start(args, format);
	command = make_command(format, args);
	va_end(args);
	status = system(command);
	free(command);
	return status == 0;
}

char *sym_output(const char *format, ...)
{
	char *command, *text = NULL;
	size_t size = 0;
	va_list args;
	FILE *pipe;

	va_start(args, format);
	command = make_command(format, args);
	va_end(args);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	if (getdelim(&text, &size, '\0', pipe) < 0)
		*text = '\0';
	pclose(pipe);
	free(command);
	return text;
}

bool sym_has(const char *command)
{
	return sym_run("command -v %s >/dev/null", command);
}

unsigned sym_line(const char *source, const char *name)
{
	char *text = sym_output("grep -nE 'LINE %s( |$)' %s/%s", name, SYM_SOURCES, source);
	unsigned line = (unsigned)strtoul(text, NULL, 10);

	free(text);
	assert_true(line > 0);
	return line;
}

uint64_t sym_address_of(const char *program, const char *symbol)
{
	char *text = sym_output("nm %s | awk '$3 == \"%s\" { print $1 }'", program, symbol);
	uint64_t address = strtoull(text, NULL, 16);

	free(text);
	return address;
}

struct hyb_module sym_module(const char *program)
{
	struct hyb_module module = {.path = sym_path(program)};
	int fd = open(module.path, O_RDONLY);
	const void *id;
	struct stat st;
	ssize_t n;
	Elf *elf;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	module.file_size = (uint64_t)st.st_size;
	module.mtime = st.st_mtime;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	n = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;
	if (n > 0 && n <= (ssize_t)sizeof(module.build_id)) {
		memcpy(module.build_id, id, (size_t)n);
		module.build_id_len = (unsigned)n;
	}
	elf_end(elf);
	close(fd);
	return module;
}

struct hyb_symbols *sym_plain(void)
{
	struct hyb_symbols *symbols = sym_open(&(struct sym_places){0});

	assert_non_null(symbols);
	return symbols;
}

struct hyb_frame sym_frame(struct hyb_symbols *symbols, const struct hyb_module *module, uint64_t address)
{
	size_t count = 0;
	const struct hyb_frame *frames = hyb_symbols_lookup(symbols, module, address, false, &count);

	assert_true(count >= 1);
	return frames[0];
}
