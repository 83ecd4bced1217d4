/* hybrid-convert: its options, and the folder or file that it writes. */
#ifndef HYB_TOOLS_CONVERT_H
#define HYB_TOOLS_CONVERT_H

#include <stdbool.h>

#include "converters/converter.h"
#include "session/look.h"

struct convert_options {
	const char *path; /* of the experiment */
	const char *out;
	const struct converter *converter;
	enum convert_samples samples;
	enum convert_counters counters;
	struct look look; /* of it the part, the threshold (negative: none was given), and the mode */
	uint64_t from, to; /* ns, as in struct convert_bounds */
	const char *metric; /* or NULL */
	enum convert_fold fold;
	unsigned threads; /* 0: one for each core */
	bool force, quiet;
};

/* 0; 1: nothing is left to do (--help); -1: wrong usage, after a message. */
int convert_options_parse(struct convert_options *options, int argc, char **argv);

/*
 * What is under construction stands beside the final place under another name, and is renamed when it is
 * whole; a file's bytes are on the disk then. Standard output ("-"), devices and pipes are written to as they
 * are. All functions return 0, or -1 after a line on stderr.
 */
struct output {
	const char *final; /* the user's */
	bool force;
	bool is_folder;
	char *part; /* name of what is under construction; NULL: it has none */
	FILE *file; /* where to write, or */
	const char *folder;
	int fd; /* what the file writes to */
	int error; /* the first errno of that; 0: none yet. The file only knows that there was one */
};

/* *output stays where it is until it is finished or abandoned. */
int output_begin(struct output *output, const char *final, enum convert_kind kind, bool force);
int output_finish(struct output *output);

/* What it is called in messages. */
const char *output_name(const struct output *output);

/* 0, or -1 after a line about why the file cannot be written. */
int output_check(const struct output *output);

/* Removes what was written so far, if output_finish() did not succeed. */
void output_abandon(struct output *output);

/* convert_quality.c: as convert_job.quality, of the chosen part of the experiment. `stop`: as convert_job's.
 */
int convert_put_quality(const struct selection *part, struct hyb_experiment *experiment,
	const struct convert_profile *p, const volatile sig_atomic_t *stop, struct json *json);

/* "hybrid-convert: ..." on stderr; returns -1. */
int convert_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
