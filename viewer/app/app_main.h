/* The viewer as a whole. */
#ifndef HYB_APP_MAIN_H
#define HYB_APP_MAIN_H

#include "viewer/app/options.h"

/* Until the user leaves it. The exit status; errors were said on stderr. */
int app_run(const struct view_options *options);

#endif
