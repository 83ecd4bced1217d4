/* What the trace says of messages: sends and receives that have no other end, receives before their send. */
#ifndef HYB_REPORT_MATCHING_H
#define HYB_REPORT_MATCHING_H

#include "analysis/matching/matching.h"
#include "report.h"

enum report_matched {
	REPORT_MATCH_NONE = 0, /* no MPI, or nothing that would be printed */
	REPORT_MATCH_NO_TRACE, /* nothing to match */
	REPORT_MATCH_LARGE, /* put off: only asked for by name it is worth the time */
	REPORT_MATCH_DONE, /* tried, at least */
};

/* Of one experiment. */
struct report_match {
	struct hyb_experiment *experiment; /* that `matching` refers to; NULL: there is none */
	bool own; /* it was opened for this */
	struct matching matching;
	struct hyb_error error;
};

struct report_matching {
	enum report_matched state;
	struct report_match *items; /* DONE: one for each input */
	size_t count;
	uint64_t trace_bytes;
};

/*
 * To be freed by the caller; NULL: memory is out. `partial`: the experiments of the inputs have only some
 * of the files, so those with a trace are opened anew. Large traces are read only for the views that
 * ask for it. `watch`: as for matching_make(); what was stopped is not matched.
 */
struct report_matching *report_matching_make(
	const struct report_inputs *inputs, bool partial, const struct analysis_watch *watch);
void report_matching_free(struct report_matching *matching); /* accepts NULL */

/* Lines and members of the quality block. */
void report_quality_matching(const struct style *style, const struct report_inputs *inputs);
void report_json_quality_matching(struct json *json, const struct report_inputs *inputs);

/* The view --unmatched. */
void report_unmatched(
	struct style *style, const struct report_options *options, const struct report_inputs *inputs);

#endif
