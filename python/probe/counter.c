/* hybrid.counter: values over time. */
#include <math.h>

#include "probe.h"

static const char doc[] =
	"counter(name, unit=\"\")\n--\n\n"
	"A value over time; each is recorded in the trace with the moment and the thread.\n\n"
	"    residual = hybrid.counter(\"residual\")\n"
	"    received = hybrid.counter(\"received\", \"bytes\")\n"
	"    residual.set(1e-3)\n"
	"    received.count(len(message))\n\n"
	"There is one counter of a name and unit, however often it is asked for. Integers\n"
	"of 64 bits are kept exactly, all else as a double.";

struct value {
	int is_real;
	int64_t integer;
	double real;
};

struct counter {
	PyObject ob_base;
	struct hybrid_counter integers, reals; /* same name and unit: a definition has one type */
	struct value total; /* what count() adds to */
	PyObject *name, *unit; /* str */
	PyObject *name_text, *unit_text; /* bytes; NULL when not measured */
};

static int measure(struct counter *counter)
{
	counter->name_text = text_bytes(counter->name);
	counter->unit_text = text_bytes(counter->unit);
	if (!counter->name_text || !counter->unit_text)
		return -1;
	counter->integers.name = PyBytes_AsString(counter->name_text);
	counter->integers.unit = PyBytes_AsString(counter->unit_text);
	counter->reals = counter->integers;
	return 0;
}

static PyObject *make(PyTypeObject *type, PyObject *name, PyObject *unit)
{
	struct counter *counter = (struct counter *)PyType_GenericAlloc(type, 0);

	if (!counter)
		return NULL;
	Py_INCREF(name);
	Py_INCREF(unit);
	counter->name = name;
	counter->unit = unit;
	if (hybrid_measured() && measure(counter)) {
		Py_DECREF((PyObject *)counter);
		return NULL;
	}
	return (PyObject *)counter;
}

/* The one of this name and unit: made anew each time it would be defined anew in the file each time. */
static PyObject *find_or_make(PyTypeObject *type, PyObject *name, PyObject *unit)
{
	PyObject *made = PyObject_GetAttrString((PyObject *)type, "_made");
	PyObject *key = made ? PyTuple_Pack(2, name, unit) : NULL;
	PyObject *counter = key ? PyDict_GetItemWithError(made, key) : NULL;

	Py_XINCREF(counter);
	if (key && !counter && !PyErr_Occurred()) {
		counter = make(type, name, unit);
		if (counter && PyDict_SetItem(made, key, counter))
			Py_CLEAR(counter);
	}
	Py_XDECREF(key);
	Py_XDECREF(made);
	return counter;
}

static PyObject *counter_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"name", "unit", NULL};
	PyObject *name, *unit = NULL, *counter;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:counter", names, &name, &unit))
		return NULL;
	if (want_text("the name of a counter", name) || (unit && want_text("the unit of a counter", unit)))
		return NULL;
	if (unit)
		return find_or_make(type, name, unit);
	unit = PyUnicode_FromString("");
	counter = unit ? find_or_make(type, name, unit) : NULL;
	Py_XDECREF(unit);
	return counter;
}

static void counter_dealloc(PyObject *self)
{
	struct counter *counter = (struct counter *)self;
	PyTypeObject *type = Py_TYPE(self);

	Py_XDECREF(counter->name);
	Py_XDECREF(counter->unit);
	Py_XDECREF(counter->name_text);
	Py_XDECREF(counter->unit_text);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* Beyond the range of a double: infinite. */
static int integer_value(PyObject *integer, struct value *ret)
{
	int overflow;

	*ret = (struct value){.integer = PyLong_AsLongLongAndOverflow(integer, &overflow)};
	if (!overflow)
		return ret->integer == -1 && PyErr_Occurred() ? -1 : 0;
	*ret = (struct value){.is_real = 1, .real = PyLong_AsDouble(integer)};
	if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError)) {
		PyErr_Clear();
		ret->real = overflow * (double)INFINITY;
	}
	return PyErr_Occurred() ? -1 : 0;
}

static int any_value(PyObject *object, struct value *ret)
{
	PyObject *integer;
	int error;

	if (PyFloat_Check(object)) {
		*ret = (struct value){.is_real = 1, .real = PyFloat_AsDouble(object)};
		return 0;
	}
	if (PyLong_Check(object))
		return integer_value(object, ret);
	if (!PyIndex_Check(object)) { /* as of NumPy, decimal, fractions */
		*ret = (struct value){.is_real = 1, .real = PyFloat_AsDouble(object)};
		if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError))
			return wrong_type("the value of a counter", "an int or a float", object);
		return PyErr_Occurred() ? -1 : 0;
	}
	integer = PyNumber_Index(object);
	error = integer ? integer_value(integer, ret) : -1;
	Py_XDECREF(integer);
	return error;
}

static PyObject *record(struct counter *counter, struct value value)
{
	counter->total = value;
	if (value.is_real)
		hybrid_count_real(&counter->reals, value.real);
	else
		hybrid_count(&counter->integers, value.integer);
	Py_RETURN_NONE;
}

static PyObject *counter_set(PyObject *self, PyObject *object)
{
	struct value value;

	if (any_value(object, &value))
		return NULL;
	return record((struct counter *)self, value);
}

static struct value sum(struct value a, struct value b)
{
	struct value result = {0};

	if (!a.is_real && !b.is_real && !__builtin_add_overflow(a.integer, b.integer, &result.integer))
		return result;
	return (struct value){.is_real = 1,
		.real = (a.is_real ? a.real : (double)a.integer) + (b.is_real ? b.real : (double)b.integer)};
}

static PyObject *counter_count(PyObject *self, PyObject *args)
{
	struct counter *counter = (struct counter *)self;
	struct value value = {.integer = 1};
	PyObject *object = NULL;

	if (!PyArg_ParseTuple(args, "|O:count", &object) || (object && any_value(object, &value)))
		return NULL;
	return record(counter, sum(counter->total, value));
}

static PyObject *counter_repr(PyObject *self)
{
	struct counter *counter = (struct counter *)self;

	return PyUnicode_FromFormat("hybrid.counter(%R, %R)", counter->name, counter->unit);
}

static PyObject *counter_text(PyObject *self, void *unit)
{
	struct counter *counter = (struct counter *)self;
	PyObject *text = unit ? counter->unit : counter->name;

	Py_INCREF(text);
	return text;
}

PyObject *counter_type(void)
{
	static PyMethodDef methods[] = {
		{"set", counter_set, METH_O, "set($self, value, /)\n--\n\nThe value is this from now on."},
		{"count", counter_count, METH_VARARGS,
			"count($self, more=1, /)\n--\n\nThe value is so much more (or less) than before; it "
			"begins "
			"at 0."},
		{NULL, NULL, 0, NULL},
	};
	static PyGetSetDef attributes[] = {
		{"name", counter_text, NULL, "Its name.", NULL},
		{"unit", counter_text, NULL, "Its unit, or \"\".", (void *)doc},
		{NULL, NULL, NULL, NULL, NULL},
	};
	PyType_Slot slots[] = {
		{Py_tp_doc, (void *)doc},
		{Py_tp_new, counter_new},
		{Py_tp_dealloc, counter_dealloc},
		{Py_tp_repr, counter_repr},
		{Py_tp_methods, methods},
		{Py_tp_getset, attributes},
		{0, NULL},
	};
	PyType_Spec spec = {"hybrid.counter", sizeof(struct counter), 0, Py_TPFLAGS_DEFAULT, slots};

	PyObject *type = PyType_FromSpec(&spec), *made = PyDict_New();

	if (!type || !made || PyObject_SetAttrString(type, "_made", made))
		Py_CLEAR(type);
	Py_XDECREF(made);
	return type;
}
