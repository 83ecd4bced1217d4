/* What merge.c keeps while it places the nodes of one location. */
#ifndef HYB_MERGE_WORK_H
#define HYB_MERGE_WORK_H

#include "profile/merge.h"

/* What is known of a node before it goes anywhere. */
enum shape {
	SHAPE_INNER = 1, /* has children */
	SHAPE_SHOWN = 2, /* and not all of them are start code */
	SHAPE_PYTHON = 4, /* code of Python stands here or below */
	SHAPE_NATIVE = 8, /* samples or probes are here or below, and no code of Python between */
	SHAPE_MPI = 16, /* calls a function of MPI, perhaps through MPI's own bindings */
};

/* How far down the tree a path has got. */
struct spot {
	uint32_t node; /* of the tree: what is below goes there */
	uint32_t frame; /* 0, or a node of the location, a frame that goes there first: see settle() */
	bool first; /* nothing is shown yet below its probe */
	const char *ours; /* inside libhybrid: the name under which it was called */
};

/* Where a node of the location went. */
struct place {
	struct spot spot;
	struct spot python; /* the same without the interpreter's frames: what Python below will hang on */
	bool woven; /* code of Python stands above; `python` is not used any more */
	bool interpreting; /* the frame above is the interpreter's, and stands for all of a row of them */
	const char *part; /* of the interpreter, that the innermost frame shown belongs to; NULL: none */
	bool folded; /* inside MPI: what is here is the time of the call */
	bool wrapped; /* in what our wrappers of MPI do on their own account */
	uint32_t own; /* node of the tree for its times and samples: see merge_values() */
};

struct work {
	struct merge *merge;
	const struct resolver *resolver;
	const struct hyb_node_info *nodes;
	size_t metrics; /* of the process */
	struct place *places;
	uint8_t *shapes; /* enum shape */
};

/* A code address or a Python instruction as source-level frames, innermost first. */
struct shown {
	const struct code_frame *frames;
	size_t count;
	const char *module;
	bool is_python;
	struct code_frame python;
};

#endif
