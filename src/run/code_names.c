#include "run/code_names.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/format.h"
#include "run/say.h"

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
static int copy(int from, int to)
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

void code_names_keep(const char *directory, const char *value, size_t length, time_t since)
{
	char source[1024], target[4200];
	int from, to;

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
	to = from < 0 ? -1 : open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (to >= 0 && copy(from, to))
		say("%s: cannot be kept in the experiment: code made at run time may have no names", source);
	if (to >= 0)
		close(to);
	if (from >= 0)
		close(from);
}
