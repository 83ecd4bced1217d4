/* Brings the nodes of one location into the merged tree, as it is to be read. */
#ifndef HYB_MERGE_H
#define HYB_MERGE_H

#include "profile/codes.h"
#include "profile/metrics/metric_sums.h"
#include "profile/share.h"
#include "profile/views/spread.h"
#include "profile/times.h"

struct merge {
	enum profile_mode mode;
	struct tree *tree;
	struct strings *strings;
	struct codes *codes;
	const char *interpreter; /* interned path of the module with Python's interpreter, or NULL */
	bool weave; /* the interpreter's frames give way to Python's */
	bool mpi_internals; /* frames inside MPI are shown */
	uint32_t **ret_nodes; /* receives where the location's nodes are, to be freed; NULL: not wanted */
	struct hyb_experiment *experiment; /* of the location; NULL: it is in none */
	struct metric_sums *metrics; /* receives what the metrics of its process grew by */
	bool speaks; /* the location has the values of metrics of a whole process */
	const char *program; /* of the location, interned: see share.h */
	struct share *share; /* receives what is to be shared out */
	struct spreads *spreads; /* receives what the location's rank has; NULL: not wanted */
	const char *spread_metric; /* of this metric; NULL: of time */
	uint64_t blocked; /* ns of the location in probes: helper threads wait outside all of them; result */
};

/*
 * Adds a location below the tree's node `top`: blocked, calls, samples, and
 * exclusive where no samples were wanted; share_out() and tree_sum() do the
 * rest. 0 or HYB_ENOMEM (the tree is then of no use any more).
 *
 * What is not shown, and what stands in its place:
 *  - frames of libhybrid vanish; what ended in them is a leaf with the name of
 *    the function that the program called (nanosleep, poll);
 *  - outside all probes, the frames above main and thread functions vanish, also
 *    what has no name and stands above them (_start of a stripped program);
 *  - an interrupted frame that something was called from (a signal handler ran
 *    on top of it) is an intermediate for what is below it, and a leaf for the
 *    samples taken in it;
 *  - the first frame below a function's probe is folded into the probe if it
 *    is that function (not by call sites); its lines stay;
 *  - frames of Python's interpreter vanish below code of Python (its frames, and
 *    the probes of its functions), and above it. What ended in them is a leaf of
 *    the frame above them: the line of Python that was interpreted. Where no
 *    Python stands above or below, as in the interpreter's start and end, they
 *    are one frame, "Python interpreter". Garbage collection and finalisation are
 *    frames of that name, if its functions have names.
 *    What calls C functions for Python (ctypes, cffi) vanishes below Python, too,
 *    but for the samples that were taken in it.
 *    What importing does in Python ("<frozen importlib...>") vanishes below other
 *    Python: it is the time of the import statement.
 *  - frames inside MPI vanish: they are the time of the call. What MPI calls back is
 *    shown: probes, Python, and code of the object that called MPI. The frames of MPI's
 *    own Fortran and C++ bindings above the call vanish, too. What our wrappers of
 *    MPI do beside the call is "[hybrid]".
 */
int merge_location(struct merge *merge, const struct hyb_location_info *location,
	const struct resolver *resolver, uint32_t top);

/* Whether something ended in a node: samples, of a clock or by the overflow of one of so many metrics, or
 * what was seen there of off-CPU time. */
bool merge_holds(const struct hyb_node_info *node, size_t metrics);

/* The last step of it: adds times, samples and messages; own[i] is the node of the tree that has those of
 * node i of the location. 0 or HYB_ENOMEM. */
int merge_values(struct merge *merge, const struct hyb_location_info *location, const struct times *times,
	const uint32_t *own);

#endif
