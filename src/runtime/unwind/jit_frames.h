/* Unwind information of code made at run time, as its makers register it for exceptions: copies of it. */
#ifndef HYB_JIT_FRAMES_H
#define HYB_JIT_FRAMES_H

#include "cfi.h"

/* Forgets whose maker was another thread at the moment of a fork. start */
void jit_frames_init(void);

/* Finds the row for `pc`. False: nobody registered any. async-signal-safe */
bool jit_frames_find(uintptr_t pc, struct cfi_row *ret_row);

#endif
