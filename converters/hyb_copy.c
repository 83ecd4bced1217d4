#include "converters/hyb_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/experiment.h"

#define BLOCK (1u << 20)

static int failed(const char *path, struct hyb_error *err)
{
	return error_system(err, path, "cannot be written");
}

static const struct process *first_of(const struct hyb_experiment *e, const struct file *file)
{
	for (size_t i = 0; i < e->process_count; i++)
		if (e->processes[i]->file == file)
			return e->processes[i];
	return NULL;
}

/* As hybrid-run calls them: HOST-PID.IMAGE.hyb, and of several processes HOST-node-NUMBER.0.hyb. Heap or
 * NULL. */
static char *name_of(const struct convert_job *job, const struct file *file, size_t number)
{
	const struct process *process = first_of(job->experiment, file);
	char host[sizeof(file->header.host)], *path;
	int n;

	snprintf(host, sizeof(host), "%s", process && *process->info.host ? process->info.host : "host");
	for (char *p = host; *p; p++)
		if (*p == '/' || *p == '.')
			*p = '_';
	if (process && !file->header.processes)
		n = asprintf(
			&path, "%s/%s-%u.%u.hyb", job->folder, host, process->info.pid, process->info.image);
	else
		n = asprintf(&path, "%s/%s-node-%08zx.0.hyb", job->folder, host, number);
	return n < 0 ? NULL : path;
}

static bool write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t n = write(fd, data, length);

		if (n < 0 && errno != EINTR)
			return false;
		data += n > 0 ? n : 0;
		length -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static int copy_bytes(const struct convert_job *job, const struct file *file, int fd, const char *path,
	char *block, struct hyb_error *err)
{
	for (uint64_t at = 0; at < file->size;) {
		int64_t n = file_read(file, at, block, BLOCK);

		if (*job->stop)
			return error_set(err, HYB_EIO, "interrupted");
		if (n <= 0)
			return n ? error_system(err, file->path, "cannot be read") : HYB_OK;
		if (!write_all(fd, block, (size_t)n))
			return failed(path, err);
		at += (uint64_t)n;
		if (job->progress)
			job->progress(job->data, at, file->size);
	}
	return HYB_OK;
}

static int copy_file(const struct convert_job *job, size_t number, char *block, struct hyb_error *err)
{
	const struct file *file = job->experiment->files[number];
	char *path = name_of(job, file, number);
	int fd, r;

	if (!path)
		return convert_no_memory(err);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 && errno == EEXIST) { /* two processes with one number */
		free(path);
		if (asprintf(&path, "%s/process-%zu.hyb", job->folder, number) < 0)
			return convert_no_memory(err);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	r = fd < 0 ? failed(path, err) : copy_bytes(job, file, fd, path, block, err);
	if (fd >= 0 && close(fd) && !r)
		r = failed(path, err);
	free(path);
	return r;
}

static void put_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n' || *text == '\\')
			fputs(*text == '\n' ? "\\n" : "\\\\", to);
		else
			fputc(*text, to);
	}
}

int hyb_copy_values(const struct convert_job *job, struct hyb_error *err)
{
	const struct hyb_experiment *e = job->experiment;
	char *path;
	FILE *file;
	int r = HYB_OK;

	if (asprintf(&path, "%s/experiment", job->folder) < 0)
		return convert_no_memory(err);
	file = fopen(path, "we");
	for (size_t i = 0; file && i < e->value_count; i++) {
		fprintf(file, "%s ", e->values[i].key);
		put_escaped(file, e->values[i].value);
		fputc('\n', file);
	}
	if (file && !e->value_count) {
		fputs("command ", file);
		put_escaped(file, e->path);
		fputc('\n', file);
	}
	if (!file || (ferror(file) | fclose(file)))
		r = failed(path, err);
	free(path);
	return r;
}

int hyb_copy(const struct convert_job *job, struct hyb_error *err)
{
	char *block = malloc(BLOCK);
	int r = block ? hyb_copy_values(job, err) : convert_no_memory(err);

	for (size_t i = 0; !r && i < job->experiment->file_count; i++)
		r = copy_file(job, i, block, err);
	free(block);
	return r;
}
