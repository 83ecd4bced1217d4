#include "run/harvest.h"

#include "format/format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

/* A process of this host that is no more. */
static bool is_gone(const struct hyb_header *header)
{
	char host[sizeof(header->host)];

	if (gethostname(host, sizeof(host)))
		return false;
	host[sizeof(host) - 1] = 0;
	return !strncmp(header->host, host, sizeof(host)) && header->pid && header->pid <= INT32_MAX &&
	       kill((pid_t)header->pid, 0) && errno == ESRCH;
}

/*
 * In another PID namespace the number may mislead. A lease for writing is
 * refused while anybody else has the file open or mapped; where leases are not
 * known the number has to do.
 */
static bool is_in_use(int fd)
{
	if (!fcntl(fd, F_SETLEASE, F_WRLCK)) {
		fcntl(fd, F_SETLEASE, F_UNLCK);
		return false;
	}
	return errno == EAGAIN;
}

static void trim(int fd, const struct hyb_header *header, uint64_t size)
{
	uint64_t need;

	if (header->claimed < HYB_PAGE || header->claimed >= size)
		return;
	need = (header->claimed + HYB_PAGE - 1) / HYB_PAGE * HYB_PAGE;
	if (need < size && is_gone(header) && !is_in_use(fd) && ftruncate(fd, (off_t)need))
		return; /* the file stays longer than it need be: no harm */
}

static void harvest_file(int dir, const char *name, pid_t program, struct harvest *harvest)
{
	struct hyb_header header;
	struct stat st;
	uint64_t size;
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && read_header(fd, &header)) {
		size = (uint64_t)st.st_size;
		harvest->files++;
		harvest->processes += header.image == 0;
		harvest->trace_bytes += header.trace_bytes;
		harvest->program |= header.pid == (uint32_t)program;
		scan_chunks(fd, header.claimed < size ? header.claimed : size, harvest);
		trim(fd, &header, size);
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
