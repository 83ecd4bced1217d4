/*
 * A record of how the ranks of a launch ended: each hybrid-run appends a line when it begins and one when it
 * ends to a file of its host in the experiment, `ranks-HOST-NUMBER`. The last one to end sums them up in the
 * file `experiment` and removes them; files that are left over are of a launch that was killed.
 */
#ifndef RUN_RANKS_H
#define RUN_RANKS_H

#include "base/arena.h"
#include "run/child.h"
#include "launch.h"

#include <stdio.h>

/* One rank. Strings belong to the struct ranks. */
struct rank {
	uint32_t rank;
	pid_t pid; /* of its hybrid-run */
	pid_t program; /* of what it measured */
	uint64_t start; /* of its hybrid-run, as process_start() */
	bool here; /* on this host */
	bool ended; /* the rest is known */
	bool dead; /* its hybrid-run is gone and left no line of its end; only for those on this host */
	int status; /* as of wait() */
	uint64_t wall, user, system; /* ns */
	long max_rss; /* KiB */
	const char *host;
	const char *command; /* quoted words */
};

struct ranks {
	struct rank *list; /* by rank */
	uint32_t count, ended, dead, hosts, failed;
	struct arena strings;
};

/* Append a line. 0 or a negative errno. */
int ranks_begin(const char *directory, const struct launch *launch, const char *command);
int ranks_end(const char *directory, const struct launch *launch, const struct outcome *outcome);

/*
 * Reads the files of all hosts, or only that of this one. Empty if there is nothing, or memory is out.
 * ranks_release() frees it.
 */
void ranks_read(const char *directory, bool here_only, struct ranks *ret);

void ranks_release(struct ranks *ranks);

/* Removes the files. */
void ranks_remove(const char *directory);

#endif
