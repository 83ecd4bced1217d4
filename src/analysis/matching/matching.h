/* Matches the messages of a whole trace in one pass: which ends have no other one, and which messages were
 * received before they were sent. */
#ifndef HYB_MATCHING_H
#define HYB_MATCHING_H

#include "analysis/analysis.h"
#include "format/words.h"

#define MATCHING_LIST 100u /* ends without another that are kept, the first ones */
#define MATCHING_WORST 10u /* messages received before they were sent */

struct matching_lone {
	struct hyb_end end;
	bool is_send;
	enum hyb_lone why;
};

struct matching_reversed {
	struct hyb_end send, recv;
	uint64_t by; /* ns */
};

/* Refers to its experiment. */
struct matching {
	struct hyb_totals totals;
	struct matching_lone *lone; /* without cancelled ones */
	size_t lone_count; /* that are kept */
	struct matching_reversed reversed[MATCHING_WORST]; /* the worst first */
	size_t reversed_count;
	uint64_t error; /* ns: what the clocks of two ranks may differ by; HYB_TIME_UNKNOWN */
};

/* Why an end has no other one: key and text by enum hyb_lone. */
extern const struct words matching_reasons;

/* Its data is a struct matching of zeros. */
extern const struct analysis matching_analysis;

/* 0; or enum hyb_result (HYB_EIO if it was stopped), *err has the reason and nothing is held. */
int matching_make(struct hyb_experiment *experiment, const struct analysis_watch *watch, struct matching *ret,
	struct hyb_error *err);
void matching_release(struct matching *matching);

/* The name of the call that began it, "" if that is not known. */
const char *matching_function(const struct hyb_end *end);

/* Of matching_analysis: what there is to find in it. */
int matching_find(void *data, const struct analysis_input *input, struct findings *findings);

#endif
