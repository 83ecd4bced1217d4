/* The launch of an MPI program that hybrid-run itself is one rank of: `mpiexec -n 64 hybrid-run ./solver`. */
#ifndef RUN_LAUNCH_H
#define RUN_LAUNCH_H

#include "base/launch.h"

#include <sys/types.h>

struct launch {
	struct launch_place place; /* size 0: hybrid-run was started alone */
	uint32_t local; /* ranks on this host; 0: not known */
	char key[20]; /* the same in all its ranks, and hardly in another launch */
};

/*
 * Finds the launch from the environment; if that does not name the launch, from the process that started it.
 * No communication.
 */
void launch_find(struct launch *ret);

/* When the process started, in clock ticks since boot; 0: there is none of this number. */
uint64_t process_start(pid_t pid);

#endif
