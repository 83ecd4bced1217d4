/* CPython 3.12: Include/internal/pycore_frame.h, cpython/pystate.h, code.h. */
#include "layout.h"
#include "lines.h"

const struct python_layout python_layout_3_12 = {
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
	.chunk =
		{
			.previous = 0,
			.size = 8,
			.data = 24,
		},
	.frame =
		{
			.size = 72, /* to localsplus */
			.code = 0, /* f_code */
			.previous = 8,
			.instruction = 56, /* prev_instr */
			.owner = 70,
			.locals = 72, /* localsplus */
		},
	.generator =
		{
			.state_before = 5, /* gi_iframe minus gi_frame_state */
			.suspended_min = -1, /* FRAME_SUSPENDED */
			.suspended_max = -1, /* FRAME_SUSPENDED */
		},
	.code =
		{
			.size = 192,
			.name = 120, /* co_name */
			.qualname = 128, /* co_qualname */
			.filename = 112, /* co_filename */
			.first_line = 68, /* co_firstlineno */
			.flags = 48, /* co_flags */
			.lines = 136, /* co_linetable */
			.extra = 184, /* co_extra */
			.instructions = 192, /* co_code_adaptive */
		},
	.object =
		{
			.type = 8, /* ob_type */
			.type_size = 32, /* tp_basicsize */
			.bytes_length = 16, /* ob_size */
			.bytes_data = 32, /* ob_sval */
			.string_length = 16, /* length */
			.string_state = 32, /* state */
			.string_ascii = 40, /* size of PyASCIIObject */
			.string_other = 56, /* size of PyCompactUnicodeObject */
		},
	.passed_on = {142, 244, 25},
	.interp_threads = 72, /* threads.head */
	.attribute =
		{
			.flags = 168, /* tp_flags */
			.dict_offset = 288, /* tp_dictoffset */
			.cached_keys = 880, /* ht_cached_keys */
			.keys = 32, /* ma_keys */
			.values = 40, /* ma_values */
			.value = 0,
			.index_size = 9, /* dk_log2_index_bytes */
			.kind = 10, /* dk_kind */
			.count = 24, /* dk_nentries */
			.index = 32, /* dk_indices */
		},
};
