/* After the run: what the measured processes left in the experiment. */
#ifndef RUN_HARVEST_H
#define RUN_HARVEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct harvest {
	uint64_t files; /* program images: a process that executes another program has two */
	uint64_t processes;
	uint64_t threads;
	uint64_t samples;
	uint64_t cpu; /* of those threads, ns */
	uint64_t trace_bytes;
	bool program; /* one of them is of the process that hybrid-run started */
	uint32_t hosts; /* with processes that called MPI */
	uint32_t *ranks; /* world ranks, ascending, each once */
	size_t rank_count;
	uint32_t *silent; /* likewise: ranks to their launcher, which never called MPI */
	size_t silent_count;
	uint64_t fileless; /* programs that could make no file there */
	char warning[160]; /* the first that a process left, "" if none did */
	uint32_t promised; /* how many ranks the launcher spoke of to one of those */
};

/*
 * Reads headers, locations and definitions of all .hyb files in `path`, trusting none; what is damaged is
 * left out. Names of code that processes of this host made at run time are copied there. harvest_release()
 * frees what is in `ret`.
 */
void harvest_directory(const char *path, pid_t program, struct harvest *ret);

void harvest_release(struct harvest *harvest);

#endif
