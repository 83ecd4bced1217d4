#include "input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define NAMELESS "/proc/self/fd/"

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);

	return length > tail && !strcmp(name + length - tail, end);
}

/* The anchor of a folder without .hyb files, on the heap; NULL: there is none. */
static char *anchor_in(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	char *anchor = NULL;
	bool ours = false;

	while (folder && (entry = readdir(folder))) {
		ours |= ends_with(entry->d_name, ".hyb");
		if (!ends_with(entry->d_name, ".otf2") ||
			(anchor && strcmp(entry->d_name, "traces.otf2") != 0))
			continue;
		free(anchor);
		if (asprintf(&anchor, "%s/%s", path, entry->d_name) < 0)
			anchor = NULL;
	}
	if (folder)
		closedir(folder);
	if (ours) {
		free(anchor);
		anchor = NULL;
	}
	return anchor;
}

/* On the heap; NULL: not an archive. */
static char *find_anchor(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return NULL;
	if (S_ISDIR(st.st_mode))
		return anchor_in(path);
	return S_ISREG(st.st_mode) && ends_with(path, ".otf2") ? strdup(path) : NULL;
}

bool input_is_archive(const char *path)
{
	char *anchor = find_anchor(path);
	bool found = anchor;

	free(anchor);
	return found;
}

/* A file without a name. */
static int open_nameless(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0 || asprintf(&path, "%s/hybrid-XXXXXX", folder) < 0)
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

static void close_from(const int *fds, unsigned first)
{
	for (unsigned i = first; i < OTF2_IMPORT_FILES; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* They get names that only this process can use. */
static int name_files(const int *fds, unsigned count, char ***ret_files, struct hyb_error *err)
{
	char **files = calloc(count + 1u, sizeof(*files));

	for (unsigned i = 0; files && i < count; i++) {
		if (asprintf(&files[i], NAMELESS "%d", fds[i]) < 0) {
			hyb_files_free(files, i);
			files = NULL;
		}
	}
	if (!files)
		return error_set(err, HYB_ENOMEM, "out of memory");
	*ret_files = files;
	return HYB_OK;
}

static int import_files(const char *anchor, const struct import_watch *watch, char ***ret_files,
	size_t *ret_count, struct hyb_error *err)
{
	const char *folder = getenv("TMPDIR");
	int fds[OTF2_IMPORT_FILES], r = HYB_OK;
	unsigned count = 0;

	folder = folder && *folder ? folder : "/tmp";
	memset(fds, 0xff, sizeof(fds));
	for (unsigned i = 0; i < OTF2_IMPORT_FILES && !r; i++) {
		fds[i] = open_nameless(folder);
		if (fds[i] >= 0)
			continue;
		r = error_set(err, HYB_EIO,
			"%s: no temporary file for this archive: %s (set TMPDIR to another directory)",
			folder, strerror(errno));
	}
	if (!r)
		r = otf2_import(anchor, fds, watch, &count, err);
	if (!r)
		r = name_files(fds, count, ret_files, err);
	close_from(fds, r ? 0 : count);
	if (!r)
		*ret_count = count;
	return r;
}

int input_files(const char *path, const struct import_watch *watch, char ***ret_files, size_t *ret_count,
	struct hyb_error *err)
{
	char *anchor = find_anchor(path);
	int r;

	if (!anchor)
		return hyb_experiment_files(path, ret_files, ret_count, err);
	r = import_files(anchor, watch, ret_files, ret_count, err);
	free(anchor);
	return r;
}

void input_files_free(char **files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(files[i], NAMELESS, strlen(NAMELESS)))
			close(atoi(files[i] + strlen(NAMELESS)));
	hyb_files_free(files, count);
}

int input_open(const char *path, const struct import_watch *watch, struct hyb_experiment **ret,
	struct hyb_error *err)
{
	struct hyb_error first = {0};
	char **files;
	size_t count;
	int r;

	if (!input_is_archive(path))
		return hyb_experiment_open(path, ret, err);
	r = input_files(path, watch, &files, &count, err);
	if (r)
		return r;
	r = hyb_experiment_open_files(path, files, count, ret, &first);
	if (!r && !hyb_process_count(*ret)) {
		hyb_experiment_close(*ret);
		r = first.code;
	}
	input_files_free(files, count);
	if (r)
		*err = first;
	return r;
}
