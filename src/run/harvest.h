/* After the run: what the measured processes left in the experiment. */
#ifndef RUN_HARVEST_H
#define RUN_HARVEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct harvest {
	uint64_t files; /* program images: a process that executes another program has two */
	uint64_t processes;
	uint64_t threads;
	uint64_t samples;
	uint64_t trace_bytes;
	bool program; /* one of the files is of the process that hybrid-run started */
};

/*
 * Reads headers and locations of all .hyb files in `path`, trusting none; what
 * is damaged is left out. Files of processes that have ended lose the space
 * behind their last chunk, which the runtime had reserved.
 */
void harvest_directory(const char *path, pid_t program, struct harvest *ret);

#endif
