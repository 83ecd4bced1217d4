#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converters/convert.h"

#define BLOCK (64u << 10)

int convert_failed(const char *format, ...)
{
	va_list arguments;

	fputs("hybrid-convert: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	putc('\n', stderr);
	return -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

/* Does not follow links, and goes on behind what cannot be removed. */
static int remove_tree(const char *path)
{
	return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* What --force may replace: an archive of ours or another tool's, not the user's home. */
static bool is_archive(const char *path)
{
	char *anchor;
	bool found;

	if (!rmdir(path)) /* it was empty */
		return true;
	if (asprintf(&anchor, "%s/traces.otf2", path) < 0)
		return false;
	found = !access(anchor, F_OK);
	free(anchor);
	return found;
}

/* Whether something may be made under that name. */
static int check_place(const char *final, enum convert_kind kind, bool force)
{
	struct stat st;

	if (lstat(final, &st))
		return 0;
	if (!force)
		return convert_failed("%s: exists already; remove it, or use --force", final);
	if (kind == CONVERT_FILE && !S_ISREG(st.st_mode))
		return convert_failed("%s: is no regular file; --force replaces nothing else", final);
	if (kind == CONVERT_FOLDER && (!S_ISDIR(st.st_mode) || !is_archive(final)))
		return convert_failed("%s: is no archive; --force replaces nothing else", final);
	return 0;
}

static ssize_t write_all(void *cookie, const char *bytes, size_t size)
{
	struct output *output = cookie;
	size_t done = 0;

	while (done < size && !output->error) {
		ssize_t n = write(output->fd, bytes + done, size - done);

		if (n <= 0)
			output->error = n ? errno : EIO; /* EINTR: a signal that ends us */
		done += n > 0 ? (size_t)n : 0;
	}
	return output->error ? 0 : (ssize_t)size;
}

static int close_file(void *cookie)
{
	struct output *output = cookie;

	if (close(output->fd) && !output->error)
		output->error = errno;
	return output->error ? -1 : 0;
}

/* A stream that remembers why it failed: stdio goes on behind an error, and errno with it. */
static int open_stream(struct output *output, int fd)
{
	static char buffer[BLOCK]; /* one output is open at a time */

	output->fd = fd;
	output->file =
		fopencookie(output, "w", (cookie_io_functions_t){.write = write_all, .close = close_file});
	if (!output->file) {
		close(fd);
		return convert_failed("out of memory");
	}
	setvbuf(output->file, buffer, _IOFBF, sizeof(buffer));
	return 0;
}

/* Makes the folder or file under its other name. */
static int make_part(struct output *output, mode_t mask)
{
	size_t n = strlen(output->final);
	int fd = -1;

	while (n > 1 && output->final[n - 1] == '/')
		n--;
	if (asprintf(&output->part, "%.*s.part-XXXXXX", (int)n, output->final) < 0) {
		output->part = NULL;
		return convert_failed("out of memory");
	}
	if (output->is_folder ? !mkdtemp(output->part) : (fd = mkostemp(output->part, O_CLOEXEC)) < 0) {
		int error = errno;

		free(output->part);
		output->part = NULL;
		return convert_failed("%s: cannot be made: %s", output->final, strerror(error));
	}
	chmod(output->part, (output->is_folder ? 0777 : 0666) & ~mask);
	if (output->is_folder)
		return 0;
	if (!open_stream(output, fd))
		return 0;
	output_abandon(output);
	return -1;
}

/* "-", and what is no file on a disk: nothing can be renamed there. */
static bool is_stream(const char *final)
{
	struct stat st;

	return !strcmp(final, "-") ||
	       (!stat(final, &st) && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)));
}

int output_begin(struct output *output, const char *final, enum convert_kind kind, bool force)
{
	mode_t mask = umask(0);

	umask(mask);
	*output = (struct output){.final = final, .force = force, .is_folder = kind == CONVERT_FOLDER};
	if (output->is_folder && !strcmp(final, "-"))
		return convert_failed("-o -: the format is a folder, which has no place on standard output");
	if (!output->is_folder && is_stream(final)) {
		int fd = strcmp(final, "-") ? open(final, O_WRONLY | O_CLOEXEC) : STDOUT_FILENO;

		if (fd < 0)
			return convert_failed("%s: cannot be written: %s", final, strerror(errno));
		return open_stream(output, fd);
	}
	if (check_place(final, kind, force) || make_part(output, mask))
		return -1;
	output->folder = output->is_folder ? output->part : NULL;
	return 0;
}

const char *output_name(const struct output *output)
{
	return strcmp(output->final, "-") ? output->final : "standard output";
}

int output_check(const struct output *output)
{
	if (!output->error || output->error == EINTR || output->error == EPIPE) /* a signal ends us */
		return output->error ? -1 : 0;
	return convert_failed("%s: cannot be written: %s", output_name(output), strerror(output->error));
}

/* What stdio holds back goes to the disk, unless an error came before. */
static int finish_file(struct output *output)
{
	FILE *file = output->file;

	if ((fflush(file) || ferror(file)) && !output->error)
		output->error = EIO;
	if (!output->error && output->part && fsync(output->fd) && errno != EINVAL && errno != EROFS)
		output->error = errno;
	output->file = NULL;
	fclose(file);
	return output_check(output);
}

static int rename_part(const struct output *output)
{
	int r = renameat2(AT_FDCWD, output->part, AT_FDCWD, output->final, RENAME_NOREPLACE);

	if (r && errno == EINVAL && !output->is_folder && access(output->final, F_OK))
		r = rename(output->part, output->final); /* a file system that cannot */
	else if (r && errno == EINVAL && output->is_folder) /* which replaces an empty folder only */
		r = rename(output->part, output->final);
	if (!r || !output->force || (errno != EEXIST && errno != ENOTEMPTY && errno != EINVAL))
		return r;
	if (!output->is_folder)
		return rename(output->part, output->final);
	r = renameat2(AT_FDCWD, output->part, AT_FDCWD, output->final, RENAME_EXCHANGE);
	if (!r)
		remove_tree(output->part);
	return r;
}

int output_finish(struct output *output)
{
	if (output->file && finish_file(output))
		return -1;
	if (output->part && rename_part(output))
		return convert_failed("%s: cannot be given its name: %s", output->final, strerror(errno));
	free(output->part);
	output->part = NULL;
	return 0;
}

void output_abandon(struct output *output)
{
	if (!output->error)
		output->error = ECANCELED; /* nothing more is written, to a pipe that may be full */
	if (output->file)
		fclose(output->file);
	output->file = NULL;
	if (output->part && remove_tree(output->part))
		convert_failed("%s: cannot be removed: %s", output->part, strerror(errno));
	free(output->part);
	output->part = NULL;
}
