/*
 * What each probe of one location ran, and where it did not run, by the rules in
 * profile.h. Pure arithmetic on the reader's nodes.
 */
#ifndef HYB_TIMES_H
#define HYB_TIMES_H

#include "hybrid/reader.h"

/* ns by index of the location's nodes. */
struct times {
	uint64_t *exclusive; /* probes: without what was blocked */
	uint64_t *blocked; /* did not run: at frames where that was seen, the rest at probes */
	uint64_t *ready; /* the part of it without a processor */
};

/*
 * The sum of all exclusive and blocked times is the root's inclusive time,
 * exactly. Probes whose children were measured longer than they themselves
 * (rounding, damage) have their children cut in proportion.
 * 0, or HYB_ENOMEM with *ret_times untouched; times_release() otherwise.
 */
int times_of_location(const struct hyb_location_info *location, struct times *ret_times);
void times_release(struct times *times);

/* Of a metric of its process, by index: what each probe has without those below it, 0 for frames. Cut in the
 * same way, but for what goes down somewhere. 0 or HYB_ENOMEM. */
int times_of_metric(const struct hyb_location_info *location, size_t metric, int64_t *ret_exclusive);

/* What one of the location's samples stands for: ns, or with HYB_SOURCE_EVENT that much of the metric. */
uint64_t times_period(const struct hyb_location_info *location);

#endif
