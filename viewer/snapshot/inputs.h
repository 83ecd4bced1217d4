/* Inside of a session: what is open. Opening is for jobs; keeping and dropping for any thread. */
#ifndef HYB_SESSION_INPUTS_H
#define HYB_SESSION_INPUTS_H

#include <stdatomic.h>

#include "viewer/snapshot/session.h"

/* Names of code outlive the reading in which they were looked up: a run that goes on is read again and again.
 */
struct names {
	atomic_uint references;
	struct hyb_symbols *symbols;
};

struct source {
	atomic_uint references;
	struct hyb_experiment *experiment;
	struct names *names;
	uint64_t read_at; /* ns of CLOCK_MONOTONIC, before it was opened */
	bool running; /* when it was opened */
	bool unfinished; /* or may have got more since it was read */
};

struct inputs {
	atomic_uint references;
	struct source **sources;
	struct session_input *opened; /* the same for others */
	size_t count, base_from; /* as in struct snapshot */
	uint64_t read_at; /* the last one of them but for the base */
	bool running, unfinished; /* any */
};

/* Which of those that are open are read again. */
enum inputs_again { INPUTS_ALL, INPUTS_UNFINISHED };

/*
 * The experiments of the options and of their base. `before`: those of another reading, whose names are taken
 * over; or NULL. NULL and the reason as one line, also if the job is to stop.
 */
struct inputs *inputs_open(const struct view_options *options, const struct inputs *before,
	enum inputs_again again, struct job *job, char *error, size_t size);

struct inputs *inputs_keep(struct inputs *inputs);
void inputs_drop(struct inputs *inputs); /* accepts NULL */

#endif
