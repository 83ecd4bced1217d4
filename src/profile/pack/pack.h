/*
 * Packs a profile that is not finished yet into bytes, and merges such bytes into another profile. The merged
 * profile is the same as if everything had been added to one, in any order. Experiments are numbered in the
 * order in which they were added, so each profile has to know all of them, though with only those processes
 * that are its part.
 */
#ifndef HYB_PACK_H
#define HYB_PACK_H

#include "base/blob.h"
#include "profile/profile.h"

/* Before profile_finish(). Lack of memory shows in `to`. */
void profile_pack(const struct profile *profile, struct blob *to);

/*
 * Adds what a profile of the same options was packed to. 0 or HYB_ENOMEM, after which the profile is of no
 * use any more; nor is it if `from` shows damage. The experiments of the packed profile may be closed
 * already.
 */
int profile_merge(struct profile *profile, struct blob_reader *from);

#endif
