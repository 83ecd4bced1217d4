/* Brings the nodes of one location into the merged tree, as it is to be read. */
#ifndef HYB_MERGE_H
#define HYB_MERGE_H

#include "profile/codes.h"
#include "profile/share.h"

struct merge {
	enum profile_mode mode;
	struct tree *tree;
	struct strings *strings;
	struct codes *codes;
	const char *interpreter; /* interned path of the module with Python's interpreter, or NULL */
	bool weave; /* the interpreter's frames give way to Python's */
	struct share *share; /* receives what is to be shared out */
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
 *    are one frame, "Python interpreter".
 *    What calls C functions for Python (ctypes, cffi) vanishes below Python, too,
 *    but for the samples that were taken in it.
 *    What importing does in Python ("<frozen importlib...>") vanishes below other
 *    Python: it is the time of the import statement.
 */
int merge_location(struct merge *merge, const struct hyb_location_info *location,
	const struct resolver *resolver, uint32_t top);

#endif
