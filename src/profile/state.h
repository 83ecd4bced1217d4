/* Inside of struct profile: for the files of this folder alone. */
#ifndef HYB_PROFILE_STATE_H
#define HYB_PROFILE_STATE_H

#include "profile/codes.h"
#include "profile/merge.h"
#include "profile/metrics/metric_sums.h"
#include "base/strings.h"
#include "profile/mpi/mpi.h"
#include "profile/views/row_map.h"
#include "profile/views/tree.h"

/* Of an experiment, ns of real time: from the first start to the last end, if anything was selected. */
struct profile_span {
	int64_t first, last;
};

/* Code without a name that is shown: a row of a table, of which `samples` is no key. */
struct nameless {
	const char *module; /* path, interned */
	uint64_t address;
	uint64_t call;
	uint64_t samples;
};

/* The identity of a process, whatever it executes: a row of `seen`. */
struct identity {
	const char *host; /* interned */
	uint64_t pid;
	uint64_t experiment;
};

struct profile {
	struct profile_options options;
	struct strings strings;
	struct codes codes;
	struct tree tree;
	struct tree awaits; /* a row for each coroutine, below the root: see profile_awaits() */
	struct share share;
	struct metric_sums metrics;
	struct mpi mpi;
	struct hyb_experiment *experiment; /* that is being added; NULL: locations of none */
	struct profile_quality quality;
	struct profile_span *spans; /* by experiment, in the order of adding */
	size_t span_count;
	struct profile_part *parts;
	size_t part_count;
	struct row_map seen; /* struct identity: processes that were added */
	struct row_map nameless; /* of merged profiles; own code is in `codes` until the end */
	struct profile_unresolved *unresolved;
	size_t unresolved_count;
};

/* The span of an experiment, made if it is not there. NULL when memory is out. */
struct profile_span *profile_span(struct profile *profile, size_t experiment);

/* Adds one location, and its counters to the quality. Needs no file. 0 or HYB_ENOMEM. */
int profile_add_location(
	struct profile *profile, const struct hyb_location_info *location, const struct resolver *resolver);

/* Adds what is known of a process to the quality, its locations apart. `again`: an earlier image was added.
 */
void profile_add_process(struct profile *profile, const struct hyb_process *process, bool again);

/* All locations of a process that take part were added; `selected`: any. 0 or HYB_ENOMEM. */
int profile_end_process(struct profile *profile, const struct hyb_process *process, bool selected);

/* "rank 3", "solver 17", "sh 18.1", "gunzip (busybox) 19": what all threads of a process have in common. */
void profile_name_process(const struct hyb_process *process, char *text, size_t size);

#endif
