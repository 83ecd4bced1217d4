/*
 * The extension hybrid._probe: the probes of Python programs.
 *
 * One build serves all versions from 3.8 on (limited API). No state outside of
 * the module and its objects, so each subinterpreter has its own. Everything is
 * called with the GIL held. In a run that is not measured no probe does more
 * than check its arguments.
 */
#ifndef HYB_PYTHON_PROBE_H
#define HYB_PYTHON_PROBE_H

#include <Python.h>

#include "hybrid/hybrid.h"

/* A region at the place where the object was made. */
struct region {
	PyObject ob_base;
	struct hybrid_region region; /* its strings are those of the objects below */
	PyObject *name; /* str */
	PyObject *name_text, *file_text; /* bytes; NULL when not measured */
};

/*
 * For a function of ours that returns while the region is open: the Python
 * frame that called it owns the region, and the sampler looks no further out.
 * One that calls what runs in the region owns it itself, as in C.
 */
static inline void region_enter_frame(struct region *region)
{
	const struct hybrid_api *api = hybrid_api_pointer_;

	if (!api)
		return;
	if (api->size > offsetof(struct hybrid_api, enter_frame))
		api->enter_frame(&region->region);
	else
		api->enter(&region->region);
}

/* The functions below fail with an exception set: NULL or a negative number. */

/* Whether it is one of our regions, of any interpreter. */
int region_check(PyObject *object);

/* "WHAT must be WANTED, not TYPE" as a TypeError; -1. */
int wrong_type(const char *what, const char *wanted, PyObject *object);

/* 0 if `object` is a str. */
int want_text(const char *what, PyObject *object);

/* UTF-8 as bytes; what has no place in UTF-8 is escaped. */
PyObject *text_bytes(PyObject *str);

/* Types, made anew for each module. */
PyObject *region_type(void);
PyObject *function_type(void); /* a function that is a region at each call */
PyObject *steps_type(void); /* a generator or coroutine that is a region whenever it runs */
PyObject *counter_type(void);

#endif
