/*
 * `mpiexec -n 1 hybrid-run ./a : -n 3 ./a` measures rank 0 alone; so does a rank that lost LD_PRELOAD, or has
 * MPI linked into it. Each rank that is measured adds a line "RANK SIZE PID" to a file of the experiment
 * before MPI_Init. Several launches may do so in one experiment: lines of processes that are gone do not
 * count.
 */
#include "mpi/measured.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/launch.h"
#include "mpi/handles.h"

#define MOST 65536u /* ranks of one host */

struct seen {
	uint32_t size, ranks;
	uint8_t bits[MOST / 8];
};

/* Where the file is, and who this process is. False: files cannot show whether all are measured. */
static bool find_file(char path[PATH_MAX], struct launch_place *ret)
{
	const char *directory = getenv("HYBRID_DIR");

	if (!directory || !launch_place(ret) || ret->size < 2 || ret->size > MOST ||
		launch_local(ret) != ret->size)
		return false;
	snprintf(path, PATH_MAX, "%s/" LAUNCH_MEASURED, directory);
	return true;
}

static void see(struct seen *seen, const char *line)
{
	unsigned rank, size;
	int pid;

	if (sscanf(line, "%u %u %d", &rank, &size, &pid) != 3 || size != seen->size || rank >= size ||
		seen->bits[rank / 8] >> rank % 8 & 1 || (kill(pid, 0) && errno == ESRCH))
		return;
	seen->bits[rank / 8] |= (uint8_t)(1u << rank % 8);
	seen->ranks++;
}

static void read_lines(struct seen *seen, int fd)
{
	char text[4096], line[64];
	size_t length = 0;
	ssize_t size;

	while ((size = read(fd, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < size; i++) {
			if (text[i] != '\n' && length < sizeof(line) - 1)
				line[length++] = text[i];
			if (text[i] != '\n')
				continue;
			line[length] = 0;
			length = 0;
			see(seen, line);
		}
}

void say_measured(void)
{
	struct launch_place place;
	char path[PATH_MAX];
	int before = errno, fd;

	if (!find_file(path, &place))
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd >= 0) {
		/* One write: lines do not mix. */
		dprintf(fd, "%u %u %d\n", place.rank, place.size, (int)getpid());
		close(fd);
	}
	errno = before;
}

bool all_measured(uint32_t size)
{
	struct seen seen = {.size = size};
	struct launch_place place;
	char path[PATH_MAX];
	int before = errno, fd;

	if (!find_file(path, &place) || place.size != size)
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		read_lines(&seen, fd);
		close(fd);
	}
	errno = before;
	return seen.ranks == size;
}

uint64_t experiment_identity(void)
{
	const char *path = getenv("HYBRID_DIR");

	return handle_text(path ? path : "");
}
