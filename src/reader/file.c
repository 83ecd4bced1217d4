#include "reader/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* The header of version 1.0; it only grows. */
#define HEADER_LEAST 0xf0u

static int open_path(const char *path)
{
	/* Not to wait at a FIFO. */
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static int64_t read_fully(int fd, uint64_t offset, char *buffer, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t n = pread(fd, buffer + done, length - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return HYB_EIO;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

int64_t file_read(const struct file *file, uint64_t offset, void *buffer, size_t length)
{
	int fd = file->fd >= 0 ? file->fd : open_path(file->path);
	int64_t n;

	if (fd < 0)
		return HYB_EIO;
	n = read_fully(fd, offset, buffer, length);
	if (fd != file->fd) {
		int saved = errno;

		close(fd);
		errno = saved;
	}
	return n;
}

size_t file_read_chunk(
	const struct file *file, const struct chunk *chunk, void *buffer, struct damage *damage)
{
	int64_t n = file_read(file, chunk->offset, buffer, chunk->used);

	if (n < 0)
		damage_add(damage, file->path, chunk->offset, "cannot be read: %s", strerror(errno));
	else if (n < (int64_t)chunk->used)
		damage_add(damage, file->path, chunk->offset + (uint64_t)n, "the file has become shorter");
	return n < 0 ? 0 : (size_t)n;
}

bool file_newer(const struct file *file)
{
	return file->header.version_minor > HYB_VERSION_MINOR;
}

int file_check_header(struct hyb_header *header, const char *where, struct hyb_error *err)
{
	static const struct hyb_header zero;

	if (!memcmp(header->magic, zero.magic, sizeof(zero.magic)))
		return error_set(err, HYB_EFORMAT, "%s: empty: the measurement had not begun", where);
	if (memcmp(header->magic, HYB_MAGIC, sizeof(header->magic)))
		return error_set(err, HYB_EFORMAT, "%s: not a .hyb file", where);
	if (header->version_major > HYB_VERSION_MAJOR)
		return error_set(err, HYB_EVERSION,
			"%s: written in format %u.%u, this program reads up to %u.x: use a newer hybrid",
			where, header->version_major, header->version_minor, HYB_VERSION_MAJOR);
	if (header->version_major < HYB_VERSION_MAJOR || header->header_size < HEADER_LEAST ||
		header->header_size > HYB_PAGE)
		return error_set(err, HYB_EFORMAT, "%s: offset 0x8: the header is damaged", where);
	if (header->header_size < sizeof(*header))
		memset((char *)header + header->header_size, 0, sizeof(*header) - header->header_size);
	header->host[sizeof(header->host) - 1] = 0;
	return HYB_OK;
}

static int read_header(struct file *file, struct hyb_error *err)
{
	struct stat st;
	int64_t n;

	if (fstat(file->fd, &st))
		return error_system(err, file->path, "cannot be read");
	if (!S_ISREG(st.st_mode))
		return error_set(err, HYB_EFORMAT, "%s: not a regular file", file->path);
	n = file_read(file, 0, &file->header, sizeof(file->header));
	if (n < 0)
		return error_system(err, file->path, "cannot be read");
	if (n < (int64_t)sizeof(file->header))
		return error_set(err, HYB_EFORMAT, "%s: too short for a .hyb file (%lld bytes)", file->path,
			(long long)n);
	file->size = (uint64_t)st.st_size;
	return file_check_header(&file->header, file->path, err);
}

/* The next page at or behind `offset` that is not in a hole of the file. */
static uint64_t next_data(const struct file *file, uint64_t offset)
{
	off_t at = lseek(file->fd, (off_t)offset, SEEK_DATA);

	if (at < 0)
		return errno == ENXIO ? file->size : offset;
	return (uint64_t)at & ~(uint64_t)(HYB_PAGE - 1);
}

/* Cuts what does not fit; false: not a chunk at all. */
static bool check_chunk(
	const struct file *file, const struct hyb_chunk *raw, struct chunk *chunk, struct damage *damage)
{
	uint64_t left = file->size - chunk->offset, used = raw->used;

	if (raw->magic != HYB_CHUNK_MAGIC || !raw->kind || !raw->size || raw->size % HYB_PAGE ||
		raw->size > HYB_SEGMENT - chunk->offset % HYB_SEGMENT)
		return false;
	chunk->size = raw->size;
	if (left < raw->size) {
		damage_add(damage, file->path, file->size, "the file ends inside a chunk");
		chunk->size = (uint32_t)left;
	} else if (used > raw->size || used < sizeof(*raw)) {
		damage_add(damage, file->path, chunk->offset,
			"a chunk of %u bytes has %llu as its used bytes", raw->size,
			(unsigned long long)used);
	}
	if (used < sizeof(*raw))
		used = sizeof(*raw);
	chunk->used = used < chunk->size ? (uint32_t)used : chunk->size;
	chunk->kind = raw->kind;
	chunk->process = raw->process;
	/* Definitions belong to the process, whatever location their chunk names. */
	chunk->location = raw->kind == HYB_CHUNK_DEFS ? 0 : raw->location;
	chunk->serial = raw->serial;
	return true;
}

static bool known_kind(uint16_t kind)
{
	return kind >= HYB_CHUNK_DEFS && kind <= HYB_CHUNK_METRICS;
}

/* Counts a run of pages that are no chunks as one damage. */
static void note_garbage(const struct file *file, uint64_t *from, uint64_t to, struct damage *damage)
{
	if (*from)
		damage_add(damage, file->path, *from, "%llu pages are not part of any chunk",
			(unsigned long long)((to - *from + HYB_PAGE - 1) / HYB_PAGE));
	*from = 0;
}

static int walk(struct file *file, struct damage *damage, struct hyb_error *err)
{
	uint64_t offset = HYB_PAGE, garbage = 0;

	while (offset < file->size) {
		struct hyb_chunk raw = {0};
		struct chunk chunk = {.offset = offset};
		int64_t n = file_read(file, offset, &raw, sizeof(raw));

		if (n < 0)
			return error_system(err, file->path, "cannot be read");
		if (n == (int64_t)sizeof(raw) && check_chunk(file, &raw, &chunk, damage)) {
			note_garbage(file, &garbage, offset, damage);
			if (!known_kind(chunk.kind) && !file_newer(file))
				damage_add(
					damage, file->path, offset, "a chunk of unknown kind %u", chunk.kind);
			if (!ARRAY_ADD(file->chunks, file->chunk_count, chunk))
				return error_set(err, HYB_ENOMEM, "%s: out of memory", file->path);
			offset += raw.size;
			continue;
		}
		if (raw.magic && !garbage)
			garbage = offset;
		else if (!raw.magic)
			note_garbage(file, &garbage, offset, damage);
		offset += HYB_PAGE;
		if (!raw.magic && offset < file->size)
			offset = next_data(file, offset);
	}
	note_garbage(file, &garbage, file->size, damage);
	return HYB_OK;
}

/* NODES by offset, since parents stand in front; TRACE by serial, which is the order in time. */
static int compare_chunks(const void *a, const void *b)
{
	const struct chunk *x = *(struct chunk *const *)a, *y = *(struct chunk *const *)b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->location != y->location)
		return x->location < y->location ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kind == HYB_CHUNK_TRACE && x->serial != y->serial)
		return x->serial < y->serial ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int sort_chunks(struct file *file, struct hyb_error *err)
{
	size_t count = file->chunk_count;

	file->sorted = malloc((count + !count) * sizeof(*file->sorted));
	if (!file->sorted)
		return error_set(err, HYB_ENOMEM, "%s: out of memory", file->path);
	for (size_t i = 0; i < count; i++)
		file->sorted[i] = &file->chunks[i];
	qsort(file->sorted, count, sizeof(*file->sorted), compare_chunks);
	return HYB_OK;
}

static bool is_named(uint16_t kind)
{
	return kind == HYB_CHUNK_DEFS || kind == HYB_CHUNK_NODES || kind == HYB_CHUNK_WIDE_NODES;
}

/* Most chunks of a large file are full and cannot grow: they need no second look. */
static bool may_grow(const struct chunk *chunk)
{
	uint32_t least = chunk->kind == HYB_CHUNK_DEFS ? 1 : HYB_NODE_SIZE;

	return is_named(chunk->kind) && chunk->size - chunk->used >= least;
}

bool file_grows(const struct file *file, uint16_t process)
{
	uint64_t end = HYB_PAGE;
	struct hyb_chunk raw;

	for (size_t i = 0; i < file->chunk_count; i++) {
		const struct chunk *chunk = &file->chunks[i];

		end = chunk->offset + chunk->size;
		if (chunk->process == process && may_grow(chunk) &&
			file_read(file, chunk->offset, &raw, sizeof(raw)) == (int64_t)sizeof(raw) &&
			raw.used > chunk->used)
			return true;
	}
	return file_read(file, end, &raw, sizeof(raw)) == (int64_t)sizeof(raw) &&
	       raw.magic == HYB_CHUNK_MAGIC;
}

int file_open(struct file *file, const char *path, struct damage *damage, struct hyb_error *err)
{
	int error;

	memset(file, 0, sizeof(*file));
	file->path = strdup(path);
	if (!file->path)
		return error_set(err, HYB_ENOMEM, "%s: out of memory", path);
	file->fd = open_path(path);
	if (file->fd < 0)
		error = error_system(err, path, "cannot be opened");
	else
		error = read_header(file, err);
	if (!error)
		error = walk(file, damage, err);
	if (!error)
		error = sort_chunks(file, err);
	if (error)
		file_release(file);
	return error;
}

void file_idle(struct file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void file_release(struct file *file)
{
	file_idle(file);
	free(file->path);
	free(file->chunks);
	free(file->sorted);
	file->path = NULL;
	file->chunks = NULL;
	file->sorted = NULL;
	file->chunk_count = 0;
}
