#include <string.h>

#include "format/words.h"
#include "profile/profile.h"

#include "experiment.h"

PyObject *raise_error(struct state *state, const struct hyb_error *error)
{
	PyObject *message;

	if (error->code == HYB_ENOMEM)
		return PyErr_NoMemory();
	message = text(error->text);
	if (message)
		PyErr_SetObject(state->error, message);
	Py_XDECREF(message);
	return NULL;
}

PyObject *text(const char *string)
{
	return PyUnicode_DecodeUTF8(string, (Py_ssize_t)strlen(string), "replace");
}

PyObject *cached_text(PyObject *cache, const char *string)
{
	PyObject *key = PyLong_FromVoidPtr((void *)string), *result = NULL;

	if (!key)
		return NULL;
	result = PyDict_GetItemWithError(cache, key);
	Py_XINCREF(result);
	if (!result && !PyErr_Occurred()) {
		result = text(string);
		if (result && PyDict_SetItem(cache, key, result))
			Py_CLEAR(result);
	}
	Py_DECREF(key);
	return result;
}

void dict_add(PyObject **dict, PyObject *key, PyObject *value)
{
	if (!key || !value || PyDict_SetItem(*dict, key, value))
		Py_CLEAR(*dict);
	Py_XDECREF(key);
	Py_XDECREF(value);
}

void list_add(PyObject **list, PyObject *value)
{
	if (!value || PyList_Append(*list, value))
		Py_CLEAR(*list);
	Py_XDECREF(value);
}

PyObject *metric_values(const struct hyb_process *process, const int64_t *values)
{
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < process->metric_count; i++)
		dict_add(&dict, text(process->metrics[i].name), PyLong_FromLongLong(values[i]));
	return dict;
}

PyObject *kind(PyObject *const *kinds, unsigned number)
{
	PyObject *result = kinds[number < KINDS ? number : 0];

	Py_INCREF(result);
	return result;
}

PyObject *sequence_type(const char *name, const char *doc, PyStructSequence_Field *fields)
{
	PyStructSequence_Desc description = {name, doc, fields, 0};
	PyObject *type, *names;

	while (fields[description.n_in_sequence].name)
		description.n_in_sequence++;
	type = (PyObject *)PyStructSequence_NewType(&description);
	names = type ? PyTuple_New(description.n_in_sequence) : NULL;
	for (int i = 0; names && i < description.n_in_sequence; i++) {
		PyObject *field = PyUnicode_InternFromString(fields[i].name);

		if (!field)
			Py_CLEAR(names);
		else
			PyTuple_SetItem(names, i, field);
	}
	if (!names || PyObject_SetAttrString(type, "_fields", names))
		Py_CLEAR(type);
	Py_XDECREF(names);
	return type;
}

static PyObject *open_path(PyObject *module, PyObject *args)
{
	struct state *state = PyModule_GetState(module);
	struct hyb_experiment *handle = NULL;
	struct experiment *experiment;
	struct hyb_error error;
	const char *bytes;
	PyObject *path;
	int r;

	if (!PyArg_ParseTuple(args, "O&:open", PyUnicode_FSConverter, &path))
		return NULL;
	bytes = PyBytes_AsString(path);
	Py_BEGIN_ALLOW_THREADS;
	r = hyb_experiment_open(bytes, &handle, &error);
	Py_END_ALLOW_THREADS;
	Py_DECREF(path);
	if (r)
		return raise_error(state, &error);
	experiment = (struct experiment *)PyType_GenericAlloc((PyTypeObject *)state->experiment_type, 0);
	if (!experiment) {
		hyb_experiment_close(handle);
		return NULL;
	}
	Py_INCREF(module);
	experiment->module = module;
	experiment->state = state;
	experiment->handle = handle;
	return (PyObject *)experiment;
}

/* ----------------------------------------------------------------- module */

static int make_words(PyObject **ret, const struct words *words)
{
	for (size_t i = 0; i < KINDS; i++) {
		ret[i] = PyUnicode_InternFromString(word_key(words, i));
		if (!ret[i])
			return -1;
	}
	return 0;
}

static int make_kinds(struct state *state)
{
	return make_words(state->node_kinds, &words_node) || make_words(state->event_kinds, &words_event) ||
			       make_words(state->row_kinds, &profile_kind_words) ||
			       make_words(state->message_kinds, &words_message) ||
			       make_words(state->collectives, &words_collective)
		       ? -1
		       : 0;
}

static int add(PyObject *module, const char *name, PyObject *object)
{
	return object ? PyObject_SetAttrString(module, name, object) : -1;
}

static int module_exec(PyObject *module)
{
	struct state *state = PyModule_GetState(module);

	state->error = PyErr_NewExceptionWithDoc("hybrid.Error",
		"An experiment cannot be read; the text names the file and the reason.", NULL, NULL);
	state->experiment_type = experiment_type();
	state->events_type = events_type();
	state->node_type = node_type();
	state->event_type = event_type();
	state->row_type = row_type();
	return make_kinds(state) || add(module, "Error", state->error) ||
			       add(module, "Experiment", state->experiment_type) ||
			       add(module, "Events", state->events_type) ||
			       add(module, "Node", state->node_type) ||
			       add(module, "Event", state->event_type) || add(module, "Row", state->row_type)
		       ? -1
		       : 0;
}

/* All objects of a module's state: it has no other members. */
#define STATE_OBJECTS (sizeof(struct state) / sizeof(PyObject *))

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
	PyObject **objects = PyModule_GetState(module);

	for (size_t i = 0; objects && i < STATE_OBJECTS; i++)
		Py_VISIT(objects[i]);
	return 0;
}

static int module_clear(PyObject *module)
{
	PyObject **objects = PyModule_GetState(module);

	for (size_t i = 0; objects && i < STATE_OBJECTS; i++)
		Py_CLEAR(objects[i]);
	return 0;
}

static void module_free(void *module)
{
	module_clear(module);
}

PyMODINIT_FUNC PyInit__reader(void);

PyMODINIT_FUNC PyInit__reader(void)
{
	static PyMethodDef functions[] = {
		{"open", open_path, METH_VARARGS, NULL},
		{NULL, NULL, 0, NULL},
	};
	static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};
	static PyModuleDef definition = {
		PyModuleDef_HEAD_INIT,
		.m_name = "hybrid._reader",
		.m_doc = "Experiments, for hybrid._experiment.",
		.m_size = sizeof(struct state),
		.m_methods = functions,
		.m_slots = slots,
		.m_traverse = module_traverse,
		.m_clear = module_clear,
		.m_free = module_free,
	};

	return PyModuleDef_Init(&definition);
}
