/*
 * Walking a stack from an interrupted context outwards, bounded by the
 * snippets of open probes (paper 003, section II).
 *
 * A frame's rule has the place of its caller's stack pointer, return address and frame pointer are. Rules
 * come from .eh_frame (cfi.c), are condensed to a few bytes and cached by code address for the whole process;
 * frames whose rule does not fit are stepped by the full interpreter. Code without unwind information is
 * stepped by guesses that are verified against the calling instruction (runtime/unwind/guess.c).
 *
 * Everything here is async-signal-safe: no lock, no allocation, no loader call;
 * memory is read only after it is known to be readable.
 */
#ifndef HYB_UNWIND_H
#define HYB_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* The end of a walk. */
enum unwind_end {
	UNWIND_SNIPPET = 0, /* at a frame that entered an open probe, or at the thread's first frame */
	UNWIND_OUTERMOST, /* by the unwind information there is no caller */
	UNWIND_NO_RULE, /* code without unwind information, and no verified guess */
	UNWIND_BAD_STACK, /* a rule led outside readable memory, or backwards */
	UNWIND_TOO_DEEP, /* no room for more frames */
};

/* Where a walk may stop: a frame of the function that holds `ra`, reaching above `sp`. */
struct unwind_snippet {
	uintptr_t sp; /* 0: none */
	uintptr_t ra; /* 0: not known, any function will do; UNWIND_IN_PYTHON */
	uintptr_t fp; /* the function's frame pointer register there */
};

/* As `ra`: a Python frame entered the probe, `fp` is its address. The walk ends in its evaluation. */
#define UNWIND_IN_PYTHON 1u

struct unwind {
	/* in */
	const ucontext_t *context;
	uintptr_t stack_lo, stack_hi; /* of the thread; reads inside need no check */
	/* Called for the snippet of the next open probe outwards; its `sp` 0: no more. */
	struct unwind_snippet (*next_snippet)(void *data);
	/*
	 * Called when the frame of the snippet last given is gone: a helper entered the probe and
	 * returned. The probe's function is the one whose frame reaches above `sp`.
	 */
	void (*gone)(void *data, uintptr_t sp);
	void *data;
	struct python_walk *python; /* NULL: Python's frames are not asked for */
	uintptr_t thread_lo, thread_hi; /* Python: the thread's stack */
	uintptr_t from; /* frames below this address are left out */
	uintptr_t *
		slot; /* NULL, or receives where the address of each native frame was read, innermost first */
	uint64_t *code; /* filled from `max` downwards: the outermost frame ends up lowest */
	size_t max;
	/* out */
	size_t count; /* entries: code[max - count] ... code[max - 1] */
	size_t natives; /* frames in slot[] */
	enum unwind_end end;
	uint32_t guessed; /* frames found by a guess */
};

/* Bits of which module ids are too small: a Python frame (and the key of its node); a frame that was
 * interrupted there (leaf, or below a signal frame); an evaluation, during the walk. */
#define UNWIND_PYTHON (1ull << 63)
#define UNWIND_EXACT (1ull << 62)
#define UNWIND_EVALUATION (1ull << 61)
/* The module id of a gap, with an enum unwind_end as the address. */
#define UNWIND_GAP 0x1fffu

/* Moves a snippet to the calling function, while its frame is there. False: not possible. Own stack only */
bool unwind_up(struct unwind_snippet *snippet);

/* Walks. The first frame, at the context's own address, is always there. */
void unwind_walk(struct unwind *u);

#endif
