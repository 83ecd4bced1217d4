/*
 * The layouts of CPython's versions: of Include/cpython/frameobject.h, pystate.h and code.h (3.8 to 3.10), of
 * Include/internal/pycore_frame.h, cpython/pystate.h and code.h (later). What several have in common comes
 * first.
 */
#include "layout.h"
#include "lines.h"

/* clang-format off */
#define OBJECT(ascii_, other_) \
	{ \
		.type = 8, /* ob_type */ \
		.type_size = 32, /* tp_basicsize */ \
		.bytes_length = 16, /* ob_size */ \
		.bytes_data = 32, /* ob_sval */ \
		.string_length = 16, /* length */ \
		.string_state = 32, /* state */ \
		.string_ascii = (ascii_), /* size of PyASCIIObject */ \
		.string_other = (other_), /* size of PyCompactUnicodeObject */ \
	}

#define THREAD_3_8 \
	{ \
		.interp = 16, \
		.thread_id = 176, \
		.frame = 24, \
	}

#define FRAME_3_8(last_) \
	{ \
		.size = (last_) + 4, /* to the end of f_lasti */ \
		.code = 32, /* f_code */ \
		.previous = 24, /* f_back */ \
		.instruction = (last_), /* f_lasti */ \
		.locals = (last_) + 256, /* f_localsplus */ \
	}

#define FRAME_3_12 \
	{ \
		.size = 72, /* to localsplus */ \
		.code = 0, /* f_code, from 3.13 on f_executable */ \
		.previous = 8, \
		.instruction = 56, /* prev_instr, from 3.13 on instr_ptr */ \
		.owner = 70, \
		.locals = 72, /* localsplus */ \
	}

#define GENERATOR_3_11(suspended_) \
	{ \
		.state_before = 5, /* gi_iframe minus gi_frame_state */ \
		.suspended_min = (suspended_), /* FRAME_SUSPENDED */ \
		.suspended_max = -1, /* the same, from 3.13 on FRAME_SUSPENDED_YIELD_FROM */ \
	}

#define CODE_3_8 \
	{ \
		.size = 176, \
		.name = 112, /* co_name */ \
		.filename = 104, /* co_filename */ \
		.first_line = 40, /* co_firstlineno */ \
		.flags = 36, /* co_flags */ \
		.lines = 120, /* co_lnotab, from 3.10 on co_linetable */ \
		.extra = 144, /* co_extra */ \
	}

#define CODE_3_11(size_, first_line_) \
	{ \
		.size = (size_), \
		.name = 120, /* co_name */ \
		.qualname = 128, /* co_qualname */ \
		.filename = 112, /* co_filename */ \
		.first_line = (first_line_), /* co_firstlineno */ \
		.flags = 48, /* co_flags */ \
		.lines = 136, /* co_linetable */ \
		.extra = (size_) - 8, /* co_extra */ \
		.instructions = (size_), /* co_code_adaptive */ \
	}

#define ATTRIBUTE_3_8(cached_keys_) \
	{ \
		.flags = 168, /* tp_flags */ \
		.dict_offset = 288, /* tp_dictoffset */ \
		.cached_keys = (cached_keys_), /* ht_cached_keys */ \
		.keys = 32, /* ma_keys */ \
		.values = 40, /* ma_values */ \
		.size = 8, /* dk_size */ \
		.count = 32, /* dk_nentries */ \
		.index = 40, /* dk_indices */ \
	}

#define ATTRIBUTE_3_11(cached_keys_, value_) \
	{ \
		.flags = 168, /* tp_flags */ \
		.dict_offset = 288, /* tp_dictoffset */ \
		.cached_keys = (cached_keys_), /* ht_cached_keys */ \
		.keys = 32, /* ma_keys */ \
		.values = 40, /* ma_values */ \
		.value = (value_), \
		.index_size = 9, /* dk_log2_index_bytes */ \
		.kind = 10, /* dk_kind */ \
		.count = 24, /* dk_nentries */ \
		.index = 32, /* dk_indices */ \
	}

#define CHUNK_3_11 \
	{ \
		.previous = 0, \
		.size = 8, \
		.data = 24, \
	}
/* clang-format on */

const struct python_layout python_layouts[] = {
	{
		.version = 0x0308,
		.chain = PYTHON_FRAME_OBJECTS,
		.instruction = PYTHON_OFFSET_BYTES,
		.lines = PYTHON_LINES_LNOTAB,
		.attributes = PYTHON_DICT,
		.thread = THREAD_3_8,
		.frame = FRAME_3_8(104),
		.generator.stack_top = 72, /* f_stacktop */
		.code = CODE_3_8,
		.object = OBJECT(48, 72),
		.attribute = ATTRIBUTE_3_8(872),
		.interp_eval_frame = 568,
	},
	{
		.version = 0x0309,
		.chain = PYTHON_FRAME_OBJECTS,
		.instruction = PYTHON_OFFSET_BYTES,
		.lines = PYTHON_LINES_LNOTAB,
		.attributes = PYTHON_DICT,
		.thread = THREAD_3_8,
		.frame = FRAME_3_8(104),
		.generator.stack_top = 72, /* f_stacktop */
		.code = CODE_3_8,
		.object = OBJECT(48, 72),
		.attribute = ATTRIBUTE_3_8(864),
	},
	{
		.version = 0x030a,
		.chain = PYTHON_FRAME_OBJECTS,
		.instruction = PYTHON_OFFSET_UNITS,
		.lines = PYTHON_LINES_LINETABLE,
		.attributes = PYTHON_DICT,
		.thread = THREAD_3_8,
		.frame = FRAME_3_8(96),
		.generator =
			{
				.state = 108, /* f_state */
				.suspended_min = -1, /* FRAME_SUSPENDED */
				.suspended_max = -1, /* FRAME_SUSPENDED */
			},
		.code = CODE_3_8,
		.object = OBJECT(48, 72),
		.attribute = ATTRIBUTE_3_8(872),
	},
	{
		.version = 0x030b,
		.chain = PYTHON_ENTRY_FLAGS,
		.instruction = PYTHON_POINTER,
		.lines = PYTHON_LINES_LOCATIONS,
		.attributes = PYTHON_VALUES_BEFORE,
		.thread =
			{
				.interp = 16,
				.thread_id = 152,
				.cframe = 56,
				.stack_chunk = 296, /* datastack_chunk */
				.stack_top = 304, /* datastack_top */
			},
		.cframe =
			{
				.frame = 8, /* current_frame */
				.previous = 16,
			},
		.chunk = CHUNK_3_11,
		.frame =
			{
				.size = 72, /* to localsplus */
				.code = 32, /* f_code */
				.previous = 48,
				.instruction = 56, /* prev_instr */
				.owner = 69,
				.is_entry = 68,
				.locals = 72, /* localsplus */
			},
		.generator = GENERATOR_3_11(-1),
		.code = CODE_3_11(184, 72),
		.object = OBJECT(48, 72),
		.attribute = ATTRIBUTE_3_11(872, 0),
	},
	{
		.version = 0x030c,
		.chain = PYTHON_SHIMS,
		.instruction = PYTHON_POINTER,
		.lines = PYTHON_LINES_LOCATIONS,
		.attributes = PYTHON_DICT_BEFORE,
		.thread =
			{
				.interp = 16,
				.thread_id = 136,
				.next = 8,
				.status = 24, /* _status */
				.c_recursion = 36, /* c_recursion_remaining */
				.cframe = 56,
				.stack_chunk = 232, /* datastack_chunk */
				.stack_top = 240, /* datastack_top */
			},
		.cframe =
			{
				.frame = 0, /* current_frame */
				.previous = 8,
			},
		.chunk = CHUNK_3_11,
		.frame = FRAME_3_12,
		.generator = GENERATOR_3_11(-1),
		.code = CODE_3_11(192, 68),
		.object = OBJECT(40, 56),
		.passed_on = {142, 244, 25},
		.interp_threads = 72, /* threads.head */
		.attribute = ATTRIBUTE_3_11(880, 0),
	},
	{
		.version = 0x030d,
		.chain = PYTHON_SHIMS,
		.instruction = PYTHON_POINTER,
		.lines = PYTHON_LINES_LOCATIONS,
		.attributes = PYTHON_VALUES_BEHIND,
		.thread =
			{
				.interp = 16,
				.thread_id = 152,
				.next = 8,
				.status = 32, /* _status */
				.c_recursion = 52, /* c_recursion_remaining */
				.frame = 72, /* current_frame */
				.stack_chunk = 232, /* datastack_chunk */
				.stack_top = 240, /* datastack_top */
			},
		.chunk = CHUNK_3_11,
		.frame = FRAME_3_12,
		.generator = GENERATOR_3_11(-2),
		.code = CODE_3_11(200, 68),
		.object = OBJECT(40, 56),
		.passed_on = {54, 246, 5},
		.attribute = ATTRIBUTE_3_11(880, 8),
	},
};

const size_t python_layout_count = sizeof(python_layouts) / sizeof(python_layouts[0]);
