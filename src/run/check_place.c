#include "run/check.h"

#include "run/child.h"
#include "run/harvest.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FILES_WANTED 1024
#define ROOM_WANTED 1024 /* MiB: a trace may take as much */
#define PLACE_MAX 64

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
	(void)st, (void)flag, (void)walk;
	return remove(path);
}

/* Measures `true` as any program is measured; whether there is a file of it. */
static bool try_measuring(const char *place, const struct options *options)
{
	char path[PLACE_MAX + 16], number[16];
	char *words[] = {"hybrid-run", "-q", "--signal", number, "-o", path, "true", NULL};
	struct harvest harvest = {0};

	snprintf(path, sizeof(path), "%s/experiment", place);
	snprintf(number, sizeof(number), "%u", options->signal);
	if (child_run_report("/proc/self/exe", words, environ))
		return false;
	harvest_directory(path, 0, &harvest);
	harvest_release(&harvest);
	return harvest.files == 1;
}

/* Where experiments go unless --output says it, and a measurement there, or in /tmp. */
static bool check_measuring(const struct options *options)
{
	char place[PLACE_MAX] = "hyb-check-XXXXXX", here[PATH_MAX];
	bool works;

	if (!getcwd(here, sizeof(here)))
		strcpy(here, ".");
	if (mkdtemp(place)) {
		check_line(true, "experiments go to the working directory, %s", here);
	} else {
		check_line(false, "experiments go to the working directory, %s: %s", here, strerror(errno));
		check_mend("hybrid-run -o /tmp/NAME PROGRAM");
		strcpy(place, "/tmp/hyb-check-XXXXXX");
		if (!mkdtemp(place))
			return false;
	}
	works = try_measuring(place, options);
	check_line(works, works ? "a trial: the command true was measured"
				: "a trial: the command true could not be measured");
	nftw(place, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return works;
}

static void check_room(void)
{
	struct statvfs disk;
	unsigned long long mib;

	if (statvfs(".", &disk))
		return;
	mib = (unsigned long long)disk.f_bavail * disk.f_frsize >> 20;
	check_line(mib >= ROOM_WANTED, "room on the disk here: %llu MiB", mib);
	if (mib < ROOM_WANTED)
		check_mend("hybrid-run --trace-limit %lluM PROGRAM", mib / 4 + 1);
}

static void check_limit(int resource, const char *name, rlim_t wanted, const char *why, const char *command)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	if (limit.rlim_cur >= wanted) {
		check_line(true, limit.rlim_cur == RLIM_INFINITY ? "%s: not limited" : "%s: %llu", name,
			(unsigned long long)limit.rlim_cur);
		return;
	}
	check_line(false, "%s: %llu; %s", name, (unsigned long long)limit.rlim_cur, why);
	check_mend("%s", command);
}

static void check_container(void)
{
	char text[128];

	if (check_read("/sys/fs/cgroup/cpu.max", text, sizeof(text)) && strncmp(text, "max", 3)) {
		check_line(false,
			"the container has a quota of CPU time (%s, in us): threads are stopped when it "
			"is used up",
			text);
		check_mend("docker update --cpu-quota -1 CONTAINER");
	}
	if (!access("/.dockerenv", F_OK) || !access("/run/.containerenv", F_OK))
		check_line(
			true, "this is a container: what is forbidden above may be allowed by its runtime");
}

bool check_place(const struct options *options)
{
	bool works;

	check_title("Files and limits");
	works = check_measuring(options);
	check_room();
	check_limit(RLIMIT_NOFILE, "open files", FILES_WANTED, "each thread with counters needs some",
		"ulimit -n 4096");
	check_limit(RLIMIT_FSIZE, "bytes a file may have", 1u << 30, "measuring ends there",
		"ulimit -f unlimited");
	check_limit(RLIMIT_SIGPENDING, "timers and waiting signals", 1024,
		"each thread needs one, where samples come from a timer", "ulimit -i 16384");
	check_container();
	return works;
}
