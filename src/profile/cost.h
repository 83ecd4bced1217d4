/* What measuring cost: the one place where its parts are summed up. */
#ifndef HYB_PROFILE_COST_H
#define HYB_PROFILE_COST_H

#include "profile/profile.h"

/* Adds a location's probes, with their times, and what else measuring it took. */
void cost_add_location(struct profile_quality *q, const struct hyb_location_info *location);

/* When all are added. */
void cost_finish(struct profile_quality *q);

#endif
