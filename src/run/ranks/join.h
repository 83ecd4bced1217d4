/*
 * One experiment for all ranks of a launch, whoever comes first. They share nothing but the file system:
 *
 *   .hyb-launch-KEY.N   in the current directory, while ranks are still to come, holds the name of the
 *                       experiment's directory; made by the first rank, with O_EXCL. N counts launches of the
 * same key that were killed and left theirs behind. Not needed where -o names it. DIR/.launch-KEY     while
 * the launch goes on; whoever removes it was the last rank to end.
 */
#ifndef RUN_JOIN_H
#define RUN_JOIN_H

#include "run/experiment.h"
#include "ranks.h"

/*
 * Makes the experiment's directory or finds the one that another rank made (`joined`); like
 * experiment_create(). 0, or -1 after a line on stderr.
 */
int join_create(const char *wanted, const char *program, const struct launch *launch, struct experiment *ret);

/* Records in the experiment that this rank begins. 0, or -1 after a line on stderr. */
int join_begin(const struct experiment *experiment, const struct launch *launch, char **command);

/*
 * Records how this rank ended. True for one rank of the launch, after all others have ended: `ret` is all
 * their outcomes then, and the caller's to release. Else `failed` and no more in it: how many on this host
 * have failed so far, this one among them.
 */
bool join_end(const struct experiment *experiment, const struct launch *launch, const struct outcome *outcome,
	struct ranks *ret);

#endif
