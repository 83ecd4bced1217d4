/*
 * Shares the exact times of one location's probes out among its samples, by
 * the rules in profile.h. Pure arithmetic on the reader's nodes.
 */
#ifndef HYB_SHARE_H
#define HYB_SHARE_H

#include "hybrid/reader.h"

/* ns by index of the location's nodes; frames have no blocked time. */
struct share {
	uint64_t *exclusive;
	uint64_t *blocked;
};

/*
 * The sum of all exclusive and blocked times is the root's inclusive time,
 * exactly. Probes whose children were measured longer than they themselves
 * (rounding, damage) have their children cut in proportion.
 * 0, or HYB_ENOMEM with *ret_share untouched; share_release() otherwise.
 */
int share_location(const struct hyb_location_info *location, struct share *ret_share);
void share_release(struct share *share);

#endif
