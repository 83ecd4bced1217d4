/*
 * The caller of a frame without unwind information: hand-written assembly,
 * code made at run time. A word of the stack is believed to be the return
 * address if the instruction in front of it is a call that leads to the
 * frame's code; calls through registers only where nothing better is near.
 * async-signal-safe
 */
#ifndef HYB_UNWIND_GUESS_H
#define HYB_UNWIND_GUESS_H

#include "cfi.h"

struct guess_frame {
	uintptr_t pc, sp, rbp;
	bool exact; /* pc was interrupted; else it is a return address */
};

/* Replaces the frame by its caller's. False: nothing credible was found. */
bool guess_caller(struct guess_frame *frame, struct cfi_stack *stack);

#endif
