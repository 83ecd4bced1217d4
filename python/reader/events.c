/* Iterators over events. Each step holds the GIL: it is shorter than to release it. */
#include "experiment.h"

struct events {
	PyObject ob_base;
	struct experiment *experiment;
	struct hyb_events *handle; /* NULL: at the end, or the experiment was closed */
	PyObject *locations; /* dict: address of the reader's location to the program's object */
	const struct hyb_location_info *last; /* whose object this is: */
	PyObject *last_object; /* borrowed */
	struct events *next, **link; /* in experiment->events */
};

/* Fields of an event by number. */
enum { TEXT = 4, WEIGHT = 7, MESSAGE = 11, OFFSET = 17, METRICS = 19, OPERATION = 20, END = 21 };

PyObject *event_type(void)
{
	static PyStructSequence_Field fields[] = {
		{"time", "ns"},
		{"kind", "sample, enter, leave, complete, counter, marker or gap; of MPI: message, posted, "
			 "sent, tested, cancelled, "
			 "collected, done, epoch, failed, created or freed; unmeasured: one of these "
			 "in a pause"},
		{"location", "the thread, a hybrid.Location"},
		{"node", "index in location.nodes; None for counter, marker and gap"},
		{"text", "of a counter its name, of a marker its text; else None"},
		{"value", "of a counter, int or float; of failed what MPI returned; else None"},
		{"unit", "of a counter; else None"},
		{"weight", "of a sample: how many it stands for; else None"},
		{"since", "of a sample: ns since its region was entered; else None"},
		{"until", "of a sample: ns to the end of that instance, where complete=True; else None"},
		{"blocked", "of a sample: ns the thread did not run since the last one; else None"},
		{"message",
			"of a message: send, recv, collective, put, get, update, read or write; else None"},
		{"handle", "of a message or epoch: id in process.handles; else None"},
		{"peer", "of a message or epoch: world rank of peer, root or target; None if none, or of "
			 "another world"},
		{"tag", "of a send or recv; else None"},
		{"sent", "of a message: bytes; else None"},
		{"received", "of a message: bytes; else None"},
		{"offset", "of a read or write: in the file; else None, or not known"},
		{"request", "of MPI: a number that the process uses once; None if the call waited"},
		{"metrics", "of a sample, enter, leave or complete: a dict, name of the metric: its value "
			    "there; None if not known"},
		{"operation", "of a collective: barrier, bcast, allreduce ...; else None, or not known"},
		{NULL, NULL},
	};

	return sequence_type("hybrid.Event", "A record of the trace.", fields);
}

static void unlink_events(struct events *events)
{
	hyb_events_close(events->handle);
	events->handle = NULL;
	if (events->link)
		*events->link = events->next;
	if (events->next)
		events->next->link = events->link;
	events->link = NULL;
	events->next = NULL;
}

void experiment_end_events(struct experiment *experiment)
{
	while (experiment->events)
		unlink_events(experiment->events);
}

/* Borrowed; NULL with an exception set. */
static PyObject *location_object(struct events *events, const struct hyb_location_info *location)
{
	PyObject *key;

	if (location == events->last)
		return events->last_object;
	key = PyLong_FromVoidPtr((void *)location);
	if (!key)
		return NULL;
	events->last_object = PyDict_GetItemWithError(events->locations, key);
	events->last = events->last_object ? location : NULL;
	Py_DECREF(key);
	return events->last_object;
}

static void fill_counter(struct filler *f, const struct hyb_event *event)
{
	if (event->is_double)
		fill(f, PyFloat_FromDouble(event->value.real));
	else
		fill(f, PyLong_FromLongLong(event->value.integer));
	fill(f, text(event->unit));
}

/* Fields with None up to `end`. */
static void fill_rest(struct filler *f, Py_ssize_t end)
{
	while (f->next < end)
		fill_none(f);
}

/* A number, None where it is `none`. */
static void fill_unless(struct filler *f, uint64_t number, uint64_t none)
{
	if (number == none)
		fill_none(f);
	else
		fill_number(f, number);
}

static void fill_mpi(struct filler *f, struct state *state, const struct hyb_event *event)
{
	if (event->kind != HYB_EVENT_MESSAGE) {
		fill_none(f);
		fill_handle(f, event->handle);
		fill_rank(f, event->peer);
		fill_rest(f, OFFSET);
	} else {
		fill(f, kind(state->message_kinds, event->message));
		fill_handle(f, event->handle);
		fill_rank(f, event->peer);
		if (event->message == HYB_SEND || event->message == HYB_RECV)
			fill(f, PyLong_FromLong(event->tag));
		else
			fill_none(f);
		fill_number(f, event->sent);
		fill_number(f, event->received);
	}
	fill_unless(f, event->offset, UINT64_MAX);
	fill_unless(f, event->request, 0);
}

static PyObject *make_event(struct events *events, const struct hyb_event *event)
{
	struct state *state = events->experiment->state;
	PyObject *location = location_object(events, event->location);
	struct filler f = {.row = location ? PyStructSequence_New((PyTypeObject *)state->event_type) : NULL};

	if (!f.row)
		return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_KeyError, "an event of no location");
	fill_number(&f, event->time);
	fill(&f, kind(state->event_kinds, event->kind));
	Py_INCREF(location);
	fill(&f, location);
	if (event->kind <= HYB_EVENT_COMPLETE || hyb_event_is_mpi(event->kind))
		fill_number(&f, event->node);
	fill_rest(&f, TEXT);
	if (event->kind == HYB_EVENT_COUNTER || event->kind == HYB_EVENT_MARKER)
		fill(&f, text(event->text));
	if (event->kind == HYB_EVENT_COUNTER)
		fill_counter(&f, event);
	if (event->kind == HYB_EVENT_FAILED) {
		fill_none(&f);
		fill(&f, PyLong_FromLongLong(event->value.integer));
	}
	fill_rest(&f, WEIGHT);
	if (event->kind == HYB_EVENT_SAMPLE) {
		fill_number(&f, event->weight);
		fill_unless(&f, event->since, HYB_TIME_UNKNOWN);
		fill_unless(&f, event->until, HYB_TIME_UNKNOWN);
		fill_number(&f, event->blocked);
	}
	if (hyb_event_is_mpi(event->kind)) {
		fill_rest(&f, MESSAGE);
		fill_mpi(&f, state, event);
	}
	fill_rest(&f, METRICS);
	if (event->kind <= HYB_EVENT_COMPLETE && event->values)
		fill(&f, metric_values(event->location->process, event->values));
	fill_rest(&f, OPERATION);
	if (event->collective)
		fill(&f, kind(state->collectives, event->collective));
	fill_rest(&f, END);
	return filled(&f);
}

static PyObject *events_next(PyObject *self)
{
	struct events *events = (struct events *)self;
	struct experiment *experiment = events->experiment;
	PyObject *result = NULL;
	struct hyb_event event;
	int r = 0;

	if (experiment_begin(experiment))
		return NULL;
	if (events->handle)
		r = hyb_events_next(events->handle, &event);
	if (r > 0)
		result = make_event(events, &event);
	else if (r < 0)
		PyErr_NoMemory(); /* nothing else goes wrong there */
	else
		unlink_events(events);
	experiment_end(experiment);
	return result;
}

static void events_dealloc(PyObject *self)
{
	struct events *events = (struct events *)self;
	PyTypeObject *type = Py_TYPE(self);

	unlink_events(events);
	Py_XDECREF(events->locations);
	Py_XDECREF((PyObject *)events->experiment);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *iterator(PyObject *self)
{
	Py_INCREF(self);
	return self;
}

PyObject *events_type(void)
{
	PyType_Slot slots[] = {
		{Py_tp_doc, (void *)"Iterates over events by time."},
		{Py_tp_new, cannot_make},
		{Py_tp_dealloc, events_dealloc},
		{Py_tp_iter, iterator},
		{Py_tp_iternext, events_next},
		{0, NULL},
	};
	PyType_Spec spec = {"hybrid._reader.Events", sizeof(struct events), 0, Py_TPFLAGS_DEFAULT, slots};

	return PyType_FromSpec(&spec);
}

/* The objects, a list for each process, by address of the reader's. */
static PyObject *location_table(struct experiment *e, PyObject *lists)
{
	PyObject *dict = PyDict_New();

	for (size_t p = 0; dict && p < hyb_process_count(e->handle); p++) {
		const struct hyb_process *process = hyb_process_at(e->handle, p);
		PyObject *list = PySequence_GetItem(lists, (Py_ssize_t)p);

		for (size_t i = 0; dict && list && i < process->location_count; i++)
			dict_add(&dict, PyLong_FromVoidPtr((void *)&process->locations[i]),
				PySequence_GetItem(list, (Py_ssize_t)i));
		if (!list)
			Py_CLEAR(dict);
		Py_XDECREF(list);
	}
	return dict;
}

static PyObject *open_events(
	struct experiment *e, PyObject *lists, const struct hyb_location_info *location, bool complete)
{
	PyObject *table = location_table(e, lists);
	struct events *events =
		table ? (struct events *)PyType_GenericAlloc((PyTypeObject *)e->state->events_type, 0) : NULL;
	struct hyb_error error;

	if (!events) {
		Py_XDECREF(table);
		return NULL;
	}
	Py_INCREF((PyObject *)e);
	events->experiment = e;
	events->locations = table;
	events->handle = hyb_events_open(e->handle, location, complete, &error);
	if (!events->handle) {
		Py_DECREF((PyObject *)events);
		return raise_error(e->state, &error);
	}
	events->link = &e->events;
	events->next = e->events;
	if (events->next)
		events->next->link = &events->next;
	e->events = events;
	return (PyObject *)events;
}

PyObject *experiment_events(PyObject *self, PyObject *args)
{
	struct experiment *e = (struct experiment *)self;
	const struct hyb_location_info *info = NULL;
	Py_ssize_t process, location;
	PyObject *lists, *result = NULL;
	int complete;

	if (!PyArg_ParseTuple(args, "Onnp", &lists, &process, &location, &complete) || experiment_begin(e))
		return NULL;
	if (process >= 0)
		info = experiment_location(e, process, location);
	if (process < 0 || info)
		result = open_events(e, lists, info, complete);
	experiment_end(e);
	return result;
}
