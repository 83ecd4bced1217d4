/* A library that the interpreter under test loads: what the runtime knows about its structures. */
#include <stdio.h>

#include "runtime/python/layout.h"

#define EXPORTED __attribute__((visibility("default")))
#define SHOW(member) fprintf(out, #member " %d\n", (int)l->member)

int layout_write(unsigned version, const char *path);
int layout_fits(unsigned version, const void *code_type, const void *runtime);

static void show_frames(FILE *out, const struct python_layout *l)
{
	SHOW(thread.interp);
	SHOW(thread.thread_id);
	SHOW(thread.next);
	SHOW(interp_threads);
	SHOW(thread.status);
	fprintf(out, "thread.status.active %d\n", l->thread.status ? PYTHON_STATE_ACTIVE : 0);
	SHOW(thread.c_recursion);
	SHOW(thread.frame);
	SHOW(thread.cframe);
	SHOW(thread.stack_chunk);
	SHOW(thread.stack_top);
	SHOW(cframe.frame);
	SHOW(cframe.previous);
	SHOW(chunk.previous);
	SHOW(chunk.size);
	SHOW(chunk.data);
	SHOW(frame.size);
	SHOW(frame.code);
	SHOW(frame.previous);
	SHOW(frame.instruction);
	SHOW(frame.owner);
	SHOW(frame.is_entry);
	SHOW(frame.locals);
	SHOW(generator.stack_top);
	SHOW(generator.state);
	SHOW(generator.state_before);
	SHOW(generator.suspended_min);
	SHOW(generator.suspended_max);
	SHOW(interp_eval_frame);
}

static void show_objects(FILE *out, const struct python_layout *l)
{
	SHOW(code.size);
	SHOW(code.name);
	SHOW(code.qualname);
	SHOW(code.filename);
	SHOW(code.first_line);
	SHOW(code.flags);
	SHOW(code.lines);
	SHOW(code.extra);
	SHOW(code.instructions);
	SHOW(object.type);
	SHOW(object.type_size);
	SHOW(object.bytes_length);
	SHOW(object.bytes_data);
	SHOW(object.string_length);
	SHOW(object.string_state);
	SHOW(object.string_ascii);
	SHOW(object.string_other);
	SHOW(attribute.flags);
	SHOW(attribute.dict_offset);
	SHOW(attribute.cached_keys);
	SHOW(attribute.keys);
	SHOW(attribute.values);
	SHOW(attribute.value);
	SHOW(attribute.index_size);
	SHOW(attribute.size);
	SHOW(attribute.kind);
	SHOW(attribute.count);
	SHOW(attribute.index);
}

/* "member value" lines; -1 if the version is not known or the file cannot be written. */
EXPORTED int layout_write(unsigned version, const char *path)
{
	const struct python_layout *layout = python_layout_of(version);
	FILE *out = layout ? fopen(path, "w") : NULL;

	if (!out)
		return -1;
	fprintf(out, "version %d\n", layout->version);
	show_frames(out, layout);
	show_objects(out, layout);
	return fclose(out);
}

EXPORTED int layout_fits(unsigned version, const void *code_type, const void *runtime)
{
	const struct python_layout *layout = python_layout_of(version);

	return layout && python_layout_fits(layout, code_type, runtime);
}
