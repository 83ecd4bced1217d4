#include "viewer/model/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define PIECE ((size_t)1 << 20) /* read at once */

static int open_regular(const char *path, struct stat *st)
{
	/* Not to wait at a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (fstat(fd, st) < 0 || !S_ISREG(st->st_mode)) {
		int error = S_ISDIR(st->st_mode) ? EISDIR : EINVAL;

		close(fd);
		return -error;
	}
	return fd;
}

/* Reads as far as the limit; the file may grow and shrink meanwhile. Bytes read, or -errno. */
static ssize_t read_bytes(int fd, char **bytes, size_t room, atomic_bool *stop)
{
	size_t size = 0;

	*bytes = malloc(room + 1);
	if (!*bytes)
		return -ENOMEM;
	while (size < room) {
		size_t piece = room - size < PIECE ? room - size : PIECE;
		ssize_t n = read(fd, *bytes + size, piece);

		if (stop && atomic_load(stop))
			return -ECANCELED;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		size += (size_t)n;
	}
	(*bytes)[size] = '\0';
	return (ssize_t)size;
}

/* Finds where lines begin; `size` is cut behind the last line that there is room for. */
static int find_lines(struct source *source, size_t size)
{
	const char *at = source->bytes, *end = source->bytes + size;

	while (at < end && source->count < SOURCE_LINES_MAX) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (!ARRAY_ADD(source->starts, source->count, (uint32_t)(at - source->bytes)))
			return -ENOMEM;
		at = newline ? newline + 1 : end;
	}
	source->cut |= at < end;
	if (!ARRAY_ROOM(source->starts, source->count))
		return -ENOMEM;
	source->starts[source->count] = (uint32_t)(at - source->bytes);
	return 0;
}

int source_read(const char *path, atomic_bool *stop, struct source *ret)
{
	struct source source = {0};
	struct stat st = {0};
	int fd = open_regular(path, &st), r;
	ssize_t size;

	if (fd < 0)
		return fd;
	source.file_size = (uint64_t)st.st_size;
	source.mtime = st.st_mtime;
	source.cut = source.file_size > SOURCE_BYTES_MAX;
	size = read_bytes(fd, &source.bytes, source.cut ? SOURCE_BYTES_MAX : (size_t)source.file_size, stop);
	close(fd);
	r = size < 0 ? (int)size : find_lines(&source, (size_t)size);
	if (r) {
		source_release(&source);
		return r;
	}
	source.binary = memchr(source.bytes, '\0', (size_t)size) != NULL;
	*ret = source;
	return 0;
}

void source_release(struct source *source)
{
	free(source->bytes);
	free(source->starts);
	*source = (struct source){0};
}

size_t source_line(const struct source *source, size_t i, const char **ret_text)
{
	const char *text = source->bytes + source->starts[i];
	size_t length = source->starts[i + 1] - source->starts[i];

	if (length && text[length - 1] == '\n')
		length--;
	if (length && text[length - 1] == '\r')
		length--;
	if (!i && length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) { /* the mark of UTF-8 */
		text += 3;
		length -= 3;
	}
	*ret_text = text;
	return length;
}
