/*
 * Findings, the results of all analyses. A finding states how much time is lost to what, where in the call
 * tree, on which locations and because of what. One list holds the findings of all analyses; a printer of the
 * list needs to know nothing about them.
 */
#ifndef HYB_FINDING_H
#define HYB_FINDING_H

#include "analysis/analysis.h"
#include "base/map.h"
#include "profile/profile.h"

/* A kind of finding: a constant of its analysis. Texts are sentences with a full stop. */
struct finding_kind {
	const char *key; /* for scripts */
	const char *name; /* for people */
	const char *meaning;
	const char *computed; /* how its figures are computed */
	const char *advice; /* what to do about it */
};

struct finding_who {
	const struct hyb_location_info *location;
	double share; /* of the severity; where there is none, of the count */
};

/* A link of the chain of causes, the nearest first. */
struct finding_cause {
	const struct hyb_location_info *location;
	uint32_t node; /* of the merged tree: what it did there; 0: not known */
	double share; /* of the severity that it explains */
};

struct finding_instance {
	const struct hyb_location_info *location;
	uint64_t time; /* ns, as in events */
	uint64_t duration; /* ns; 0: none is known */
	uint32_t node; /* of the merged tree; 0: not known */
};

#define FINDING_INSTANCES 10u /* that are kept, the worst */

struct finding {
	const struct finding_kind *kind;
	uint64_t severity; /* ns, of all locations together; 0: it costs no time, or none that is known */
	double share; /* of the time of all that was measured; set by analysis_find() */
	uint64_t count; /* how often */
	double confidence; /* 1: safe; less where it rests on samples, wrong clocks, traces that are cut */
	uint32_t node; /* where, in the merged tree; 0: nowhere, or in several places */
	char text[256]; /* a remark about this one, without a full stop */
	struct finding_who *who; /* most first */
	size_t who_count;
	struct finding_cause *because;
	size_t because_count;
	struct finding_instance *instances; /* the worst first */
	size_t instance_count;
};

/* All zero is an empty list. */
struct findings {
	struct finding *items;
	size_t count;
};

/* NULL: memory is out. Else one of confidence 1 in no place, valid until the next one is added. */
struct finding *findings_add(struct findings *findings, const struct finding_kind *kind);

/* Behind what is there; false: memory is out. Of instances no more than are kept are added. */
bool finding_add_who(struct finding *finding, const struct hyb_location_info *location, double share);
bool finding_add_cause(
	struct finding *finding, const struct hyb_location_info *location, uint32_t node, double share);
bool finding_add_instance(struct finding *finding, const struct finding_instance *instance);

void findings_release(struct findings *findings);

/*
 * A part of the finding as text: what, where, who, because of whom, and when; from FINDING_OF_KIND on what
 * its kind means, how it is computed and what to do. NULL if this part is empty, or memory is out; to be
 * freed.
 */
enum { FINDING_OF_KIND = 5, FINDING_PARTS = 8 };
const char *finding_label(unsigned part); /* at most 8 characters */
char *finding_words(const struct finding *finding, unsigned part, const struct profile_node *nodes);

/* Those that are but a row of the table; matching/ has a header, since others use it, too. */
extern const struct analysis gil_analysis, imbalance_analysis, notes_analysis;

/* What analyses find in: one experiment and the tree that it was merged into, perhaps with others. */
struct analysis_input {
	struct hyb_experiment *experiment;
	const struct profile *profile; /* finished, with parts */
	const struct map *parts; /* of the whole profile, by location */
};

/* The node of the merged tree that a location's node is; 0: it is not in the profile. */
uint32_t analysis_node(
	const struct analysis_input *input, const struct hyb_location_info *location, uint32_t node);

/* What a location measured in a probe of the merged tree. */
struct node_time {
	uint32_t node;
	const struct hyb_location_info *location;
	uint64_t ns, calls;
};

/* Of all probes of the experiment that are wanted, those of a node together, locations in the profile's
 * order. 0 or HYB_ENOMEM; *ret is the caller's to free. */
int analysis_times(const struct analysis_input *input, bool (*wanted)(const struct hyb_node_info *node),
	struct node_time **ret, size_t *ret_count);

/*
 * All analyses of the table, over experiments that were merged into a profile with parts: one pass over the
 * trace of each that has one with regions. Findings that cost most come first. 0, ANALYSIS_STOPPED or enum
 * hyb_result with *err; *ret is empty then.
 */
int analysis_find(struct hyb_experiment *const *experiments, size_t count, const struct profile *profile,
	const struct analysis_watch *watch, struct findings *ret, struct hyb_error *err);

#endif
