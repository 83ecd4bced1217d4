/*
 * One side of a report: the experiments that are shown, or those that they are compared with, read and
 * merged by one process or by all ranks of a launch. Rank 0 lists the files and shares them out; each
 * rank merges its own, then trees are merged pairwise.
 */
#ifndef HYB_REPORT_SIDE_H
#define HYB_REPORT_SIDE_H

#include "network/ranks.h"
#include "report.h"

/* Zero bytes are an empty, valid one. */
struct side {
	struct report_inputs inputs; /* on rank 0: all experiments, with the files that are its own */
	struct profile *profile; /* of all ranks */
};

/* On rank 0, as often as needed. 0, or -1 after a line on stderr; side_close() is due in both cases. */
int side_open(struct side *side, const struct ranks *ranks, const struct report_options *options,
	char *const *paths, size_t count);
void side_close(struct side *side);

/* On the others: does its part of each side, until rank 0 sends all home. Both leave MPI. */
void side_serve(const struct ranks *ranks, const struct report_options *options);
void side_dismiss(const struct ranks *ranks);

#endif
