/* The viewer as a whole. */
#ifndef HYB_APP_MAIN_H
#define HYB_APP_MAIN_H

#include "viewer/app/options.h"

/* Runs until the user leaves. The exit status; after an error a line on stderr. */
int app_run(const struct view_options *options);

#endif
