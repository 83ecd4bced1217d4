/*
 * Folding (Servat et al.): samples of many instances of a region are mapped onto one instance from 0 to 1. If
 * instances are short and samples far apart, this shows what happens inside an instance: how fast each metric
 * grows along it, and what code runs.
 *
 *  - Where the trace has regions (hybrid-run --trace) an instance is from ENTER to LEAVE, and samples in
 *    regions below belong to it. Of a region inside itself the outermost instance counts.
 *  - Else it is known of samples how far they are from the start and the end of the innermost region. So
 *    instances are those in which samples were taken with no other region around them.
 *  - Instances whose duration is far from that of most are set aside.
 *
 * Where a metric grows with what is called time here, as CPU time does, positions and durations may be by
 * that: a thread that loses its processor now and then looks the same then.
 *
 * The trace is read twice; memory holds a duration for each instance, and the samples of one.
 */
#ifndef HYB_FOLD_H
#define HYB_FOLD_H

#include "analysis/fold/fold_fit.h"
#include "hybrid/reader.h"

#define FOLD_NOWHERE UINT32_MAX

struct fold_request {
	double spread; /* how many robust standard deviations a duration may be away from the middle; 0: any
			*/
	/*
	 * For each node of a location the place of its samples: a number below `place_count`. Nodes of probes
	 * are the region to be folded if their number is `region`. NULL: leave the location out.
	 */
	const uint32_t *(*places)(void *data, const struct hyb_location_info *location);
	void *data;
	uint32_t place_count, region;
	/* Metric in ns to be taken for the time inside of instances, or NULL; what does not have it is left
	 * out. */
	const char *along;
};

struct fold_metric {
	const struct hyb_metric *metric; /* NULL: CPU time, of samples on a clock; in seconds */
	struct fold_curve curve;
};

/* What ran at a place: samples, by part of the instance, as the time that they stand for. */
struct fold_place {
	uint32_t place;
	double weight; /* of all rows */
	double rows[FOLD_ROWS];
};

/* Of durations, ns; by request.along if that is set, as all times of a fold. */
struct fold_durations {
	uint64_t count, sum, least, most;
};

struct fold {
	struct fold_durations kept, aside; /* instances */
	uint64_t middle, lower, upper; /* ns: the middle duration, and what may not be set aside */
	uint64_t incomplete; /* instances whose start or end is not in the trace */
	uint64_t sampled; /* of those that were kept */
	uint64_t samples; /* in them */
	uint64_t nested; /* samples that were left out, in regions below, whose place is not known */
	bool traced, untraced; /* whether there were instances of these kinds */
	struct fold_metric *metrics; /* `cpu` first, if that is known */
	size_t metric_count;
	struct fold_place *places; /* most weight first */
	size_t place_count;
	double rows[FOLD_ROWS]; /* weight of all places */
};

/* 0: *ret is to be released; or enum hyb_result, *err has the reason. Experiments outlive it. */
int fold_make(struct hyb_experiment *const *experiments, size_t count, const struct fold_request *request,
	struct fold *ret, struct hyb_error *err);
void fold_release(struct fold *fold);

#endif
