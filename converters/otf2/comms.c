/* Definitions of groups of ranks, communicators, windows and files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "converters/otf2/defs.h"

static const struct otf2_handle *handle_at(const struct otf2 *o, size_t i)
{
	return &((const struct otf2_handle *)o->handles.rows)[i];
}

/* The first thread of each rank. */
static void define_ranks(struct defs *d)
{
	struct otf2 *o = d->o;
	uint64_t *members = calloc(o->rank_count, sizeof(*members));

	if (!members) {
		d->failed = HYB_ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < o->rank_count; i++)
		members[i] = o->processes[o->rank_processes[i]].first;
	DEFINE(d, Group, 0, otf2_string(d, "MPI ranks"), OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
		OTF2_GROUP_FLAG_NONE, o->rank_count, members);
	free(members);
}

static const char *name_of(const struct otf2_handle *handle, char *text, size_t size)
{
	static const char *const kinds[] = {
		[HYB_COMM] = "communicator", [HYB_WINDOW] = "window", [HYB_FILE] = "file"};

	if (*handle->first->name)
		return handle->first->name;
	snprintf(text, size, "%s %u", kinds[handle->type & 3], handle->ref);
	return text;
}

/*
 * Ranks that were not measured are not in it: places are those among the others. An inter-communicator is one
 * group, the ranks of its second group behind those of the first: python3-otf2 ends where it finds an
 * InterComm.
 */
static void define_group(struct defs *d, const struct otf2_handle *handle)
{
	uint64_t *members = calloc((size_t)handle->known + 1, sizeof(*members));
	uint32_t n = 0;

	if (!members) {
		d->failed = HYB_ENOMEM;
		return;
	}
	for (unsigned g = 0; g < 2; g++)
		for (uint32_t i = 0; i < handle->size[g]; i++)
			if (handle->members[g][i] != NO_REF)
				members[n++] = handle->members[g][i];
	if (handle->self)
		DEFINE(d, Group, handle->group, otf2_string(d, ""), OTF2_GROUP_TYPE_COMM_SELF,
			OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 0, NULL);
	else
		DEFINE(d, Group, handle->group, otf2_string(d, ""), OTF2_GROUP_TYPE_COMM_GROUP,
			OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n, members);
	free(members);
}

static uint32_t parent_of(const struct otf2 *o, const struct otf2_handle *handle)
{
	for (size_t i = 0; handle->first->parent && i < o->handles.count; i++) {
		const struct otf2_handle *other = handle_at(o, i);

		if (other->type == HYB_COMM && other->identity == handle->first->parent && other != handle)
			return other->ref;
	}
	return OTF2_UNDEFINED_COMM;
}

static void define_comm(struct defs *d, const struct otf2_handle *handle)
{
	char text[64];
	uint32_t name = otf2_string(d, name_of(handle, text, sizeof(text)));

	DEFINE(d, Comm, handle->comm, name, handle->group,
		handle->type == HYB_COMM ? parent_of(d->o, handle) : OTF2_UNDEFINED_COMM,
		handle->created && handle->type == HYB_COMM ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS
							    : OTF2_COMM_FLAG_NONE);
}

static void define_file(struct defs *d, const struct otf2_handle *handle)
{
	char text[64];
	const char *path = name_of(handle, text, sizeof(text));

	DEFINE(d, IoRegularFile, handle->ref, otf2_string(d, path), 0);
	DEFINE(d, IoHandle, handle->ref, otf2_string(d, path_base(path)), handle->ref, 0,
		OTF2_IO_HANDLE_FLAG_PRE_CREATED, handle->comm, OTF2_UNDEFINED_IO_HANDLE);
	DEFINE(d, IoPreCreatedHandleState, handle->ref, OTF2_IO_ACCESS_MODE_READ_WRITE,
		OTF2_IO_STATUS_FLAG_NONE);
}

void otf2_define_handles(struct defs *d)
{
	struct otf2 *o = d->o;
	bool files = false;
	char text[64];

	if (!o->rank_count)
		return;
	define_ranks(d);
	for (size_t i = 0; i < o->handles.count; i++) {
		const struct otf2_handle *handle = handle_at(o, i);

		define_group(d, handle);
		if (handle->type == HYB_COMM || handle->own_comm)
			define_comm(d, handle);
		files |= handle->type == HYB_FILE;
	}
	if (files)
		DEFINE(d, IoParadigm, 0, otf2_string(d, "MPI-IO"), otf2_string(d, "MPI-IO"),
			OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL);
	for (size_t i = 0; i < o->handles.count; i++) {
		const struct otf2_handle *handle = handle_at(o, i);

		if (handle->type == HYB_WINDOW)
			DEFINE(d, RmaWin, handle->ref, otf2_string(d, name_of(handle, text, sizeof(text))),
				handle->comm,
				handle->created ? OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS
						: OTF2_RMA_WIN_FLAG_NONE);
		else if (handle->type == HYB_FILE)
			define_file(d, handle);
	}
}
