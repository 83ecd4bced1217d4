#include <stdbool.h>

#include "probe.h"

int wrong_type(const char *what, const char *wanted, PyObject *object)
{
	PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");

	if (name)
		PyErr_Format(PyExc_TypeError, "%s must be %s, not %U", what, wanted, name);
	Py_XDECREF(name);
	return -1;
}

int want_text(const char *what, PyObject *object)
{
	return PyUnicode_Check(object) ? 0 : wrong_type(what, "a str", object);
}

PyObject *text_bytes(PyObject *str)
{
	return PyUnicode_AsEncodedString(str, "utf-8", "backslashreplace");
}

/* ------------------------------------------------------------ one text */

/* Calls `record` with a text, if the run is measured. */
static PyObject *with_text(const char *what, PyObject *object, void (*record)(const char *))
{
	PyObject *text;

	if (want_text(what, object))
		return NULL;
	if (!hybrid_measured())
		Py_RETURN_NONE;
	text = text_bytes(object);
	if (!text)
		return NULL;
	record(PyBytes_AsString(text));
	Py_DECREF(text);
	Py_RETURN_NONE;
}

static PyObject *marker(PyObject *module, PyObject *text)
{
	return with_text("the text of a marker", text, hybrid_marker);
}

static PyObject *thread_name(PyObject *module, PyObject *name)
{
	return with_text("the name of a thread", name, hybrid_thread_name);
}

/* ------------------------------------------------------- keys and values */

/* A str as it is, a number as str() writes it. */
static PyObject *value_bytes(PyObject *value)
{
	PyObject *str, *bytes;

	if (PyUnicode_Check(value))
		return text_bytes(value);
	str = PyObject_Str(value);
	bytes = str ? text_bytes(str) : NULL;
	Py_XDECREF(str);
	return bytes;
}

/* Calls `record` with key and value, if the run is measured. */
static PyObject *with_pair(PyObject *key, PyObject *value, void (*record)(const char *, const char *))
{
	PyObject *key_text, *value_text;

	if (want_text("the key", key))
		return NULL;
	if (!PyUnicode_Check(value) && !PyLong_Check(value) && !PyFloat_Check(value)) {
		wrong_type("the value", "a str, an int or a float", value);
		return NULL;
	}
	if (!hybrid_measured())
		Py_RETURN_NONE;
	key_text = text_bytes(key);
	value_text = key_text ? value_bytes(value) : NULL;
	if (value_text)
		record(PyBytes_AsString(key_text), PyBytes_AsString(value_text));
	Py_XDECREF(key_text);
	Py_XDECREF(value_text);
	return PyErr_Occurred() ? NULL : Py_BuildValue("");
}

static PyObject *parameter(PyObject *module, PyObject *args)
{
	PyObject *key, *value;

	return PyArg_ParseTuple(args, "OO:parameter", &key, &value) ? with_pair(key, value, hybrid_parameter)
								    : NULL;
}

static PyObject *metadata(PyObject *module, PyObject *args)
{
	PyObject *key, *value;

	return PyArg_ParseTuple(args, "OO:metadata", &key, &value) ? with_pair(key, value, hybrid_metadata)
								   : NULL;
}

/* ----------------------------------------------------------------- pauses */

static PyObject *pause_now(PyObject *module, PyObject *none)
{
	hybrid_pause();
	Py_RETURN_NONE;
}

static PyObject *resume_now(PyObject *module, PyObject *none)
{
	hybrid_resume();
	Py_RETURN_NONE;
}

/* hybrid.paused, one object for each interpreter; called it is itself. */
struct paused {
	PyObject ob_base;
	unsigned open; /* how many `with` blocks are in it */
};

static PyObject *paused_enter(PyObject *self, PyObject *none)
{
	if (((struct paused *)self)->open++ == 0)
		hybrid_pause();
	Py_RETURN_NONE;
}

static PyObject *paused_exit(PyObject *self, PyObject *args)
{
	struct paused *paused = (struct paused *)self;

	if (paused->open && --paused->open == 0)
		hybrid_resume();
	Py_RETURN_NONE;
}

static PyObject *paused_call(PyObject *self, PyObject *args, PyObject *keywords)
{
	if (keywords || !PyArg_ParseTuple(args, ":paused"))
		return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "paused() takes no arguments");
	Py_INCREF(self);
	return self;
}

static PyObject *new_paused(void)
{
	static const char doc[] =
		"paused()\n--\n\n"
		"A context that is not measured:\n\n"
		"    with hybrid.paused():\n"
		"        ...\n\n"
		"The measurement of the process goes on when the last thread leaves its outermost\n"
		"block. The time shows as the region \"(paused)\".";
	static PyMethodDef methods[] = {
		{"__enter__", paused_enter, METH_NOARGS, "Pauses the measurement."},
		{"__exit__", paused_exit, METH_VARARGS,
			"Goes on with it, at the end of the outermost block."},
		{NULL, NULL, 0, NULL},
	};
	PyType_Slot slots[] = {
		{Py_tp_doc, (void *)doc},
		{Py_tp_call, paused_call},
		{Py_tp_methods, methods},
		{0, NULL},
	};
	PyType_Spec spec = {"hybrid._probe.Paused", sizeof(struct paused), 0, Py_TPFLAGS_DEFAULT, slots};
	PyObject *type = PyType_FromSpec(&spec);
	PyObject *paused = type ? PyObject_CallObject(type, NULL) : NULL;

	Py_XDECREF(type);
	return paused;
}

/* ----------------------------------------------------------------- module */

static PyObject *measured(PyObject *module, PyObject *none)
{
	return PyBool_FromLong(hybrid_measured());
}

/* Takes the reference. */
static int add(PyObject *module, const char *name, PyObject *object)
{
	int error = object ? PyObject_SetAttrString(module, name, object) : -1;

	Py_XDECREF(object);
	return error;
}

static int fill(PyObject *module)
{
	return add(module, "region", region_type()) || add(module, "counter", counter_type()) ||
			       add(module, "Function", function_type()) ||
			       add(module, "Steps", steps_type()) || add(module, "paused", new_paused())
		       ? -1
		       : 0;
}

PyMODINIT_FUNC PyInit__probe(void);

PyMODINIT_FUNC PyInit__probe(void)
{
	static PyMethodDef functions[] = {
		{"marker", marker, METH_O,
			"marker(text, /)\n--\n\nA moment with a text, in the trace of this thread."},
		{"thread_name", thread_name, METH_O,
			"thread_name(name, /)\n--\n\nNames the calling thread; 63 bytes are kept."},
		{"parameter", parameter, METH_VARARGS,
			"parameter(key, value, /)\n--\n\n"
			"Splits the innermost open region of this thread by a value: what follows in this\n"
			"instance stands below \"key=value\", until the region is left."},
		{"metadata", metadata, METH_VARARGS,
			"metadata(key, value, /)\n--\n\nA fact about the run, kept in the experiment."},
		{"pause", pause_now, METH_NOARGS,
			"pause()\n--\n\nStops measuring the process, until resume(); calls do not nest."},
		{"resume", resume_now, METH_NOARGS, "resume()\n--\n\nGoes on measuring after pause()."},
		{"measured", measured, METH_NOARGS,
			"measured()\n--\n\nWhether hybrid-run measures this process."},
		{NULL, NULL, 0, NULL},
	};
	static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};
	static PyModuleDef definition = {
		PyModuleDef_HEAD_INIT,
		.m_name = "hybrid._probe",
		.m_doc = "The probes of Python programs; use them as hybrid.region and so on.",
		.m_methods = functions,
		.m_slots = slots,
	};

	return PyModuleDef_Init(&definition);
}
