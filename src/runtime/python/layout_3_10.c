/* CPython 3.10: Include/cpython/frameobject.h, pystate.h, code.h. */
#include "layout.h"
#include "lines.h"

const struct python_layout python_layout_3_10 = {
	.version = 0x030a,
	.chain = PYTHON_FRAME_OBJECTS,
	.instruction = PYTHON_OFFSET_UNITS,
	.lines = PYTHON_LINES_LINETABLE,
	.attributes = PYTHON_DICT,
	.thread =
		{
			.interp = 16,
			.thread_id = 176,
			.frame = 24,
		},
	.frame =
		{
			.size = 100, /* to the end of f_lasti */
			.code = 32, /* f_code */
			.previous = 24, /* f_back */
			.instruction = 96, /* f_lasti */
			.locals = 352, /* f_localsplus */
		},
	.generator =
		{
			.state = 108, /* f_state */
			.suspended_min = -1, /* FRAME_SUSPENDED */
			.suspended_max = -1, /* FRAME_SUSPENDED */
		},
	.code =
		{
			.size = 176,
			.name = 112, /* co_name */
			.filename = 104, /* co_filename */
			.first_line = 40, /* co_firstlineno */
			.flags = 36, /* co_flags */
			.lines = 120, /* co_linetable */
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
};
