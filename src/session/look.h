/* How experiments are looked at: options that hybrid-report and hybrid-view share. */
#ifndef HYB_LOOK_H
#define HYB_LOOK_H

#include <getopt.h>

#include "profile/profile.h"
#include "profile/views/select.h"

#define LOOK_LISTS 32u

struct look {
	enum profile_mode mode;
	bool python_internals, mpi_internals;
	double threshold; /* percent below which nodes are not shown */
	int colour; /* 1 always, 0 never, -1 as the terminal says */
	struct selection part;
	const char *base; /* --diff, or NULL */
	const char *metrics[LOOK_LISTS]; /* lists of names and definitions, see profile/metrics/columns.h */
	const char *metrics_files[LOOK_LISTS]; /* of definitions */
	size_t metric_count, metrics_file_count;
};

enum {
	LOOK_CALLSITES = 1000,
	LOOK_ROUTINES,
	LOOK_FUNCTIONS,
	LOOK_PYTHON_INTERNALS,
	LOOK_MPI_INTERNALS,
	LOOK_THRESHOLD,
	LOOK_PROCESS,
	LOOK_THREAD,
	LOOK_RANKS,
	LOOK_DIFF,
	LOOK_METRIC = 'm',
	LOOK_METRICS_FILE = LOOK_DIFF + 1,
	LOOK_COLOR,
	LOOK_NO_COLOR,
};

/* Rows for getopt_long(). */
#define LOOK_OPTIONS \
	{"callsites", no_argument, NULL, LOOK_CALLSITES}, {"routines", no_argument, NULL, LOOK_ROUTINES}, \
		{"functions", no_argument, NULL, LOOK_FUNCTIONS}, \
		{"python-internals", no_argument, NULL, LOOK_PYTHON_INTERNALS}, \
		{"mpi-internals", no_argument, NULL, LOOK_MPI_INTERNALS}, \
		{"threshold", required_argument, NULL, LOOK_THRESHOLD}, \
		{"process", required_argument, NULL, LOOK_PROCESS}, \
		{"thread", required_argument, NULL, LOOK_THREAD}, \
		{"ranks", required_argument, NULL, LOOK_RANKS}, \
		{"diff", required_argument, NULL, LOOK_DIFF}, \
		{"metric", required_argument, NULL, LOOK_METRIC}, \
		{"metrics-file", required_argument, NULL, LOOK_METRICS_FILE}, \
		{"color", optional_argument, NULL, LOOK_COLOR}, \
	{ \
		"no-color", no_argument, NULL, LOOK_NO_COLOR \
	}

/* Takes one of them, with its value, which is kept. NULL, or what a user is to give instead. */
const char *look_take(struct look *look, int option, const char *value);

#endif
