/*
 * A profile that is not finished yet as bytes, and such bytes merged into another profile. What came to
 * two profiles and is merged makes the same as if it had come to one, in any order. Experiments
 * are told apart by the order in which they were added: each profile has to know all of them, if
 * only with those processes that it shall have.
 */
#ifndef HYB_PACK_H
#define HYB_PACK_H

#include "base/blob.h"
#include "profile/profile.h"

/* Before profile_finish(). `to` tells whether memory was out. */
void profile_pack(const struct profile *profile, struct blob *to);

/*
 * Adds what a profile of the same options was packed to. 0 or HYB_ENOMEM, with which the profile is of no use
 * any more; nor is it if `from` tells of damage. Where the profile came from may be closed already.
 */
int profile_merge(struct profile *profile, struct blob_reader *from);

#endif
