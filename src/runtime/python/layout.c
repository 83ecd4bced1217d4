#include "layout.h"

#include <string.h>

#define FIRST_PUBLISHED 0x030d

/*
 * What _PyRuntime of 3.13 begins with (_Py_DebugOffsets, Include/internal/pycore_runtime.h),
 * as far as the offsets of code objects and of what they are made of.
 */
struct published {
	char cookie[8];
	uint64_t version; /* PY_VERSION_HEX */
	uint64_t free_threaded;
	uint64_t runtime[3];
	struct {
		uint64_t size, id, next, threads, rest[9];
	} interpreter;
	struct {
		uint64_t size, prev, next, interp, frame, thread_id, native_id, stack_chunk, status;
	} thread;
	struct {
		uint64_t size, previous, code, instruction, locals, owner;
	} frame;
	struct {
		uint64_t size, filename, name, qualname, lines, first_line;
		uint64_t arguments, local_names, local_kinds, instructions;
	} code;
	struct {
		uint64_t size, type;
	} object;
	uint64_t type[4], tuple[3], list[3], dict[3], real[2], integer[3];
	struct {
		uint64_t size, length, data;
	} bytes;
	struct {
		uint64_t size, state, length, ascii;
	} string;
};

const struct python_layout *python_layout_of(unsigned version)
{
	for (size_t i = 0; i < python_layout_count; i++)
		if (python_layouts[i].version == version)
			return &python_layouts[i];
	return NULL;
}

size_t python_layout_threads(const struct python_layout *layout, const void *runtime)
{
	return layout->version < FIRST_PUBLISHED ? layout->interp_threads
						 : ((const struct published *)runtime)->interpreter.threads;
}

/* The fields that are published of threads and frames. */
static bool frames_fit(const struct python_layout *l, const struct published *p)
{
	return p->thread.interp == l->thread.interp && p->thread.frame == l->thread.frame &&
	       p->thread.thread_id == l->thread.thread_id && p->thread.stack_chunk == l->thread.stack_chunk &&
	       p->frame.previous == l->frame.previous && p->frame.code == l->frame.code &&
	       p->frame.instruction == l->frame.instruction && p->frame.locals == l->frame.size &&
	       p->frame.owner == l->frame.owner;
}

/* Those of code objects, and of the objects that these refer to. */
static bool objects_fit(const struct python_layout *l, const struct published *p)
{
	return p->code.filename == l->code.filename && p->code.name == l->code.name &&
	       p->code.qualname == l->code.qualname && p->code.lines == l->code.lines &&
	       p->code.first_line == l->code.first_line && p->code.instructions == l->code.instructions &&
	       p->object.type == l->object.type && p->bytes.length == l->object.bytes_length &&
	       p->bytes.data == l->object.bytes_data && p->string.length == l->object.string_length &&
	       p->string.state == l->object.string_state && p->string.ascii == l->object.string_ascii;
}

bool python_layout_fits(const struct python_layout *layout, const void *code_type, const void *runtime)
{
	struct published published;
	int64_t size;

	memcpy(&size, (const char *)code_type + layout->object.type_size, sizeof(size));
	if (size != layout->code.size)
		return false;
	if (layout->version < FIRST_PUBLISHED)
		return true;
	memcpy(&published, runtime, sizeof(published));
	return memcmp(published.cookie, "xdebugpy", sizeof(published.cookie)) == 0 &&
	       published.version >> 16 == layout->version && !published.free_threaded &&
	       frames_fit(layout, &published) && objects_fit(layout, &published);
}
