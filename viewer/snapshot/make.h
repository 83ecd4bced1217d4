/* Inside of a session: a snapshot of what is open. For jobs. */
#ifndef HYB_SESSION_MAKE_H
#define HYB_SESSION_MAKE_H

#include "viewer/snapshot/inputs.h"

/* Takes over a reference to the inputs and the query, in all cases. NULL and the reason as one line, also if
 * the job is to stop. */
struct snapshot *snapshot_make(const struct view_options *options, struct inputs *inputs, struct query *query,
	struct job *job, char *error, size_t size);

/* Makes the warning line of a snapshot from the quality block. 0 or HYB_ENOMEM. */
int snapshot_warn(struct snapshot *snapshot, const struct view_options *options);

#endif
