/*
 * What is looked at: experiments (or parts of them, or OTF2 archives), a base to compare with, which
 * locations, in which mode. From that a snapshot is made by a job; it never changes, and panes that work on
 * it in jobs keep it by a reference. A run that is still going is read again and again.
 */
#ifndef HYB_VIEW_SESSION_H
#define HYB_VIEW_SESSION_H

#include "hybrid/reader.h"
#include "profile/metrics/columns.h"
#include "profile/profile.h"
#include "profile/views/profile_diff.h"
#include "viewer/app/options.h"
#include "viewer/app/work.h"
#include "session/session.h"

/* What may be changed while looking. */
struct query {
	enum profile_mode mode; /* ROUTINE or CALLSITE */
	bool python_internals, mpi_internals;
	/* By index of the locations of the snapshot that is shown (of a snapshot's own query: of its own):
	 * takes part. NULL: all. What the command line leaves out does not take part in any case; threads
	 * that begin later neither. The base of a comparison takes part as on the command line. */
	bool *selected;
	size_t selected_count;
};

struct snapshot {
	unsigned references; /* of the thread that draws */
	uint64_t serial; /* grows */
	struct query query;
	struct inputs *inputs; /* keeps `opened` open */
	const struct session_input
		*opened; /* the experiments, then those of the base; symbols for jobs only */
	size_t opened_count, base_from; /* base_from: index of the first one of the base, or opened_count */
	const struct hyb_location_info **locations; /* of all experiments, in their order */
	size_t location_count;
	/* By location: own[i] is the node of `profile` that has node i of it (profile_parts()); NULL:
	 * it does not take part. */
	const uint32_t **own;
	struct profile *profile; /* finished */
	struct profile *base; /* with --diff, else NULL */
	struct profile_diff *diff; /* then */
	struct column_set columns; /* metrics, those of the command line shown */
	struct column_set diff_columns; /* the same of what both sides of the difference have */
	bool traced; /* there are events of samples, enters or leaves */
	bool running; /* a process of it still runs: it will be read again */
	uint64_t read_at; /* ns of CLOCK_MONOTONIC: when the files were read, not when it was made */
	char warning[512]; /* one line about damage, what is missing, a run that was killed; or "" */
};

struct session;

/*
 * Opens nothing yet. `loaded` is called in the thread that draws: with a new snapshot, whose reference it
 * gets, or with NULL and why there is none (one line; the snapshot before it stays good). Options must live
 * as long.
 */
struct session *session_new(const struct view_options *options, struct work *work,
	void (*loaded)(void *data, struct snapshot *snapshot, const char *error), void *data);
void session_free(struct session *session); /* accepts NULL; snapshots may live on */

/* Makes a snapshot for that query, of which it keeps a copy; what was asked for before and is not ready is
 * cancelled. `again`: the files are read again, too. */
int session_load(struct session *session, const struct query *query, bool again);

/* A run that goes on is read again by itself, if these are called: how many ms until session_turn() is due
 * (for poll(): -1 never), and what does it then. Neither waits. */
int session_wait(const struct session *session);
void session_turn(struct session *session);

/* Whether the location takes part; for profile_options.select, which asks about one after the other: *hint is
 * where the last one stood, at first 0, then its index. */
bool snapshot_has(const struct snapshot *snapshot, const struct hyb_location_info *location, size_t *hint);

/* Whether locations of two snapshots are one thread. */
bool is_same_thread(const struct hyb_location_info *a, const struct hyb_location_info *b);

struct snapshot *snapshot_keep(struct snapshot *snapshot);
void snapshot_drop(struct snapshot *snapshot); /* accepts NULL */

/* 0 or HYB_ENOMEM. */
int query_copy(struct query *to, const struct query *from);
void query_release(struct query *query);
bool query_is(const struct query *a, const struct query *b); /* they ask for the same */

#endif
