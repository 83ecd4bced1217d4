/*
 * The limit of C recursion (CPython 3.12 and 3.13). An evaluation counts against it that C code begins; a
 * call of Python by Python does not, as the caller's evaluation runs it. With a hook the interpreter calls
 * itself for both, so what natively would not count is given back. What stands between the two evaluations on
 * the C stack distinguishes them: it is walked once, and known again by the caller's instruction and the
 * distance.
 */
#ifndef HYB_PYTHON_RECURSION_H
#define HYB_PYTHON_RECURSION_H

#include <stdatomic.h>
#include <stdint.h>

#include "python.h"

#define RECURSION_UNITS 2 /* PY_EVAL_C_STACK_UNITS: what an evaluation counts for */
#define RECURSION_FAR 8192u /* bytes of C stack: what only passes a call on takes less */
#define RECURSION_KNOWN 256u

struct recursion {
	uint16_t left, frame, cframe; /* members of the thread's state, as in the layout */
	uint16_t previous, owner, instruction; /* of a frame */
	int32_t most; /* that was ever left: the limit */
	_Atomic(uint32_t) known[RECURSION_KNOWN]; /* place * 4 + units; 0: none */
};

extern struct recursion recursion __attribute__((visibility("hidden")));

/* Finds the interpreter's functions that pass calls on. Asks the loader: not in a handler */
void recursion_find(void);

/* Walks from here to the evaluation of that shim. */
int32_t recursion_look(uint32_t place, uintptr_t shim);

static inline int32_t *recursion_left(char *state)
{
	return (int32_t *)(state + recursion.left);
}

/* The shim of the evaluation that runs; 0: none. */
static inline uintptr_t recursion_shim(uintptr_t frame)
{
	uintptr_t shim = frame ? python_word(frame, recursion.previous) : 0;

	for (unsigned i = 0; shim && i < 8; i++) {
		if (*(const char *)(shim + recursion.owner) == PYTHON_OWNED_BY_C_STACK)
			return shim;
		shim = python_word(shim, recursion.previous);
	}
	return 0;
}

/*
 * The units that an evaluation counts for which is called from here, but natively would not. `way`: which of
 * our functions calls it, below 4. Owner thread, with the GIL
 */
static inline __attribute__((always_inline)) int32_t recursion_spare(
	const char *state, unsigned way, uintptr_t sp)
{
	uintptr_t frame = recursion.cframe ? python_word(python_word((uintptr_t)state, recursion.cframe), 0)
					   : python_word((uintptr_t)state, recursion.frame);
	uintptr_t shim = recursion_shim(frame), distance = shim - sp;
	uint32_t place, known;

	if (!shim || distance >= RECURSION_FAR)
		return 0;
	place = *(const uint8_t *)python_word(frame, recursion.instruction);
	place |= (uint32_t)distance / 8 << 10 | way << 8 | 1u << 29;
	known = atomic_load_explicit(
		&recursion.known[(place ^ place >> 10) % RECURSION_KNOWN], memory_order_relaxed);
	return known >> 2 == place ? (int32_t)(known & 3) : recursion_look(place, shim);
}

#endif
