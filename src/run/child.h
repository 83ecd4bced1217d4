/* Running the program so that it and its surroundings notice as little of hybrid-run as can be. */
#ifndef RUN_CHILD_H
#define RUN_CHILD_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct outcome {
	pid_t pid;
	int status; /* as wait() gives it */
	uint64_t wall; /* ns */
	struct rusage usage; /* with its children, as far as it waited for them */
};

/*
 * Executes `path` in the same process group and terminal, with the signal mask
 * and dispositions that hybrid-run was started with, and waits for its end.
 * Meanwhile signals that are sent to hybrid-run are handed on; those of the
 * terminal reach the whole group anyway; when the program stops, so does
 * hybrid-run. All signals stay blocked after success.
 *
 * 0, or a negative errno if the program could not be started.
 */
int child_run(const char *path, char **argv, char **envp, struct outcome *ret);

/*
 * Runs a program of our own with its stdout on stderr and waits for it.
 * 0 if it ended with status 0, else -1.
 */
int child_run_report(const char *path, char **argv, char **envp);

/* A time of its usage. */
static inline uint64_t child_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

/* Ends hybrid-run as the program ended: same exit status, or same signal. */
void child_end_alike(int status) __attribute__((noreturn));

#endif
