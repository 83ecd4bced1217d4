/*
 * The CPython interpreter of this process: found by its symbols in whatever
 * object holds it (the program, a libpython that was linked or opened later),
 * and known by its version's layout. Nothing of it is changed in frames mode.
 */
#ifndef HYB_PYTHON_H
#define HYB_PYTHON_H

#include "layout.h"
#include "runtime/runtime.h"

struct python {
	const struct python_layout
		*_Atomic layout; /* NULL: no interpreter, or none that is known; set last */
	uintptr_t code; /* Py_GetVersion: in the interpreter's object; 0: none */
	char version[32];
	const struct python_layout *known; /* as `layout`, for the description */
	_Atomic(bool) closing; /* something was closed: it may be the interpreter */
	_Atomic(bool) gone; /* it was */
	_Atomic(bool) ending; /* the process's end was begun */
	bool stays; /* it was there before anything was opened: nothing can close it */
	uintptr_t runtime; /* _PyRuntime, from here */
	uintptr_t runtime_end; /* to there: the GIL's conditions are inside */
	uintptr_t code_type, string_type; /* PyCode_Type, PyUnicode_Type */
	uintptr_t evaluation; /* PYTHON_FRAME_OBJECTS: start of the function that runs a frame */
	void *(*own_state)(void); /* PyGILState_GetThisThreadState: reads a thread-specific value */
	_Atomic(bool) met; /* code of a libpython was sampled for the first time */
	/*
	 * _PyThreadState_UncheckedGet: of the thread that has the GIL. Up to 3.11: later ones read a
	 * thread-local variable, and the first time after a dlopen this may allocate memory.
	 */
	void *(*current_state)(void);
	int (*is_ending)(void); /* Py_IsFinalizing */
	void *(*main_interpreter)(void); /* PyInterpreterState_Main: reads a static variable */
	size_t interpreter_threads; /* see python_layout_threads() */
};

extern struct python python __attribute__((visibility("hidden")));

static inline const struct python_layout *python_layout(void)
{
	return atomic_load_explicit(&python.layout, memory_order_acquire);
}

/*
 * Looks for the interpreter, if it was not found yet and objects may have been
 * loaded since the last time. Asks the loader: not in a handler.
 */
void python_look(void);

/* The process ends: before anything else of ours is done. Asks the loader */
void python_end(void);

/* An object is about to be loaded. async-signal-safe */
void python_expect(void);

/*
 * Whether the interpreter that was found is still loaded: only a dlclose can have changed that.
 * async-signal-safe
 */
bool python_is_loaded(void);

/* The program is about to close an object. async-signal-safe */
void python_closing(void);

/*
 * For calls that an interpreter makes again and again: looks if the sampler has met code of a
 * libpython, which then is no longer being loaded.
 */
static inline void python_look_again(void)
{
	if (unlikely(atomic_load_explicit(&python.met, memory_order_relaxed)) &&
		atomic_exchange(&python.met, false)) {
		python_expect();
		python_look();
	}
}

/* Records the interpreter in a new file. start */
void python_describe(void);

/* Address of a dynamic symbol in the interpreter's object, 0 if it has none. Asks the loader: not in a
 * handler */
uintptr_t python_symbol(const char *name, size_t *ret_size);

/*
 * The calling thread's PyThreadState, NULL if it runs no Python. *ret_has_gil: it is
 * the one that the interpreter runs now. async-signal-safe
 */
const char *python_own_state(bool *ret_has_gil);

/*
 * Of a thread that runs a sub-interpreter in `state`: its state in the first interpreter, of which that was
 * called, or up to 3.10 may have been. NULL: there is none. async-signal-safe
 */
const char *python_outer_state(const char *state);

/* A member of an interpreter's structure. */
static inline uintptr_t python_word(uintptr_t object, unsigned offset)
{
	return *(const uintptr_t *)(object + offset);
}

#endif
