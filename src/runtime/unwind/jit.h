/*
 * Code made at run time. Its addresses belong to no file and may hold other code later, so a key records the
 * time: time is cut into slices, each with a module id of its own (HYB_MADE_PATH). A slice begins when code
 * is met that was not seen before, at the earliest some time after the last one, or when code turns out to
 * have been replaced.
 */
#ifndef HYB_JIT_H
#define HYB_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"

/* Ids of the modules that stand for slices: above all others, below the bits of a walk's entries (unwind.h).
 */
#define JIT_MODULE 0x1400u
#define JIT_SLICES 2048u

/* Whether it is the key of code made at run time. */
static inline bool jit_is_made(uint64_t code)
{
	return HYB_CODE_MODULE(code) - JIT_MODULE < JIT_SLICES;
}

/* At the process's begin, again in a forked child. start */
void jit_init(void);

/* The key of code that is met at `pc` for the first time, or in the place of other code. async-signal-safe */
uint64_t jit_code(uintptr_t pc, bool replaced);

/* A file is mapped as code that is no object: perhaps the dump of a compiler. async-signal-safe */
void jit_map(const char *path);

#endif
