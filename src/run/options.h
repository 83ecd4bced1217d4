/* The command line of hybrid-run. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "run/metrics/metrics.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum options_result {
	OPTIONS_OK = 0,
	OPTIONS_DONE = 1, /* help or version was printed */
	OPTIONS_BAD = -1, /* wrong usage, after a line on stderr */
};

enum options_mode {
	MODE_RUN = 0,
	MODE_LIST_METRICS,
	MODE_CHECK,
};

/* Strings belong to the command line. */
struct options {
	const char *directory; /* NULL: made from program and date */
	unsigned rate; /* samples a second, 0: none */
	const char *source; /* as the runtime knows it: auto cpu perf timer wall */
	bool trace;
	uint64_t trace_limit; /* bytes a process */
	unsigned budget; /* handler time allowed, 1/1000 of the CPU time */
	uint64_t demote_calls; /* 0: never demote */
	uint64_t demote_ns;
	const char *filter; /* NULL: none */
	const char *python; /* frames hooks off */
	const char *files; /* auto process node */
	bool mpi; /* calls of MPI are probes */
	unsigned signal;
	bool quiet;
	bool report;
	struct metrics metrics;
	enum options_mode mode;
	const char *metric_filter; /* of MODE_LIST_METRICS; NULL: all */
	char **command; /* PROGRAM and its arguments, NULL at the end; of MODE_CHECK maybe only that */
};

/* Returns enum options_result. */
int options_parse(int argc, char **argv, struct options *ret);

/* Writes what the runtime reads from HYBRID_OPTIONS. */
void options_print(const struct options *options, FILE *out);

#endif
