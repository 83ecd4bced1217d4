/* Inside of struct profile: for the files of this folder alone. */
#ifndef HYB_PROFILE_STATE_H
#define HYB_PROFILE_STATE_H

#include "profile/codes.h"
#include "profile/merge.h"
#include "profile/intern.h"
#include "profile/tree.h"

struct profile {
	struct profile_options options;
	struct strings strings;
	struct codes codes;
	struct tree tree;
	struct tree awaits; /* a row for each coroutine, below the root: see profile_awaits() */
	struct share share;
	struct profile_quality quality;
	struct profile_unresolved *unresolved;
	size_t unresolved_count;
};

/* Adds one location, and what it says to the quality. Needs no file. 0 or HYB_ENOMEM. */
int profile_add_location(
	struct profile *profile, const struct hyb_location_info *location, const struct resolver *resolver);

/* Adds what is known of a process to the quality, its locations apart. `again`: an earlier image was added.
 */
void profile_add_process(struct profile *profile, const struct hyb_process *process, bool again);

#endif
