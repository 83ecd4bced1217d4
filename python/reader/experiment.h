/*
 * The extension hybrid._reader: experiments for Python, on the reader and the
 * profile. As thin as can be: the classes that programs see are in
 * hybrid/_experiment.py, and the rows that they get a million of are made here.
 *
 * One build serves all versions from 3.8 on (limited API). Everything is called
 * with the GIL held; it is released while an experiment is opened, while names
 * of code are looked up and while a profile is computed. An experiment is for
 * one thread at a time; another one that comes between gets an exception.
 *
 * Functions that return an object return a new reference, or NULL with an
 * exception set; those that return int, 0 or -1 with an exception set.
 */
#ifndef HYB_PYTHON_EXPERIMENT_H
#define HYB_PYTHON_EXPERIMENT_H

#include <Python.h>
#include <stdbool.h>

#include "hybrid/reader.h"

#define KINDS 24

/* Of a module; each interpreter has its own. */
struct state {
	PyObject *error; /* hybrid.Error */
	PyObject *experiment_type, *events_type;
	PyObject *node_type, *event_type, *row_type; /* struct sequences */
	PyObject *node_kinds[KINDS], *event_kinds[KINDS], *row_kinds[KINDS], *message_kinds[KINDS],
		*collectives[KINDS]; /* str, by number; "unknown" */
};

struct events;

struct experiment {
	PyObject ob_base;
	PyObject *module; /* keeps `state` */
	struct state *state;
	struct hyb_experiment *handle; /* NULL: closed */
	struct hyb_symbols *symbols; /* NULL: not needed yet */
	struct events *events; /* iterators that are open */
	bool busy; /* a call is under way */
};

/* Before and after the reader is used: fails if it is closed, or in use. */
int experiment_begin(struct experiment *experiment);
void experiment_end(struct experiment *experiment);

/* Names of code, looked up for all of it when first needed. */
int experiment_symbols(struct experiment *experiment);

/* A location by the indices of process and location; NULL with an exception set if there is none. */
const struct hyb_location_info *experiment_location(
	struct experiment *experiment, Py_ssize_t process, Py_ssize_t location);

/* The reader's error as an exception. Returns NULL. */
PyObject *raise_error(struct state *state, const struct hyb_error *error);

/* A str; bytes that are not UTF-8 become U+FFFD. */
PyObject *text(const char *string);

/* The same, kept in `cache`, a dict by address: for strings that occur often. */
PyObject *cached_text(PyObject *cache, const char *string);

/* Adds to a dict or list, and takes the references; where that fails it is gone. */
void dict_add(PyObject **dict, PyObject *key, PyObject *value);
void list_add(PyObject **list, PyObject *value);

/* What metrics of a process are, a dict by name. */
PyObject *metric_values(const struct hyb_process *process, const int64_t *values);

/* The word at `number` of `KINDS` ones. */
PyObject *kind(PyObject *const *kinds, unsigned number);

/* A struct sequence while it is being filled. */
struct filler {
	PyObject *row;
	Py_ssize_t next;
	bool failed;
};

static inline void fill(struct filler *filler, PyObject *value)
{
	filler->failed |= !value;
	PyStructSequence_SetItem(filler->row, filler->next++, value);
}

static inline void fill_number(struct filler *filler, uint64_t number)
{
	fill(filler, PyLong_FromUnsignedLongLong(number));
}

static inline void fill_none(struct filler *filler)
{
	Py_INCREF(Py_None);
	fill(filler, Py_None);
}

static inline PyObject *filled(struct filler *filler)
{
	if (!filler->failed)
		return filler->row;
	Py_DECREF(filler->row);
	return NULL;
}

/* A rank of the process's world, or None: there is none, or it is of another world. */
static inline void fill_rank(struct filler *filler, uint32_t rank)
{
	if (rank & HYB_RANK_FOREIGN)
		fill_none(filler);
	else
		fill_number(filler, rank);
}

/* The id of a handle of the process, or None. */
static inline void fill_handle(struct filler *filler, const struct hyb_handle *handle)
{
	if (handle)
		fill_number(filler, handle->id);
	else
		fill_none(filler);
}

/* Methods of experiments; hybrid/_reader.pyi has their arguments. */
PyObject *experiment_processes(PyObject *self, PyObject *none);
PyObject *experiment_nodes(PyObject *self, PyObject *args);
PyObject *experiment_events(PyObject *self, PyObject *args);
PyObject *experiment_profile(PyObject *self, PyObject *args);

/* Ends all iterators. */
void experiment_end_events(struct experiment *experiment);

/* tp_new of types that a program cannot make objects of. */
PyObject *cannot_make(PyTypeObject *type, PyObject *args, PyObject *keywords);

/* Types, made anew for each module. */
PyObject *experiment_type(void);
PyObject *events_type(void);
PyObject *node_type(void);
PyObject *event_type(void);
PyObject *row_type(void);

/* A struct sequence that also has _fields, as named tuples have: pandas looks for them. */
PyObject *sequence_type(const char *name, const char *doc, PyStructSequence_Field *fields);

#endif
