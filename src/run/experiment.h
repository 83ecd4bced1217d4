/* The directory of an experiment, and what hybrid-run itself writes there. */
#ifndef RUN_EXPERIMENT_H
#define RUN_EXPERIMENT_H

#include "run/child.h"
#include "run/options.h"
#include "run/program.h"
#include "run/ranks/ranks.h"

#include <limits.h>
#include <stdbool.h>
#include <time.h>

struct experiment {
	char path[PATH_MAX]; /* absolute */
	char shown[PATH_MAX]; /* as the user may type it */
	bool made; /* the directory did not exist */
	bool joined; /* another rank of the launch made it */
	time_t started;
};

/*
 * Makes the directory: `wanted`, or if that is NULL one named after `program`
 * and the time. 0, or -1 after a line on stderr.
 */
int experiment_create(const char *wanted, const char *program, struct experiment *ret);

/*
 * Writes the file `experiment`: what runs, with the words it is executed with.
 * 0, or -1 after a line on stderr.
 */
int experiment_begin(const struct experiment *experiment, const struct options *options,
	const struct program *program, char **words);

/* Adds how the ranks of a launch went, each with a line; status and times are of all. Removes the files of
 * ranks.h. 0 or -1, as above. */
int experiment_end_ranks(const struct experiment *experiment, const struct ranks *ranks);

/* Adds how it went: on a disk that the run has filled there is room for that. 0 or -1, as above. */
int experiment_end(const struct experiment *experiment, const struct outcome *outcome);

/* Keeps a copy of the kernel's vdso, since addresses in it are named after the run, maybe on another machine.
 * 0 or -1, as above. */
int experiment_save_vdso(const struct experiment *experiment);

/* Takes back what the functions above made. */
void experiment_discard(const struct experiment *experiment);

/* Whether the directory is empty, or cannot be read. */
bool experiment_is_empty(const char *path);

/* Words as a shell reads them, with blanks between, without a newline. */
void experiment_put_words(FILE *out, char **words);

/* A new string: `text` as a shell reads it as one word. NULL when memory is out. */
char *shell_quote(const char *text);

#endif
