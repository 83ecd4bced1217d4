/* The choice of threads that take part, by the options that all tools share. Pure. */
#ifndef HYB_SELECT_H
#define HYB_SELECT_H

#include "hybrid/reader.h"

/* Zero bytes choose all. */
struct selection {
	uint32_t process, thread; /* by the numbers the kernel gave them; 0: all */
	const char *ranks; /* "0-3,7", or NULL: all; else what is no rank takes no part */
	bool only_ranks; /* all, and what is no rank takes no part */
};

/* Values of --process, --thread and --ranks, which is kept: NULL, or what a user is to give instead. */
const char *selection_process(struct selection *selection, const char *value);
const char *selection_thread(struct selection *selection, const char *value);
const char *selection_ranks(struct selection *selection, const char *value);

bool selection_is_all(const struct selection *selection);
bool selection_has(const struct selection *selection, const struct hyb_location_info *location);
/* The same as a callback; `selection` is one. */
bool selection_select(void *selection, const struct hyb_location_info *location);

/* The error line if nothing of `path` takes part. */
void selection_nothing(const struct selection *selection, const char *path, char *text, size_t size);

#endif
