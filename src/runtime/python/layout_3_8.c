/* CPython 3.8: Include/frameobject.h, cpython/pystate.h, code.h. */
#include "layout.h"
#include "lines.h"

const struct python_layout python_layout_3_8 = {
	.version = 0x0308,
	.chain = PYTHON_FRAME_OBJECTS,
	.instruction = PYTHON_OFFSET_BYTES,
	.lines = PYTHON_LINES_LNOTAB,
	.attributes = PYTHON_DICT,
	.thread =
		{
			.interp = 16,
			.thread_id = 176,
			.frame = 24,
		},
	.frame =
		{
			.size = 108, /* to the end of f_lasti */
			.code = 32, /* f_code */
			.previous = 24, /* f_back */
			.instruction = 104, /* f_lasti */
			.locals = 360, /* f_localsplus */
		},
	.generator =
		{
			.stack_top = 72, /* f_stacktop */
		},
	.code =
		{
			.size = 176,
			.name = 112, /* co_name */
			.filename = 104, /* co_filename */
			.first_line = 40, /* co_firstlineno */
			.flags = 36, /* co_flags */
			.lines = 120, /* co_lnotab */
			.extra = 144, /* co_extra */
		},
	.object =
		{
			.type = 8, /* ob_type */
			.type_size = 32, /* tp_basicsize */
			.bytes_length = 16, /* ob_size */
			.bytes_data = 32, /* ob_sval */
			.string_length = 16, /* length */
			.string_state = 32, /* state */
			.string_ascii = 48, /* size of PyASCIIObject */
			.string_other = 72, /* size of PyCompactUnicodeObject */
		},
	.attribute =
		{
			.flags = 168, /* tp_flags */
			.dict_offset = 288, /* tp_dictoffset */
			.cached_keys = 872, /* ht_cached_keys */
			.keys = 32, /* ma_keys */
			.values = 40, /* ma_values */
			.size = 8, /* dk_size */
			.count = 32, /* dk_nentries */
			.index = 40, /* dk_indices */
		},
	.interp_eval_frame = 568,
};
