/*
 * What takes long: jobs, run one after the other in a thread of their own, so that a key is answered
 * meanwhile. Only jobs touch experiments and their symbols, which so need no lock. All functions are for the
 * thread that draws.
 */
#ifndef HYB_WORK_H
#define HYB_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct work;

struct job {
	const char *text; /* "reading", shown while it runs */
	void (*run)(struct job *job); /* in the other thread */
	/* Then in the thread that draws, in the order of the posts; also for a job that was cancelled, with
	 * or without having run. Frees what embeds the job. */
	void (*done)(struct job *job, bool cancelled);
	/* For run(). */
	atomic_bool stop; /* to be looked at often: give up */
	atomic_uint permille; /* how far it is */
	uint64_t cost; /* for done(): ns of a core that run() took */
	struct job *next; /* the queue's own */
};

/* NULL and errno. */
struct work *work_new(void);
/* Cancels all, waits for the one that runs. Accepts NULL. */
void work_free(struct work *work);

void work_post(struct work *work, struct job *job);
void work_cancel(struct work *work, struct job *job); /* its done() is still called */

/* Readable when something is done: then work_finish() calls done(). */
int work_fd(const struct work *work);
void work_finish(struct work *work);

/* Whether it is to stop: for analysis_watch, of which the job is the data. */
bool job_is_stopped(void *job);

/* The job that runs, or NULL. */
const struct job *work_running(const struct work *work);

#endif
