/* hybrid.region: a context manager without a Python frame of its own. */
#include "probe.h"

/* So since 3.7, but in the limited API from 3.10 on only. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

static const char doc[] = "region(name)\n--\n\n"
			  "A named stretch of the program: its calls and times are measured exactly.\n\n"
			  "    with hybrid.region(\"solve\"):\n"
			  "        ...\n\n"
			  "    @hybrid.region(\"solve\")\n"
			  "    def solve(grid):\n"
			  "        ...\n\n"
			  "The region carries the file and line where it was made. It may be made once and\n"
			  "used often, nested, and by several threads at once. As a decorator it takes\n"
			  "functions, coroutine functions and generators: the latter two are in the region\n"
			  "whenever they run, not while they wait. A `with` must not hold an await or a\n"
			  "yield: other code of the thread would run inside.";

static PyObject *attribute(PyObject *object, const char *name)
{
	PyObject *value = object ? PyObject_GetAttrString(object, name) : NULL;

	Py_XDECREF(object);
	return value;
}

/* File and line of the frame that makes the region; none if no Python frame does. */
static int find_place(struct region *region)
{
	PyObject *frame = (PyObject *)PyEval_GetFrame(), *line, *file;

	if (!frame)
		return 0;
	line = PyObject_GetAttrString(frame, "f_lineno");
	file = attribute(PyObject_GetAttrString(frame, "f_code"), "co_filename");
	if (line && PyLong_Check(line))
		region->region.line = (uint32_t)PyLong_AsUnsignedLongMask(line);
	if (file && PyUnicode_Check(file))
		region->file_text = PyUnicode_EncodeFSDefault(file);
	Py_XDECREF(line);
	Py_XDECREF(file);
	if (region->file_text)
		region->region.file = PyBytes_AsString(region->file_text);
	return PyErr_Occurred() ? -1 : 0;
}

static int measure(struct region *region)
{
	region->name_text = text_bytes(region->name);
	if (!region->name_text)
		return -1;
	region->region = (struct hybrid_region){
		.name = PyBytes_AsString(region->name_text), .file = "", .kind = HYBRID_USER};
	return find_place(region);
}

static PyObject *region_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"name", NULL};
	struct region *region;
	PyObject *name;

	/* The parser is slower than all the rest. */
	if (!keywords && PyTuple_Size(args) == 1)
		name = PyTuple_GetItem(args, 0);
	else if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:region", names, &name))
		return NULL;
	if (want_text("the name of a region", name))
		return NULL;
	region = (struct region *)PyType_GenericAlloc(type, 0);
	if (!region)
		return NULL;
	Py_INCREF(name);
	region->name = name;
	if (hybrid_measured() && measure(region)) {
		Py_DECREF(region);
		return NULL;
	}
	return (PyObject *)region;
}

/* No type can be derived from region. */
int region_check(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	return (PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) &&
	       PyType_GetSlot(type, Py_tp_new) == (void *)region_new;
}

static void region_dealloc(PyObject *self)
{
	struct region *region = (struct region *)self;
	PyTypeObject *type = Py_TYPE(self);

	Py_XDECREF(region->name);
	Py_XDECREF(region->name_text);
	Py_XDECREF(region->file_text);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *enter(PyObject *self, PyObject *none)
{
	region_enter_frame((struct region *)self);
	Py_RETURN_NONE;
}

static PyObject *leave(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	hybrid_leave(&((struct region *)self)->region);
	Py_RETURN_NONE;
}

static PyObject *enter_nothing(PyObject *self, PyObject *none)
{
	Py_RETURN_NONE;
}

static PyObject *leave_nothing(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	Py_RETURN_NONE;
}

/* What is done when the run is measured happens once for each function, and is written in Python. */
static PyObject *decorate(PyObject *region, PyObject *function)
{
	PyObject *module = PyImport_ImportModule("hybrid._decorate"), *result;

	if (!module)
		return NULL;
	result = PyObject_CallMethod(module, "decorate", "OO", region, function);
	Py_DECREF(module);
	return result;
}

static PyObject *region_call(PyObject *self, PyObject *args, PyObject *keywords)
{
	PyObject *function;

	if (keywords || PyTuple_Size(args) != 1)
		return PyErr_Format(PyExc_TypeError, "a region decorates one function");
	function = PyTuple_GetItem(args, 0);
	if (!PyCallable_Check(function) || PyType_Check(function)) {
		wrong_type("what a region decorates", "a function", function);
		return NULL;
	}
	if (hybrid_measured())
		return decorate(self, function);
	Py_INCREF(function);
	return function;
}

static PyObject *region_repr(PyObject *self)
{
	return PyUnicode_FromFormat("hybrid.region(%R)", ((struct region *)self)->name);
}

static PyObject *region_name(PyObject *self, void *closure)
{
	PyObject *name = ((struct region *)self)->name;

	Py_INCREF(name);
	return name;
}

PyObject *region_type(void)
{
	static PyMethodDef methods[] = {
		{"__enter__", enter, METH_NOARGS, "Enters the region."},
		{"__exit__", (PyCFunction)(void (*)(void))leave, METH_FASTCALL,
			"Leaves the region; exceptions pass."},
		{NULL, NULL, 0, NULL},
	};
	/* Nothing is bound to its object: that would take longer than the call. */
	static PyMethodDef nothing[] = {
		{"__enter__", enter_nothing, METH_NOARGS | METH_STATIC, "Nothing: the run is not measured."},
		{"__exit__", (PyCFunction)(void (*)(void))leave_nothing, METH_FASTCALL | METH_STATIC,
			"Nothing: the run is not measured."},
		{NULL, NULL, 0, NULL},
	};
	static PyGetSetDef attributes[] = {
		{"name", region_name, NULL, "Its name.", NULL},
		{NULL, NULL, NULL, NULL, NULL},
	};
	PyType_Slot slots[] = {
		{Py_tp_doc, (void *)doc},
		{Py_tp_new, region_new},
		{Py_tp_dealloc, region_dealloc},
		{Py_tp_call, region_call},
		{Py_tp_repr, region_repr},
		{Py_tp_methods, hybrid_measured() ? methods : nothing},
		{Py_tp_getset, attributes},
		{0, NULL},
	};
	PyType_Spec spec = {"hybrid.region", sizeof(struct region), 0, Py_TPFLAGS_DEFAULT, slots};

	return PyType_FromSpec(&spec);
}
