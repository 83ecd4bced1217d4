/* The command line of hybrid-view. */
#ifndef HYB_VIEW_OPTIONS_H
#define HYB_VIEW_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/views/select.h"

#define VIEW_LIST_MAX 32u

struct view_options {
	enum profile_mode mode;
	bool python_internals, mpi_internals;
	double threshold; /* percent below which nodes are not shown */
	struct selection part;
	const char *base; /* --diff, or NULL */
	const char *metrics[VIEW_LIST_MAX], *metrics_files[VIEW_LIST_MAX]; /* as hybrid-report's */
	size_t metric_count, metrics_file_count;
	const char *maps[VIEW_LIST_MAX]; /* OLD=NEW: where the source is */
	size_t map_count;
	bool live; /* wanted, also before the run has begun */
	bool ascii;
	int colour; /* 1 always, 0 never, -1 as the terminal says */
	bool mouse;
	const char *view; /* name of the pane to begin with, or NULL */
	char **paths;
	int path_count;
};

/* 0; 1: all is done (--help, --version); -1: wrong usage, it was said. */
int view_options_parse(struct view_options *options, int argc, char **argv);

#endif
