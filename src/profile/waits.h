/* For what threads waited: the sums of a merged tree. */
#ifndef HYB_PROFILE_WAITS_H
#define HYB_PROFILE_WAITS_H

#include "profile/profile.h"
#include "profile/views/tree.h"

/* Sets q->waits and q->ready. 0 or HYB_ENOMEM. */
int waits_sum(const struct tree *tree, struct profile_quality *q);

#endif
