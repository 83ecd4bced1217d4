/*
 * How good a measurement is. Computed once from the experiments and their profile, and shown as remarks or as
 * JSON.
 */
#ifndef HYB_QUALITY_H
#define HYB_QUALITY_H

#include "base/json.h"
#include "profile/profile.h"
#include "profile/views/select.h"
#include "quality/remarks.h"
#include "session/session.h"

struct facts;
struct quality_matching;

/* Whether sends and receives of a trace are matched, which takes long where it is large. */
enum quality_match_wish { QUALITY_MATCH_SMALL = 0, QUALITY_MATCH_ALWAYS, QUALITY_MATCH_NEVER };

/* Zero bytes are an empty, valid one. */
struct quality {
	const struct session_input *items; /* experiments that take part */
	size_t count;
	const struct selection *part; /* of their processes and threads */
	enum quality_match_wish wish;
	struct facts *facts; /* about them, see facts.h */
	struct quality_matching *matching; /* see matching.h; NULL: not made */
};

/* Computes the quality for a finished profile of these experiments. Parts for which there is no memory are
 * missing. */
void quality_remarks(const struct quality *quality, const struct profile *profile, struct remarks *remarks);
void quality_json(
	struct json *json, const char *key, const struct quality *quality, const struct profile *profile);

/* ------------------------------------------------ parts, each in a file of its own */

/* died.c: ranks that failed, if hybrid-run stood in front of each. */
void quality_died(struct remarks *remarks, const struct hyb_experiment *experiment);
void quality_json_died(struct json *json, const struct hyb_experiment *experiment);

/* cost.c: what measuring took. */
void quality_cost(struct remarks *remarks, const struct profile_quality *q);
void quality_json_cost(struct json *json, const struct profile_quality *q);

/* mpi.c: if there was any. */
void quality_mpi(struct remarks *remarks, const struct profile *profile);
void quality_json_mpi(struct json *json, const struct profile *profile);

/* json.c: a member with a number for each word from `first` on. */
void quality_json_reasons(struct json *json, const char *key, const uint64_t *counts, unsigned first,
	unsigned count, const struct words *words);

/* metrics.c: which there are, and how they were read. */
void quality_metrics(struct remarks *remarks, const struct profile *profile);

#endif
