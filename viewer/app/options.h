/* The command line of hybrid-view. */
#ifndef HYB_VIEW_OPTIONS_H
#define HYB_VIEW_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/look.h"

#define VIEW_MAPS_MAX 32u

struct view_options {
	struct look look;
	const char *maps[VIEW_MAPS_MAX]; /* OLD=NEW: where the source is */
	size_t map_count;
	bool live; /* wanted, also before the run has begun */
	bool ascii;
	bool mouse;
	const char *view; /* name of the pane to begin with, or NULL */
	char **paths;
	int path_count;
};

/* 0; 1: all is done (--help, --version); -1: wrong usage, after a message. */
int view_options_parse(struct view_options *options, int argc, char **argv);

#endif
