/* The job that finds and reads a file of source, and sums what its lines cost. */
#ifndef HYB_SOURCE_LOAD_H
#define HYB_SOURCE_LOAD_H

#include "viewer/model/lines.h"
#include "viewer/model/paths.h"
#include "viewer/snapshot/session.h"
#include "viewer/model/source.h"

/* What is wanted. */
struct source_request {
	const char *file, *module; /* as the profile has them */
	bool python;
	bool lines; /* of the snapshot, too */
};

struct source_load {
	struct job job;
	void *owner; /* NULL: nobody waits any more; the owner cancels the job, too */
	/* Takes out of it what it wants to keep. NULL: it was cancelled. */
	void (*finished)(void *owner, struct source_load *load);
	struct snapshot *snapshot; /* kept */
	char *file, *module;
	bool python, want_lines;
	char **candidates;
	size_t candidate_count;
	/* results */
	bool has_lines; /* else they were not wanted, or memory is out */
	struct lines lines;
	char *path; /* where it was found, or NULL */
	struct source source;
	char *missing; /* then: what was looked for, and what can be done; lines */
	char note[200]; /* what is to be known about the file, or "" */
};

/* Posts it; NULL: memory is out. It is freed behind finished(). */
struct source_load *source_load_start(struct work *work, struct snapshot *snapshot, const struct paths *paths,
	const struct source_request *request, void *owner,
	void (*finished)(void *owner, struct source_load *load));

/* finished() is not called any more. Accepts NULL. */
void source_load_leave(struct work *work, struct source_load *load);

#endif
