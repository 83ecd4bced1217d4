/*
 * The analysis driver: one pass over the event model (hybrid/model.h) for several analyses. Each analysis has
 * callbacks for the begin, for the kinds of steps that it wants, and for the end. All readers of traces are
 * analyses (reports, converters, the viewer); those that make findings are rows of the table in analyses.c as
 * well.
 */
#ifndef HYB_ANALYSIS_H
#define HYB_ANALYSIS_H

#include "hybrid/model.h"

struct analysis_input;
struct findings;

#define ANALYSIS_STEP(kind_) (1u << (kind_))

/* Callbacks return 0, or a negative enum hyb_result, which ends the pass. Those that are NULL are not called.
 */
struct analysis {
	const char *name;
	unsigned steps; /* ANALYSIS_STEP() of each kind that it wants; 0: it reads no trace */
	/*
	 * One location after another, and each for itself: without the model, so also of traces without
	 * regions. All steps are events then, in no known call, and samples are complete where there are no
	 * regions.
	 */
	bool apart;
	/* `location`: NULL, or `apart` the one whose events follow; > 0: leave it out. */
	int (*begin)(void *data, struct hyb_experiment *experiment, const struct hyb_location_info *location);
	int (*step)(void *data, const struct hyb_step *step);
	int (*end)(void *data, const struct hyb_totals *totals); /* `apart`: of a location, NULL */

	/* Rows of the table. Zero bytes are a state at its start. */
	size_t size; /* of the state that is `data` of all */
	/* Called once, when all traces were read: adds findings, see finding.h. */
	int (*find)(void *data, const struct analysis_input *input, struct findings *findings);
	void (*release)(void *data); /* what the state holds, after a failure, too */
};

/* One that takes part in a pass. */
struct analysis_item {
	const struct analysis *analysis;
	void *data;
};

/* Asked from time to time on the way: whether to stop. */
struct analysis_watch {
	bool (*stop)(void *data);
	void *data;
};

#define ANALYSIS_STOPPED 1

/*
 * Reads the traces of an experiment once for all items that want the model, and once, location by location,
 * for all that are `apart`. 0; ANALYSIS_STOPPED; or enum hyb_result: *err has the reason if the trace cannot
 * be read; a callback that fails may set it (its code is 0 before). `watch`: NULL: never.
 */
int analysis_run(struct hyb_experiment *experiment, const struct analysis_item *items, size_t count,
	const struct analysis_watch *watch, struct hyb_error *err);

#endif
