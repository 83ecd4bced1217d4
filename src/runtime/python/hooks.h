/*
 * Hooks mode: Python functions are probes. A function of ours stands in front
 * of the interpreter's evaluation of frames (PEP 523, CPython 3.8 to 3.13), so
 * each call, and each resumption of a generator or coroutine, enters and
 * leaves the region of its code object. See docs/decisions.md for why this
 * interface. Nothing is known to Python code, no Python object is made.
 *
 * What stands in the way of the program's behaviour is given up instead: where
 * the C stack is half used up, calls run as without us and are not measured.
 */
#ifndef HYB_PYTHON_HOOKS_H
#define HYB_PYTHON_HOOKS_H

#include "python.h"
#include "runtime/unwind/modules.h"

#define HOOKS_INTERPRETERS 64u /* that are remembered */

/* What hooks know of the interpreter. */
struct hooks {
	void *next; /* what was set before us; NULL: not set */
	void *own;
	uint16_t frame_code, frame_owner, code_extra;
	int64_t index; /* of our word in a code object */
	/* of the interpreter */
	void *standard; /* _PyEval_EvalFrameDefault */
	void *(*get)(void *interpreter);
	void (*set)(void *interpreter, void *function);
	int64_t (*request_index)(void (*release)(void *word));
	int (*set_word)(void *code, int64_t index, void *word);
	void *(*allocate)(size_t size);
	int (*is_initialized)(void);
	int64_t (*id)(void *interpreter);
	int64_t seen[HOOKS_INTERPRETERS]; /* ids + 1 of those that were hooked, by id */
	struct module_map image; /* the interpreter's object */
	bool several; /* interpreters were hooked */
	bool too_deep, switched; /* was reported */
	const char *unseen; /* calls that this version never hands to a hook, in words; NULL: none */
};

extern struct hooks hooks __attribute__((visibility("hidden")));

/* The function that stands in front of the interpreter's evaluation of frames. */
void *hooks_function(const struct python_layout *layout);

/* Finds what is needed of the interpreter, once it is known. Asks the loader: not in a handler */
void hooks_find(void);

/*
 * Sets the hook in the interpreter that the calling thread runs, unless it is set
 * or cannot be: to be called whenever there may be a new one. Does nothing without the
 * GIL. async-signal-safe
 */
void hooks_install(void);

/*
 * Ticks of 1024 calls by hooks, of the kinds of enum hyb_probe_kind that are Python's, where there are any:
 * made of what so many calls of a region take, timed and only counted.
 */
void hooks_cost(uint64_t timed, uint64_t skipped, uint64_t *calls);

/* Writes a note to the file if no interpreter was ever hooked. */
void hooks_end(void);

#endif
