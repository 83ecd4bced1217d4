/* Messages in the trace: sends and receives that have no other end, receives before their send. */
#ifndef HYB_QUALITY_MATCHING_H
#define HYB_QUALITY_MATCHING_H

#include "analysis/matching/matching.h"
#include "quality/quality.h"

enum quality_matched {
	QUALITY_MATCHED_NONE = 0, /* no MPI, or nothing that would be printed */
	QUALITY_MATCHED_NO_TRACE, /* nothing to match */
	QUALITY_MATCHED_LARGE, /* put off: takes long, so only views that ask for it do it */
	QUALITY_MATCHED_DONE, /* tried, at least */
};

/* Of one experiment. */
struct quality_match {
	struct hyb_experiment *experiment; /* that `matching` refers to; NULL: there is none */
	bool own; /* it was opened for this */
	struct matching matching;
	struct hyb_error error;
};

struct quality_matching {
	enum quality_matched state;
	struct quality_match *items; /* DONE: one for each input */
	size_t count;
	uint64_t trace_bytes;
};

/*
 * To be freed by the caller; NULL: memory is out. `partial`: the experiments of the quality have only some
 * of the files, so those with a trace are opened anew. Large traces are read only for the views that
 * ask for it. `watch`: as for matching_make(); what was stopped is not matched.
 */
struct quality_matching *quality_matching_make(
	const struct quality *quality, bool partial, const struct analysis_watch *watch);
void quality_matching_free(struct quality_matching *matching); /* accepts NULL */

/* Lines and members of the quality block. */
void quality_matching_lines(struct remarks *remarks, const struct quality *quality);
void quality_json_matching(struct json *json, const struct quality *quality);

#endif
