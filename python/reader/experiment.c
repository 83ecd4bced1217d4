#include "experiment.h"

int experiment_begin(struct experiment *experiment)
{
	const char *why = !experiment->handle ? "the experiment is closed"
			  : experiment->busy  ? "the experiment is in use by another thread"
					      : NULL;

	if (why) {
		PyErr_SetString(experiment->state->error, why);
		return -1;
	}
	experiment->busy = true;
	return 0;
}

void experiment_end(struct experiment *experiment)
{
	experiment->busy = false;
}

int experiment_symbols(struct experiment *e)
{
	struct hyb_symbols *symbols;
	struct hyb_error error;
	int r = -1;

	if (e->symbols)
		return 0;
	Py_BEGIN_ALLOW_THREADS;
	symbols = hyb_symbols_open(e->handle, NULL, &error);
	if (symbols)
		r = hyb_symbols_resolve_all(symbols, &error);
	Py_END_ALLOW_THREADS;
	if (r) {
		hyb_symbols_close(symbols);
		raise_error(e->state, &error);
		return -1;
	}
	e->symbols = symbols;
	return 0;
}

const struct hyb_location_info *experiment_location(
	struct experiment *e, Py_ssize_t process, Py_ssize_t location)
{
	const struct hyb_process *p = process >= 0 && (size_t)process < hyb_process_count(e->handle)
					      ? hyb_process_at(e->handle, (size_t)process)
					      : NULL;

	if (p && location >= 0 && (size_t)location < p->location_count)
		return &p->locations[location];
	PyErr_SetString(PyExc_IndexError, "no such location");
	return NULL;
}

static void release(struct experiment *e)
{
	experiment_end_events(e);
	hyb_symbols_close(e->symbols);
	hyb_experiment_close(e->handle);
	e->symbols = NULL;
	e->handle = NULL;
}

static PyObject *experiment_close(PyObject *self, PyObject *none)
{
	struct experiment *e = (struct experiment *)self;

	if (!e->handle)
		Py_RETURN_NONE;
	if (experiment_begin(e))
		return NULL;
	release(e);
	experiment_end(e);
	Py_RETURN_NONE;
}

static void experiment_dealloc(PyObject *self)
{
	struct experiment *e = (struct experiment *)self;
	PyTypeObject *type = Py_TYPE(self);

	release(e);
	Py_XDECREF(e->module);
	PyObject_Free(self);
	Py_DECREF(type);
}

PyObject *cannot_make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	return PyErr_Format(PyExc_TypeError, "only hybrid.open() and what it returns make these");
}

static PyObject *experiment_values(PyObject *self, PyObject *none)
{
	struct experiment *e = (struct experiment *)self;
	const struct hyb_text_pair *values;
	PyObject *dict;
	size_t count;

	if (experiment_begin(e))
		return NULL;
	values = hyb_experiment_values(e->handle, &count);
	dict = PyDict_New();
	for (size_t i = 0; dict && i < count; i++)
		dict_add(&dict, text(values[i].key), text(values[i].value));
	experiment_end(e);
	return dict;
}

static PyObject *experiment_damage(PyObject *self, PyObject *none)
{
	struct experiment *e = (struct experiment *)self;
	PyObject *list, *result;
	const char *damage;
	size_t count;

	if (experiment_begin(e))
		return NULL;
	count = hyb_damage_count(e->handle);
	list = PyList_New(0);
	for (size_t i = 0; list && (damage = hyb_damage_text(e->handle, i)); i++)
		list_add(&list, text(damage));
	result = list ? Py_BuildValue("(nN)", (Py_ssize_t)count, list) : NULL;
	experiment_end(e);
	return result;
}

static PyObject *experiment_closed(PyObject *self, void *closure)
{
	return PyBool_FromLong(!((struct experiment *)self)->handle);
}

PyObject *experiment_type(void)
{
	static PyMethodDef methods[] = {
		{"close", experiment_close, METH_NOARGS, NULL},
		{"processes", experiment_processes, METH_NOARGS, NULL},
		{"values", experiment_values, METH_NOARGS, NULL},
		{"damage", experiment_damage, METH_NOARGS, NULL},
		{"nodes", experiment_nodes, METH_VARARGS, NULL},
		{"events", experiment_events, METH_VARARGS, NULL},
		{"profile", experiment_profile, METH_VARARGS, NULL},
		{NULL, NULL, 0, NULL},
	};
	static PyGetSetDef attributes[] = {
		{"closed", experiment_closed, NULL, NULL, NULL},
		{NULL, NULL, NULL, NULL, NULL},
	};
	PyType_Slot slots[] = {
		{Py_tp_doc, (void *)"An open experiment; see hybrid.Experiment."},
		{Py_tp_new, cannot_make},
		{Py_tp_dealloc, experiment_dealloc},
		{Py_tp_methods, methods},
		{Py_tp_getset, attributes},
		{0, NULL},
	};
	PyType_Spec spec = {
		"hybrid._reader.Experiment", sizeof(struct experiment), 0, Py_TPFLAGS_DEFAULT, slots};

	return PyType_FromSpec(&spec);
}
