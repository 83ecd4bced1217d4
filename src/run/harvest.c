#include "run/harvest.h"

#include "format/format.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_header(int fd, struct hyb_header *ret)
{
	return pread(fd, ret, sizeof(*ret), 0) == sizeof(*ret) &&
	       !memcmp(ret->magic, HYB_MAGIC, sizeof(ret->magic)) && ret->version_major == HYB_VERSION_MAJOR;
}

/* The bytes of a chunk at `offset`, or a page where there is none that makes sense. */
static uint64_t chunk_size(const struct hyb_chunk *chunk, uint64_t offset)
{
	uint64_t room = HYB_SEGMENT - offset % HYB_SEGMENT;

	if (chunk->magic != HYB_CHUNK_MAGIC || !chunk->size || chunk->size % HYB_PAGE || chunk->size > room)
		return HYB_PAGE;
	return chunk->size;
}

static void scan_chunks(int fd, uint64_t end, struct harvest *harvest)
{
	struct {
		struct hyb_chunk chunk;
		struct hyb_location location;
	} head;

	for (uint64_t offset = HYB_PAGE; offset + sizeof(head) <= end;
		offset += chunk_size(&head.chunk, offset)) {
		if (pread(fd, &head, sizeof(head), (off_t)offset) != sizeof(head))
			return;
		if (head.chunk.magic == HYB_CHUNK_MAGIC && head.chunk.kind == HYB_CHUNK_LOCATION) {
			harvest->threads++;
			harvest->samples += head.location.samples;
		}
	}
}

static void harvest_file(int dir, const char *name, pid_t program, struct harvest *harvest)
{
	struct hyb_header header;
	struct stat st;
	uint64_t size;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && read_header(fd, &header)) {
		size = (uint64_t)st.st_size;
		harvest->files++;
		harvest->processes += header.image == 0;
		harvest->trace_bytes += header.trace_bytes;
		harvest->program |= header.pid == (uint32_t)program;
		scan_chunks(fd, header.claimed < size ? header.claimed : size, harvest);
	}
	close(fd);
}

void harvest_directory(const char *path, pid_t program, struct harvest *ret)
{
	struct dirent *entry;
	const char *dot;
	DIR *dir;

	memset(ret, 0, sizeof(*ret));
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		dot = strrchr(entry->d_name, '.');
		if (dot && !strcmp(dot, ".hyb"))
			harvest_file(dirfd(dir), entry->d_name, program, ret);
	}
	closedir(dir);
	if (!ret->processes && ret->files)
		ret->processes = 1; /* the first image was not measured */
}
