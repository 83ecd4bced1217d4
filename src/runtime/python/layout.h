/*
 * Where CPython keeps what the sampler reads: offsets in bytes into the
 * interpreter's structures, one table for each minor version. They are those
 * of release builds, which all builds of a minor version share (the ABI of its
 * structures is frozen by the first release candidate as far as we read them).
 * What differs from them is noticed: see python_layout_fits().
 */
#ifndef HYB_PYTHON_LAYOUT_H
#define HYB_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the frames of a thread hang together. */
enum python_chain {
	PYTHON_FRAME_OBJECTS, /* 3.8 to 3.10: objects; each has an evaluation of its own on the C stack */
	PYTHON_ENTRY_FLAGS, /* 3.11: an evaluation runs the frames up to the one marked as its first */
	PYTHON_SHIMS, /* 3.12 and later: a shim frame inside the evaluation's C frame ends its frames */
};

/* Where an object of a Python class has its attributes. */
enum python_attributes {
	PYTHON_DICT, /* up to 3.10: in the dict at its type's tp_dictoffset */
	PYTHON_VALUES_BEFORE, /* 3.11: as PYTHON_DICT_BEFORE, or values alone in the word before that one */
	PYTHON_DICT_BEFORE, /* 3.12: the third word before it is a dict, or values less 1 */
	PYTHON_VALUES_BEHIND, /* 3.13: the third word before it is a dict; NULL: values are behind the object
			       */
};

/* How a frame stores its instruction. */
enum python_instruction {
	PYTHON_OFFSET_BYTES, /* int, bytes from the first; -1: not begun */
	PYTHON_OFFSET_UNITS, /* int, units of two bytes */
	PYTHON_POINTER, /* address, in the code object behind `code.instructions` */
};

#define PYTHON_STATE_ACTIVE 0x10 /* thread.status: runs now */
#define PYTHON_OWNED_BY_GENERATOR 1 /* frame.owner */
#define PYTHON_OWNED_BY_C_STACK 3 /* frame.owner of a shim */

struct python_layout {
	uint16_t version; /* major << 8 | minor */
	uint8_t chain; /* enum python_chain */
	uint8_t instruction; /* enum python_instruction */
	uint8_t lines; /* enum python_lines: format of the code object's line table */
	uint8_t attributes; /* enum python_attributes */
	struct {
		uint16_t interp, thread_id;
		uint16_t next; /* of the same interpreter */
		uint16_t status; /* flags; 0: which state runs now is the result of a function that may be
				    called anywhere */
		uint16_t c_recursion; /* int, evaluations that may still be nested on the C stack; 0: none */
		uint16_t frame; /* innermost frame; 0: there is a cframe */
		uint16_t cframe; /* 0: none */
		uint16_t stack_chunk; /* chunk of the data stack in use; 0: frames are objects */
		uint16_t stack_top; /* first free byte of it */
	} thread; /* PyThreadState */
	struct {
		uint16_t frame, previous;
	} cframe; /* _PyCFrame, on the C stack of its evaluation */
	struct {
		uint16_t previous, size, data;
	} chunk; /* _PyStackChunk */
	struct {
		uint16_t size; /* bytes that are read of a frame */
		uint16_t code, previous, instruction;
		uint16_t owner; /* char; 0: frames are objects */
		uint16_t is_entry; /* PYTHON_ENTRY_FLAGS: bool */
		uint16_t locals; /* pointers to objects: arguments, then local variables */
	} frame; /* PyFrameObject or _PyInterpreterFrame */
	/*
	 * Whether a generator or coroutine whose evaluation has ended may go on later. The first of these
	 * that is not 0 is the place of that state.
	 */
	struct {
		uint16_t stack_top; /* 3.8, 3.9: pointer in the frame, not NULL if suspended */
		uint16_t state; /* 3.10: int8_t in the frame */
		uint16_t state_before; /* later: int8_t so many bytes before the frame */
		int8_t suspended_min, suspended_max; /* states between them: suspended */
	} generator;
	struct {
		uint16_t size; /* tp_basicsize of PyCode_Type */
		uint16_t name, qualname /* 0: none */, filename, first_line, flags;
		uint16_t lines; /* bytes object: co_lnotab or co_linetable */
		uint16_t extra; /* pointer to a count, then that many words of tools */
		uint16_t instructions; /* PYTHON_POINTER: where they begin in the object */
	} code; /* PyCodeObject */
	struct {
		uint16_t type; /* ob_type of any object */
		uint16_t type_size; /* tp_basicsize of a type */
		uint16_t bytes_length, bytes_data;
		uint16_t string_length, string_state;
		uint16_t string_ascii, string_other; /* data of compact strings */
	} object;
	/* 3.12 and later: opcodes of f(*arguments), also while events are watched, and of x[i] */
	uint8_t passed_on[3];
	uint16_t interp_threads; /* 3.12: see python_layout_threads() */
	struct {
		uint16_t flags, dict_offset; /* of a type */
		uint16_t cached_keys; /* of a type: keys of values that are in no dict */
		uint16_t keys, values; /* of a dict; values NULL: beside the keys */
		uint16_t value; /* of values: the first */
		uint16_t index_size; /* of keys: char, log2 of the bytes of their index; 0: made of `size` */
		uint16_t size; /* of keys: slots of the index */
		uint16_t kind; /* of keys: char, not 0 if entries have no hash; 0: all have one */
		uint16_t count, index; /* of keys: entries in use; the index, then entries */
	} attribute;
	/* 3.8: pointer to function in PyInterpreterState; 0: set by an exported function. The only offset
	 * here that patch releases may move: use it only where it holds _PyEval_EvalFrameDefault. */
	uint16_t interp_eval_frame;
};

/* Of all versions that are known. */
extern const struct python_layout python_layouts[];
extern const size_t python_layout_count;

/* The layout of a version (major << 8 | minor), NULL if it is not known. */
const struct python_layout *python_layout_of(unsigned version);

/*
 * Where an interpreter (PyInterpreterState) has the first of its thread states; 0: not known. From 3.12 on:
 * before, the thread's own state is that of the first interpreter. `runtime` as below.
 */
size_t python_layout_threads(const struct python_layout *layout, const void *runtime);

/*
 * Whether an interpreter fits its version's layout: the sizes of its code type, and (3.13 and later) the
 * offsets that it publishes at the start of _PyRuntime, which also show a free-threaded build. `code_type` is
 * the address of PyCode_Type, `runtime` that of _PyRuntime. Reads static data of a loaded library only.
 */
bool python_layout_fits(const struct python_layout *layout, const void *code_type, const void *runtime);

#endif
