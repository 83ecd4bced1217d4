#include "profile/running.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/format.h"

/* A clock may have been set so far, in ns, since a run began. */
#define CLOCK_SET 60000000000

struct process_stat {
	char state; /* 'R' ...; of the first thread */
	long threads; /* that have not ended */
	int64_t start; /* ns of CLOCK_BOOTTIME */
};

/* Reads the state of a process from /proc; false: there is no such process. */
static bool read_stat(uint32_t pid, struct process_stat *ret)
{
	char path[32], text[1024], *at;
	unsigned long long ticks = 0;
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = 0;
	at = strrchr(text, ')'); /* behind the name, in which anything may be */
	if (!at || sscanf(at + 1,
			   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
			   &ret->state, &ret->threads, &ticks) < 1)
		return false;
	ret->start = (int64_t)ticks * (1000000000 / sysconf(_SC_CLK_TCK));
	return true;
}

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Whether the number belongs to a later process, or to one of another boot. CLOCK_BOOTTIME runs ahead of
 * CLOCK_MONOTONIC by all that the machine slept, which may have been before or after the start. */
static bool is_another(const struct hyb_process *process, const struct process_stat *stat)
{
	int64_t slept = now(CLOCK_BOOTTIME) - now(CLOCK_MONOTONIC);
	int64_t booted = now(CLOCK_REALTIME) - now(CLOCK_BOOTTIME);
	int64_t start = (int64_t)process->start - process->clock_shift_start;

	return stat->start - slept > start + 1000000000 || start + process->realtime < booted - CLOCK_SET;
}

static uint64_t namespace_of(const char *pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%.16s/ns/pid", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

/* The number that a process has in the innermost of its namespaces; 0: not known. */
static uint32_t innermost_pid(const char *pid)
{
	char path[64], line[512];
	uint32_t found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/status", pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		if (!strncmp(line, "NSpid:", 6) && strrchr(line, '\t'))
			found = (uint32_t)strtoul(strrchr(line, '\t'), NULL, 10);
	if (file)
		fclose(file);
	return found;
}

/* The process's number here: that in the file may be of another namespace. 0: it is nowhere to be seen. */
static uint32_t pid_here(const struct hyb_process *process)
{
	DIR *proc;
	struct dirent *entry;
	uint32_t found = 0;

	if (!process->pid_namespace || process->pid_namespace == namespace_of("self"))
		return process->pid;
	proc = opendir("/proc");
	while (proc && !found && (entry = readdir(proc)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9' &&
			namespace_of(entry->d_name) == process->pid_namespace &&
			innermost_pid(entry->d_name) == process->pid)
			found = (uint32_t)strtoul(entry->d_name, NULL, 10);
	if (proc)
		closedir(proc);
	return found;
}

bool process_is_running(const struct hyb_process *process)
{
	struct process_stat stat = {0};
	char host[65] = "";
	uint32_t pid;

	gethostname(host, sizeof(host) - 1);
	if (process->state != HYB_STATE_RUNNING || strcmp(host, process->host))
		return false;
	pid = pid_here(process);
	if (!pid)
		return false;
	if (!read_stat(pid, &stat)) /* or it is another user's, and hidden */
		return kill((pid_t)pid, 0) && errno == EPERM;
	/* The process is dead, but no parent has waited for it: in a container there may be none. Or only its
	 * first thread has ended. */
	return ((stat.state != 'Z' && stat.state != 'X') || stat.threads > 1) && !is_another(process, &stat);
}
