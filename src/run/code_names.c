#include "run/code_names.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/format.h"
#include "run/message.h"

#define DIGITS 16
#define KEPT_MOST ((off_t)256 << 20) /* bytes; the reader takes no more */

static const char *ending(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (!strcmp(dot, HYB_MADE_MAP) || !strcmp(dot, HYB_MADE_DUMP)) ? dot : NULL;
}

/* The file to be copied, open; negative: there is none, or it is somebody else's. */
static int open_source(const char *path, time_t since)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_mtime >= since)
		return fd;
	close(fd);
	return -1;
}

/* 0 or -1. */
static int copy_bytes(int from, int to)
{
	static char buffer[1u << 16]; /* the stack may be as small */
	off_t all = 0;
	ssize_t got;

	while (all < KEPT_MOST && (got = read(from, buffer, sizeof(buffer))) > 0) {
		if (write(to, buffer, (size_t)got) != got)
			return -1;
		all += got;
	}
	return 0;
}

/* In the place of what is there: that may be the source itself, which a later process can write to. 0 or -1.
 */
static int copy(int from, const char *target)
{
	char path[4300];
	int to, result;

	snprintf(path, sizeof(path), "%s.new", target);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	result = to < 0 ? -1 : copy_bytes(from, to);
	if (to >= 0)
		close(to);
	if (!result)
		result = rename(path, target);
	if (result)
		unlink(path);
	return result;
}

void code_names_keep(const char *directory, const char *value, size_t length, time_t since)
{
	char source[1024], target[4200];
	int from;

	if (length <= DIGITS + 1 || length - DIGITS - 1 >= sizeof(source) || value[DIGITS] != ' ')
		return;
	for (int i = 0; i < DIGITS; i++)
		if (!isxdigit((unsigned char)value[i]))
			return;
	memcpy(source, value + DIGITS + 1, length - DIGITS - 1);
	source[length - DIGITS - 1] = '\0';
	if (!ending(source))
		return;
	snprintf(target, sizeof(target), "%s/code-%.16s%s", directory, value, ending(source));
	from = open_source(source, since);
	if (from < 0)
		from = open_source(target, since); /* the runtime's link to what the process removed */
	if (from < 0) {
		unlink(target);
		return;
	}
	if (copy(from, target))
		message("%s: cannot be kept in the experiment: code made at run time may have no names",
			source);
	close(from);
}
