/*
 * Names of code made at run time, as its makers wrote them: a map (/tmp/perf-PID.map: lines of
 * "START SIZE NAME" in hexadecimal) and a dump (jit-PID.dump, "jitdump", with times and source lines).
 * Nothing of them is trusted: what does not make sense is left out.
 */
#ifndef HYB_READER_SYMBOLS_JIT_H
#define HYB_READER_SYMBOLS_JIT_H

#include "hybrid/reader.h"

struct sym_jit;

/* When code was met: other code may have been at its address before, and come there later. */
struct sym_jit_when {
	uint64_t time; /* ns of CLOCK_MONOTONIC */
	uint64_t map_size; /* bytes that the map had by then */
};

/* Reads the files that are there; NULL for those that are not to be. NULL if there is none, or no memory. */
struct sym_jit *sym_jit_open(const char *map, const char *dump);

/*
 * The code that holds an address: of all that ever did, the last one that was made by then, or, if all were
 * recorded later, the first. The strings live as long as `jit`. False: none is known.
 */
bool sym_jit_find(const struct sym_jit *jit, uint64_t address, const struct sym_jit_when *when,
	struct hyb_frame *ret_frame, uint64_t *ret_start, uint64_t *ret_end);

/* Accepts NULL. */
void sym_jit_close(struct sym_jit *jit);

#endif
