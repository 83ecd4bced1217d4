#include "ranks.h"

#include "base/array.h"
#include "launch/clock_domain.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PREFIX "ranks-"

/* Hosts of one name, or one host's containers, do not know each other's processes: they have a number each.
 */
static void own_name(char ret[128])
{
	struct stat st = {0};
	char host[64];

	if (gethostname(host, sizeof(host)))
		strcpy(host, "localhost");
	host[sizeof(host) - 1] = 0;
	stat("/proc/self/ns/pid", &st);
	snprintf(ret, 128, PREFIX "%s-%08x", host, (uint32_t)(clock_domain() ^ st.st_ino));
}

/* One write at the end of the file: lines of several processes of a host do not mix. */
static int append(const char *directory, const char *line)
{
	char name[128], path[PATH_MAX + 160];
	ssize_t size = (ssize_t)strlen(line), written;
	int fd, error = 0;

	own_name(name);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	written = write(fd, line, (size_t)size);
	if (written != size)
		error = written < 0 ? -errno : -ENOSPC;
	if (close(fd) && !error)
		error = -errno;
	return error;
}

int ranks_begin(const char *directory, const struct launch *launch, const char *command)
{
	char *line;
	int error;

	if (asprintf(&line, "begin %u %d %llu %s\n", launch->place.rank, (int)getpid(),
		    (unsigned long long)process_start(getpid()), command) < 0)
		return -ENOMEM;
	error = append(directory, line);
	free(line);
	return error;
}

int ranks_end(const char *directory, const struct launch *launch, const struct outcome *outcome)
{
	char line[256];

	snprintf(line, sizeof(line), "end %u %d %d %d %llu %llu %llu %ld\n", launch->place.rank,
		(int)getpid(), (int)outcome->pid, outcome->status, (unsigned long long)outcome->wall,
		(unsigned long long)child_ns(&outcome->usage.ru_utime),
		(unsigned long long)child_ns(&outcome->usage.ru_stime), outcome->usage.ru_maxrss);
	return append(directory, line);
}

/* Takes in a line, without its newline; what makes no sense is passed over. */
static void read_line(struct ranks *ranks, const char *line, const char *host, bool here)
{
	unsigned long long start, wall, user, system;
	struct rank *rank;
	unsigned number;
	int pid, program, status, at = 0;
	long rss;

	if (sscanf(line, "begin %u %d %llu %n", &number, &pid, &start, &at) == 3 && at &&
		ARRAY_ROOM(ranks->list, ranks->count)) {
		ranks->list[ranks->count++] = (struct rank){.rank = number,
			.pid = pid,
			.start = start,
			.here = here,
			.host = host,
			.command = line + at};
		return;
	}
	if (sscanf(line, "end %u %d %d %d %llu %llu %llu %ld", &number, &pid, &program, &status, &wall, &user,
		    &system, &rss) != 8)
		return;
	for (rank = ranks->list + ranks->count; rank-- > ranks->list;)
		if (rank->pid == pid && rank->rank == number && rank->host == host) {
			rank->ended = true;
			rank->program = program;
			rank->status = status;
			rank->wall = wall;
			rank->user = user;
			rank->system = system;
			rank->max_rss = rss;
			return;
		}
}

/* Parses the lines of one host. The name is "ranks-HOST-NUMBER". */
static void read_text(struct ranks *ranks, char *text, const char *name, bool here)
{
	const char *begin = name + sizeof(PREFIX) - 1, *end = strrchr(name, '-');
	const char *host = arena_string(&ranks->strings, begin, end > begin ? (size_t)(end - begin) : 0);
	char *line, *rest = text;

	while (host && (line = strsep(&rest, "\n")))
		if (rest) /* else it is not complete */
			read_line(ranks, line, host, here);
	ranks->hosts++;
}

static void read_file(struct ranks *ranks, int dir, const char *name, bool here)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t length;
	char *text;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		text = arena_alloc(&ranks->strings, (size_t)st.st_size + 1);
		length = text ? read(fd, text, (size_t)st.st_size) : -1;
		if (length > 0)
			read_text(ranks, text, name, here);
	}
	close(fd);
}

static int by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool was_dead(const struct ranks *before, const struct rank *rank)
{
	for (uint32_t i = 0; i < before->count; i++)
		if (before->list[i].rank == rank->rank && before->list[i].pid == rank->pid)
			return before->list[i].dead;
	return false;
}

/* `before` is an earlier reading: a hybrid-run that was gone then, and has no line of its end now, died
 * without writing one. */
static void count(struct ranks *ranks, const struct ranks *before)
{
	for (uint32_t i = 0; i < ranks->count; i++) {
		struct rank *rank = &ranks->list[i];

		rank->dead = rank->here && !rank->ended &&
			     (before ? was_dead(before, rank) : process_start(rank->pid) != rank->start);
		ranks->ended += rank->ended;
		ranks->dead += rank->dead;
		ranks->failed += rank->dead || (rank->ended && rank->status);
	}
	if (ranks->count)
		qsort(ranks->list, ranks->count, sizeof(*ranks->list), by_rank);
}

static void read_once(const char *directory, bool here_only, const struct ranks *before, struct ranks *ret)
{
	struct dirent *entry;
	char own[128];
	DIR *dir = opendir(directory);

	memset(ret, 0, sizeof(*ret));
	if (!dir)
		return;
	own_name(own);
	if (here_only)
		read_file(ret, dirfd(dir), own, true);
	while (!here_only && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, PREFIX, sizeof(PREFIX) - 1))
			read_file(ret, dirfd(dir), entry->d_name, !strcmp(entry->d_name, own));
	closedir(dir);
	count(ret, before);
}

void ranks_read(const char *directory, bool here_only, struct ranks *ret)
{
	struct ranks first;

	read_once(directory, here_only, NULL, &first);
	if (!first.dead) {
		*ret = first;
		return;
	}
	/* Gone, but maybe it had ended between our reading and our looking for it. */
	read_once(directory, here_only, &first, ret);
	ranks_release(&first);
}

void ranks_release(struct ranks *ranks)
{
	free(ranks->list);
	arena_release(&ranks->strings);
}

void ranks_remove(const char *directory)
{
	struct dirent *entry;
	DIR *dir = opendir(directory);

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, PREFIX, sizeof(PREFIX) - 1))
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
}
