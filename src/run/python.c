#include "run/python.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD 256 /* bytes in which the kernel looks for a #! line */

bool python_name(const char *name)
{
	static const char *const ends[] = {".py", ".pyz", ".pyc"};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end = strlen(ends[i]);

		if (length > end && !strcmp(name + length - end, ends[i]))
			return true;
	}
	return false;
}

/* The start of a regular file as a text; false if there is none that can be read. */
static bool read_head(const char *path, char ret[HEAD])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t length = -1;
	struct stat st;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		length = read(fd, ret, HEAD - 1);
	close(fd);
	if (length < 0)
		return false;
	ret[length] = 0;
	return true;
}

static bool is_package(const char *path)
{
	char inside[PATH_MAX];

	return *path && snprintf(inside, sizeof(inside), "%s/__main__.py", path) < (int)sizeof(inside) &&
	       !access(inside, R_OK);
}

/*
 * Interpreter and its one option of a #! line, as the kernel reads it, except
 * that a carriage return ends it, too. Ended in place; NULL: there is no such line.
 */
static char *split_line(char *head, char **ret_option)
{
	static const char blanks[] = " \t";
	char *interpreter, *end;

	if (strncmp(head, "#!", 2))
		return NULL;
	head[strcspn(head, "\r\n")] = 0;
	interpreter = head + 2 + strspn(head + 2, blanks);
	end = interpreter + strlen(interpreter);
	while (end > interpreter && strchr(blanks, end[-1]))
		*--end = 0;
	end = interpreter + strcspn(interpreter, blanks);
	*ret_option = end + strspn(end, blanks);
	*end = 0;
	return *interpreter ? interpreter : NULL;
}

static bool can_execute(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Whether the kernel does, with `head` the first bytes of the file and `interpreter` of its #! line or NULL.
 */
static bool kernel_executes(const char *path, const char *head, const char *interpreter)
{
	return can_execute(path) &&
	       (interpreter ? can_execute(interpreter) : !strncmp(head, ELFMAG, SELFMAG));
}

int python_find(const char *path, bool found, struct program *program)
{
	char head[HEAD] = "", none[] = "", python[PATH_MAX], *option = none, *interpreter;
	bool wanted = python_name(path);

	if (is_package(path))
		wanted = true;
	else if (!read_head(path, head))
		return 0;
	interpreter = split_line(head, &option);
	wanted |= interpreter && (strstr(interpreter, "python") || strstr(option, "python"));
	if (!wanted || (found && kernel_executes(path, head, interpreter)))
		return 0;
	if (!interpreter || !can_execute(interpreter)) {
		if (program_find("python3", python))
			return -ENOENT;
		interpreter = python;
		option = none;
	}
	snprintf(program->script, sizeof(program->script), "%s%s", *path == '-' ? "./" : "", path);
	snprintf(program->option, sizeof(program->option), "%s", option);
	snprintf(program->path, sizeof(program->path), "%s", interpreter);
	return 1;
}
