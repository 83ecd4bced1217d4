/* The command line of hybrid-run. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum options_result {
	OPTIONS_OK = 0,
	OPTIONS_DONE = 1, /* help or version was printed */
	OPTIONS_BAD = -1, /* wrong usage; a line on stderr says what */
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
	unsigned signal;
	bool quiet;
	bool report;
	char **command; /* PROGRAM and its arguments, NULL at the end */
};

/* Returns enum options_result. */
int options_parse(int argc, char **argv, struct options *ret);

/* Writes what the runtime reads from HYBRID_OPTIONS. */
void options_print(const struct options *options, FILE *out);

#endif
