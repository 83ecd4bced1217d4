/*
 * The caller of a frame without unwind information: hand-written assembly,
 * code made at run time. A word of the stack is believed to be the return
 * address if the instruction in front of it is a call that leads to the
 * frame's code; calls through registers only where nothing better is near. How
 * the caller was found is remembered by address, and then only verified.
 * async-signal-safe
 */
#ifndef HYB_UNWIND_GUESS_H
#define HYB_UNWIND_GUESS_H

#include "cfi.h"

struct guess_frame {
	uintptr_t pc, sp, fp;
	uintptr_t link; /* a return address that may be the frame's, in the register for it; or 0 */
	bool unsure; /* whether there is code at pc */
	bool exact; /* pc was interrupted; else it is a return address */
	int32_t how; /* what is known from the last time at this pc; and what is to be remembered */
};

/* How a caller was found: 0 is not known, or the distance from sp to the CFA, a multiple of 8, and these. */
enum {
	GUESS_BY_FRAME_POINTER = -1,
	GUESS_FP_KEPT = 1, /* fp is the caller's */
	GUESS_FP_PUSHED = 2, /* the caller's fp is below the return address */
	GUESS_CHAINED = 4, /* the same, and both are the beginning of a frame pointer chain */
	GUESS_FLAGS = 7,
};

/* Replaces the frame by its caller's, whose pc is 0 if there is none. False: nothing credible was found. */
bool guess_caller(struct guess_frame *frame, struct cfi_stack *stack);

/* Whether a call stands in front of `pc`. */
bool guess_is_behind_call(uintptr_t pc);

/* Forgets which words are behind calls: code may have been replaced. */
void guess_forget(void);

#endif
