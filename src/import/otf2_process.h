/* What the processes that read an archive share: import/otf2.c starts them, import/otf2_process.c is their
 * work. */
#ifndef HYB_OTF2_IMPORT_PROCESS_H
#define HYB_OTF2_IMPORT_PROCESS_H

#include "otf2_defs.h"
#include "otf2.h"

#define LIMITS_MOST 16u

/* Where libotf2 failed before: so many events of a location are read. */
struct job_limit {
	uint32_t location; /* index */
	uint64_t events;
	bool skipped; /* not even opened */
};

/* A file, which holds every `files`-th process. */
struct job {
	const struct defs *d;
	const char *anchor;
	int fd;
	uint32_t number, files;
	struct job_limit limits[LIMITS_MOST];
	uint32_t limit_count;
	bool partial; /* definitions are missing */
	uint64_t trace; /* the archive's number */
	const char *creator;
};

/* Seen by all, written by the one whose job it is. */
struct job_state {
	volatile uint32_t location; /* that is read */
	volatile uint64_t events; /* of it, so far */
	volatile uint64_t done; /* of all before it */
	volatile int error; /* what job_run() returned */
};

/* Writes the file. 0, or an errno. */
int job_run(const struct job *job, struct job_state *state);

#endif
