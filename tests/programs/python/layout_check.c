/*
 * Prints the offsets that src/runtime/python/layout_*.c write down as numbers, taken
 * from the headers of the interpreter that it is compiled with: "member value" lines.
 */
#define Py_BUILD_CORE 1
#include <Python.h>

#include <frameobject.h>

#if PY_VERSION_HEX >= 0x03090000
#include <internal/pycore_interp.h>
#else
#include <internal/pycore_pystate.h>
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_dict.h>
#include <internal/pycore_frame.h>
#endif
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define AT(name, type, member) printf("%s %zu\n", name, offsetof(type, member))
#define IS(name, value) printf("%s %ld\n", name, (long)(value))

#if PY_VERSION_HEX >= 0x030c0000
static unsigned active_flag(void)
{
	static PyThreadState state;
	unsigned flags;

	state._status.active = 1;
	memcpy(&flags, &state._status, sizeof(flags));
	return flags;
}
#endif

static void print_thread(void)
{
	AT("thread.interp", PyThreadState, interp);
	AT("thread.thread_id", PyThreadState, thread_id);
#if PY_VERSION_HEX >= 0x030c0000
	AT("thread.status", PyThreadState, _status);
	IS("thread.status.active", active_flag());
	AT("thread.next", PyThreadState, next);
	AT("thread.c_recursion", PyThreadState, c_recursion_remaining);
#endif
#if PY_VERSION_HEX >= 0x030b0000
	AT("thread.stack_chunk", PyThreadState, datastack_chunk);
	AT("thread.stack_top", PyThreadState, datastack_top);
	AT("chunk.previous", _PyStackChunk, previous);
	AT("chunk.size", _PyStackChunk, size);
	AT("chunk.data", _PyStackChunk, data);
#endif
#if PY_VERSION_HEX >= 0x030d0000
	AT("thread.frame", PyThreadState, current_frame);
#elif PY_VERSION_HEX >= 0x030b0000
	AT("thread.cframe", PyThreadState, cframe);
	AT("cframe.frame", _PyCFrame, current_frame);
	AT("cframe.previous", _PyCFrame, previous);
#else
	AT("thread.frame", PyThreadState, frame);
#endif
}

#if PY_VERSION_HEX >= 0x030b0000
static void print_frame(void)
{
	AT("frame.size", _PyInterpreterFrame, localsplus);
	AT("frame.locals", _PyInterpreterFrame, localsplus);
	AT("frame.previous", _PyInterpreterFrame, previous);
	AT("frame.owner", _PyInterpreterFrame, owner);
#if PY_VERSION_HEX >= 0x030d0000
	AT("frame.code", _PyInterpreterFrame, f_executable);
	AT("frame.instruction", _PyInterpreterFrame, instr_ptr);
#else
	AT("frame.code", _PyInterpreterFrame, f_code);
	AT("frame.instruction", _PyInterpreterFrame, prev_instr);
#endif
#if PY_VERSION_HEX < 0x030c0000
	AT("frame.is_entry", _PyInterpreterFrame, is_entry);
#endif
	IS("generator.state_before",
		offsetof(PyGenObject, gi_iframe) - offsetof(PyGenObject, gi_frame_state));
	IS("generator.suspended_min", FRAME_SUSPENDED);
#if PY_VERSION_HEX >= 0x030d0000
	IS("generator.suspended_max", FRAME_SUSPENDED_YIELD_FROM);
#else
	IS("generator.suspended_max", FRAME_SUSPENDED);
#endif
}
#else
static void print_frame(void)
{
	IS("frame.size", offsetof(PyFrameObject, f_lasti) + sizeof(int));
	AT("frame.locals", PyFrameObject, f_localsplus);
	AT("frame.previous", PyFrameObject, f_back);
	AT("frame.code", PyFrameObject, f_code);
	AT("frame.instruction", PyFrameObject, f_lasti);
#if PY_VERSION_HEX >= 0x030a0000
	AT("generator.state", PyFrameObject, f_state);
	IS("generator.suspended_min", FRAME_SUSPENDED);
	IS("generator.suspended_max", FRAME_SUSPENDED);
#else
	AT("generator.stack_top", PyFrameObject, f_stacktop);
#endif
}
#endif

static void print_code(void)
{
	AT("code.name", PyCodeObject, co_name);
	AT("code.filename", PyCodeObject, co_filename);
	AT("code.first_line", PyCodeObject, co_firstlineno);
	AT("code.flags", PyCodeObject, co_flags);
	AT("code.extra", PyCodeObject, co_extra);
#if PY_VERSION_HEX >= 0x030a0000
	AT("code.lines", PyCodeObject, co_linetable);
#else
	AT("code.lines", PyCodeObject, co_lnotab);
#endif
#if PY_VERSION_HEX >= 0x030b0000
	AT("code.size", PyCodeObject, co_code_adaptive);
	AT("code.qualname", PyCodeObject, co_qualname);
	AT("code.instructions", PyCodeObject, co_code_adaptive);
#else
	IS("code.size", sizeof(PyCodeObject));
#endif
}

static void print_objects(void)
{
	AT("object.type", PyObject, ob_type);
	AT("object.type_size", PyTypeObject, tp_basicsize);
	AT("object.bytes_length", PyBytesObject, ob_base.ob_size);
	AT("object.bytes_data", PyBytesObject, ob_sval);
	AT("object.string_length", PyASCIIObject, length);
	AT("object.string_state", PyASCIIObject, state);
	IS("object.string_ascii", sizeof(PyASCIIObject));
	IS("object.string_other", sizeof(PyCompactUnicodeObject));
}

static void print_attributes(void)
{
	AT("attribute.flags", PyTypeObject, tp_flags);
	AT("attribute.dict_offset", PyTypeObject, tp_dictoffset);
	AT("attribute.cached_keys", PyHeapTypeObject, ht_cached_keys);
	AT("attribute.keys", PyDictObject, ma_keys);
	AT("attribute.values", PyDictObject, ma_values);
#if PY_VERSION_HEX >= 0x030b0000
	AT("attribute.value", PyDictValues, values);
	AT("attribute.index_size", PyDictKeysObject, dk_log2_index_bytes);
	AT("attribute.kind", PyDictKeysObject, dk_kind);
	AT("attribute.count", PyDictKeysObject, dk_nentries);
	AT("attribute.index", PyDictKeysObject, dk_indices);
#else /* Objects/dict-common.h, which is installed nowhere: dk_refcnt, dk_size, dk_lookup, dk_usable, ... */
	IS("attribute.size", 8);
	IS("attribute.count", 32);
	IS("attribute.index", 40);
#endif
}

int main(void)
{
	IS("version", PY_MAJOR_VERSION << 8 | PY_MINOR_VERSION);
	print_thread();
	print_frame();
	print_code();
	print_objects();
	print_attributes();
#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030d0000
	AT("interp_threads", PyInterpreterState, threads.head);
#endif
#if PY_VERSION_HEX < 0x03090000
	AT("interp_eval_frame", PyInterpreterState, eval_frame);
#endif
	return 0;
}
