/* The file `experiment`: what hybrid-run wrote about the whole run, a line "key value" each. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "reader/experiment.h"

#define VALUES_MOST (1u << 20) /* bytes; the file is some hundred */

/* "\n" and "\\" stand for a line feed and a backslash. In place. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (from[0] == '\\' && from[1] == 'n') {
			*to++ = '\n';
			from++;
		} else if (from[0] == '\\' && from[1] == '\\') {
			*to++ = '\\';
			from++;
		} else {
			*to++ = *from;
		}
	}
	*to = 0;
}

static int take_line(struct hyb_experiment *e, const char *line, size_t length)
{
	char *key = arena_string(&e->arena, line, length), *value;

	if (!key || !ARRAY_ROOM(e->values, e->value_count))
		return HYB_ENOMEM;
	value = strchr(key, ' ');
	if (value)
		*value++ = 0;
	else
		value = key + strlen(key);
	unescape(value);
	if (*key)
		e->values[e->value_count++] = (struct hyb_text_pair){key, value};
	return HYB_OK;
}

/* A file that cannot be read has no bytes. */
static size_t read_text(const char *path, char *buffer, size_t room, struct damage *damage)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t done = 0;
	ssize_t n = 0;

	if (fd >= 0) {
		while (done < room && (n = read(fd, buffer + done, room - done)) > 0)
			done += (size_t)n;
	}
	if ((fd < 0 && errno != ENOENT) || n < 0)
		damage_add(damage, path, done, "cannot be read: %s", strerror(errno));
	else if (done == room)
		damage_add(damage, path, done, "too long, the rest is left out");
	if (fd >= 0)
		close(fd);
	return done;
}

int experiment_load_values(struct hyb_experiment *e, const char *path)
{
	char *buffer = malloc(VALUES_MOST);
	int error = HYB_OK;
	size_t length;

	if (!buffer)
		return HYB_ENOMEM;
	length = read_text(path, buffer, VALUES_MOST, &e->damage);
	for (size_t at = 0; at < length && !error;) {
		const char *end = memchr(buffer + at, '\n', length - at);
		size_t line = end ? (size_t)(end - buffer) - at : length - at;

		if (line)
			error = take_line(e, buffer + at, line);
		at += line + 1;
	}
	free(buffer);
	return error;
}
