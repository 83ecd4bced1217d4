/*
 * The Python frames of the calling thread, woven into a walk of its native
 * stack: each frame is put outside of the evaluation on the native stack that
 * runs it (paper 003, section II, last paragraphs).
 *
 * From 3.11 on an evaluation runs several frames, and leaves an address of its
 * own C frame in their chain: the walk stops by where it passes that address.
 * Before, each frame has an evaluation of its own, and both are counted.
 *
 * The handler runs at any instruction, so a frame may be half pushed or popped:
 * what is read is checked against the memory that it can be in. async-signal-safe
 */
#ifndef HYB_PYTHON_FRAMES_H
#define HYB_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/format.h"

struct unwind;
struct hyb_open;

/* A frame of a thread's chain as it was, to be known again. */
struct python_place {
	uintptr_t frame;
	uint64_t instruction; /* its address; up to 3.10 mixed of the code's address and the offset in it */
	uint64_t key; /* of its node; 0: a shim */
};

struct python_walk {
	uintptr_t mark; /* in the C frame of the evaluation that runs `frame`; UINTPTR_MAX: none */
	uintptr_t frame; /* innermost one that is not placed yet; 0: none */
	uintptr_t cframe; /* PYTHON_ENTRY_FLAGS: of that evaluation */
	const char *state; /* PyThreadState; NULL: the thread runs no Python */
	const char *outer; /* the same of the interpreter that called this one; NULL: none did, or it is
			      reached */
	uintptr_t stack_lo, stack_hi; /* of the thread */
	uintptr_t chunk, chunk_end; /* of its data stack: where the last frame was found */
	uintptr_t evaluation; /* start of the function that runs a frame, where evaluations are counted */
	bool counted; /* evaluations are counted, no marks */
	bool calling; /* the thread is in a call that it made itself: all frames of its chain are whole and
			 alive */
	bool has_gil;
	bool deep; /* the evaluation of `frame` runs more frames than were followed: it has no mark */
	bool lost; /* the chain broke off */
	bool unmatched; /* frames were left out: their evaluation is not on the native stack */
	uint32_t placed; /* frames */
	uint32_t evaluations; /* counted: seen so far */
	const char
		*inner; /* counted: state that the interpreter runs now, perhaps on this thread; NULL: none */
	uintptr_t beyond; /* counted: frame that goes on where this state has none left; 0: none */
	uint32_t inside; /* counted: of them inside the snippet; UINT32_MAX while it is not reached */
	uintptr_t last; /* counted: the frame that entered the region; 0: any */
};

/* The innermost frame of the calling thread, for the snippet of a probe in it; 0: it runs no Python. */
uintptr_t python_frame(void);

/*
 * Puts the calling thread's Python frames into `u`, without a walk of its native stack: those
 * inside the open region `top`, as far as that is known; all of them for the root.
 */
void python_path(struct unwind *u, const struct hyb_open *top, bool is_root);

/* Begins at the innermost frame. */
void python_walk_begin(struct python_walk *p, uintptr_t stack_lo, uintptr_t stack_hi);

/*
 * The walk leaves the native frame [sp, reach), and `mark` is below `reach`: puts the
 * frames of that evaluation into the walk, up to `last` (0: all). True if the
 * evaluation's was this frame.
 */
bool python_walk_pass(struct python_walk *p, struct unwind *u, uintptr_t sp, uintptr_t reach, uintptr_t last);

/*
 * Where evaluations were counted, the native walk being over: weaves. `whole`: it came to the
 * end of the stack.
 */
void python_walk_weave(struct python_walk *p, struct unwind *u, bool whole);

/*
 * The frames that a walk inside the open region `top` has put into `u`, to be known again: how many, -1: they
 * are not the first of the chain, are too many, or were not understood. In a call that the thread makes.
 */
int python_keep(const struct python_walk *walked, const struct unwind *u, const struct hyb_open *top,
	struct python_place *places, uint32_t max);

/*
 * Begins at the innermost frame of the calling thread, for python_same(). Returns a value that differs for
 * most other lines; 0: the thread runs no Python.
 */
uint64_t python_here(struct python_walk *p, uintptr_t stack_lo, uintptr_t stack_hi);

/*
 * Whether the chain begins with these frames, each at the same instruction of the same code. *checked: tick
 * at which all code was last compared by what it is made of, not by its address alone. *ret_now: the tick, if
 * it is known by the way.
 */
bool python_same(struct python_walk *p, const struct python_place *places, uint32_t count, uint64_t *checked,
	uint64_t *ret_now);

/* The walk ends for want of native frames: puts what Python knows of outer frames. */
void python_walk_rest(struct python_walk *p, struct unwind *u);

#endif
