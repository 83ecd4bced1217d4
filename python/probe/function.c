/*
 * What hybrid.region makes of the functions that it decorates, when the run is
 * measured. Both types are visited by the collector but not cleared by it: a
 * cycle through them goes through the function or generator, which is.
 */
#include "probe.h"

static PyObject *new_reference(PyObject *object)
{
	Py_INCREF(object);
	return object;
}

static void free_collected(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_Del(self);
	Py_DECREF(type);
}

static int check_region(PyObject *object)
{
	return region_check(object) ? 0 : wrong_type("the first argument", "a region", object);
}

/* ------------------------------------------------------------- functions */

/* Callable as the function; and a descriptor, so that a method becomes one. */
struct function {
	PyObject ob_base;
	struct region *region;
	PyObject *function;
	PyObject *method_type; /* types.MethodType, for which the limited API has no name */
};

static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	PyObject *region, *function, *method_type;
	struct function *self;

	if (!PyArg_ParseTuple(args, "OOO:Function", &region, &function, &method_type) || check_region(region))
		return NULL;
	self = (struct function *)PyType_GenericAlloc(type, 0);
	if (!self)
		return NULL;
	self->region = (struct region *)new_reference(region);
	self->function = new_reference(function);
	self->method_type = new_reference(method_type);
	return (PyObject *)self;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(((struct function *)self)->function);
	return 0;
}

static void function_dealloc(PyObject *self)
{
	struct function *f = (struct function *)self;

	PyObject_GC_UnTrack(self);
	Py_DECREF((PyObject *)f->region);
	Py_DECREF(f->function);
	Py_DECREF(f->method_type);
	free_collected(self);
}

static PyObject *function_call(PyObject *self, PyObject *args, PyObject *keywords)
{
	struct function *f = (struct function *)self;
	PyObject *result;

	hybrid_enter(&f->region->region);
	result = PyObject_Call(f->function, args, keywords);
	hybrid_leave(&f->region->region);
	return result;
}

static PyObject *function_get(PyObject *self, PyObject *object, PyObject *owner)
{
	if (!object || object == Py_None)
		return new_reference(self);
	return PyObject_CallFunctionObjArgs(((struct function *)self)->method_type, self, object, NULL);
}

PyObject *function_type(void)
{
	PyType_Slot slots[] = {
		{Py_tp_doc, (void *)"Function(region, function, types.MethodType)\n--\n\nA function in a "
				    "region."},
		{Py_tp_new, function_new},
		{Py_tp_dealloc, function_dealloc},
		{Py_tp_traverse, function_traverse},
		{Py_tp_call, function_call},
		{Py_tp_descr_get, function_get},
		{0, NULL},
	};
	PyType_Spec spec = {"hybrid._probe.Function", sizeof(struct function), 0,
		Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots};

	return PyType_FromSpec(&spec);
}

/* ----------------------------------------------------------------- steps */

/* A coroutine or generator, as `await` and `yield from` see it: in the region at each step. */
struct steps {
	PyObject ob_base;
	struct region *region;
	PyObject *inner;
	PyObject *send; /* its method */
};

static PyObject *steps_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	PyObject *region, *inner, *send;
	struct steps *self;

	if (!PyArg_ParseTuple(args, "OO:Steps", &region, &inner) || check_region(region))
		return NULL;
	send = PyObject_GetAttrString(inner, "send");
	if (!send)
		return NULL;
	self = (struct steps *)PyType_GenericAlloc(type, 0);
	if (!self) {
		Py_DECREF(send);
		return NULL;
	}
	self->region = (struct region *)new_reference(region);
	self->inner = new_reference(inner);
	self->send = send;
	return (PyObject *)self;
}

static int steps_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(((struct steps *)self)->inner);
	Py_VISIT(((struct steps *)self)->send);
	return 0;
}

static void steps_dealloc(PyObject *self)
{
	struct steps *s = (struct steps *)self;

	PyObject_GC_UnTrack(self);
	Py_DECREF((PyObject *)s->region);
	Py_DECREF(s->send);
	Py_DECREF(s->inner);
	free_collected(self);
}

static PyObject *steps_send(PyObject *self, PyObject *value)
{
	struct steps *s = (struct steps *)self;
	PyObject *result;

	hybrid_enter(&s->region->region);
	result = PyObject_CallFunctionObjArgs(s->send, value, NULL);
	hybrid_leave(&s->region->region);
	return result;
}

static PyObject *steps_next(PyObject *self)
{
	return steps_send(self, Py_None);
}

static PyObject *step_by(PyObject *self, const char *name, PyObject *args)
{
	struct steps *s = (struct steps *)self;
	PyObject *method = PyObject_GetAttrString(s->inner, name), *result;

	if (!method)
		return NULL;
	hybrid_enter(&s->region->region);
	result = PyObject_CallObject(method, args);
	hybrid_leave(&s->region->region);
	Py_DECREF(method);
	return result;
}

static PyObject *steps_throw(PyObject *self, PyObject *args)
{
	return step_by(self, "throw", args);
}

static PyObject *steps_close(PyObject *self, PyObject *none)
{
	return step_by(self, "close", NULL);
}

PyObject *steps_type(void)
{
	static PyMethodDef methods[] = {
		{"send", steps_send, METH_O, "Goes on with a value."},
		{"throw", steps_throw, METH_VARARGS, "Goes on with an exception."},
		{"close", steps_close, METH_NOARGS, "Ends it."},
		{NULL, NULL, 0, NULL},
	};
	PyType_Slot slots[] = {
		{Py_tp_doc, (void *)"Steps(region, inner)\n--\n\nA coroutine or generator in a region."},
		{Py_tp_new, steps_new},
		{Py_tp_dealloc, steps_dealloc},
		{Py_tp_traverse, steps_traverse},
		{Py_tp_iter, new_reference},
		{Py_tp_iternext, steps_next},
		{Py_am_await, new_reference},
		{Py_tp_methods, methods},
		{0, NULL},
	};
	PyType_Spec spec = {"hybrid._probe.Steps", sizeof(struct steps), 0,
		Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

	return PyType_FromSpec(&spec);
}
