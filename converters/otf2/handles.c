/* Communicators, windows and files: what each process knows of them, put together by identity. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "converters/otf2/state.h"

#define GROUP_BIT 31

static struct otf2_handle *handle_at(const struct otf2 *o, uint32_t i)
{
	return &((struct otf2_handle *)o->handles.rows)[i];
}

/* 0 or HYB_ENOMEM: room for `size` ranks in a group. */
static int make_group(struct otf2_handle *handle, unsigned group, uint32_t size)
{
	if (handle->members[group] || !size)
		return 0;
	handle->members[group] = malloc(size * sizeof(uint32_t));
	handle->place[group] = malloc(size * sizeof(uint32_t));
	if (!handle->members[group] || !handle->place[group])
		return HYB_ENOMEM;
	memset(handle->members[group], 0xff, size * sizeof(uint32_t));
	handle->size[group] = size;
	return 0;
}

static int add_member(
	struct otf2 *o, struct otf2_process *process, const struct hyb_handle *info, uint32_t at)
{
	struct otf2_handle *handle = handle_at(o, at);
	unsigned own = info->remote ? info->group & 1 : 0;

	if (!handle->first || (!*handle->first->name && *info->name))
		handle->first = info;
	if (make_group(handle, own, info->size) || make_group(handle, !own, info->remote))
		return HYB_ENOMEM;
	if (process->number != NO_REF && info->rank < handle->size[own])
		handle->members[own][info->rank] = process->number;
	return 0;
}

/* A process's own communicators of itself have an identity each; they are one for OTF2. */
static bool is_self(const struct hyb_handle *info)
{
	return info->type == HYB_COMM && info->size == 1 && !info->remote &&
	       !strcmp(info->name, "MPI_COMM_SELF");
}

static int add_process(struct otf2 *o, struct otf2_process *process)
{
	const struct hyb_process *info = process->info;

	if (!info->handle_count)
		return 0;
	process->handles = malloc(info->handle_count * sizeof(*process->handles));
	if (!process->handles)
		return HYB_ENOMEM;
	memset(process->handles, 0xff, info->handle_count * sizeof(*process->handles));
	for (size_t i = 0; i < info->handle_count; i++) {
		const struct hyb_handle *handle = &info->handles[i];
		struct otf2_handle key = {.identity = handle->identity, .type = handle->type};
		uint32_t number;
		int r;

		if (!handle->type || process->number == NO_REF)
			continue;
		if (is_self(handle))
			key.identity = 0;
		number = row_map_number(&o->handles, &key);
		if (number == ROW_NONE)
			return HYB_ENOMEM;
		handle_at(o, number)->self = is_self(handle);
		process->handles[i] = number;
		r = add_member(o, process, handle, number);
		if (r)
			return r;
	}
	return 0;
}

/* From the number among all ranks to the rank in the handle. */
static int invert(struct otf2_handle *handle)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (unsigned g = 0; g < 2; g++)
		for (uint32_t i = 0; i < handle->size[g]; i++) {
			uint32_t number = handle->members[g][i];

			handle->place[g][i] = number == NO_REF ? NO_REF : handle->known++;
			if (number == NO_REF)
				continue;
			least = number < least ? number : least;
			most = number > most ? number : most;
		}
	if (least > most)
		return 0;
	handle->base = least;
	handle->span = most - least + 1;
	handle->rank_of = malloc(handle->span * sizeof(uint32_t));
	if (!handle->rank_of)
		return HYB_ENOMEM;
	memset(handle->rank_of, 0xff, handle->span * sizeof(uint32_t));
	for (unsigned g = 0; g < 2; g++)
		for (uint32_t i = 0; i < handle->size[g]; i++)
			if (handle->members[g][i] != NO_REF)
				handle->rank_of[handle->members[g][i] - least] = i | g << GROUP_BIT;
	return 0;
}

/* The communicator that a window or file was made of. Without it, it is one itself. */
static uint32_t find_comm(struct otf2 *o, struct otf2_handle *handle, uint32_t *comms)
{
	for (size_t i = 0; i < o->handles.count; i++) {
		const struct otf2_handle *comm = handle_at(o, (uint32_t)i);

		if (comm->type == HYB_COMM && comm->identity == handle->first->parent && comm->identity)
			return comm->ref;
	}
	handle->own_comm = true;
	return (*comms)++;
}

static void number(struct otf2 *o)
{
	uint32_t counts[4] = {0}, groups = o->rank_count > 0; /* group 0: all ranks */

	for (uint32_t i = 0; i < o->handles.count; i++) {
		struct otf2_handle *handle = handle_at(o, i);

		handle->ref = counts[handle->type & 3]++;
	}
	for (uint32_t i = 0; i < o->handles.count; i++) {
		struct otf2_handle *handle = handle_at(o, i);

		handle->comm =
			handle->type == HYB_COMM ? handle->ref : find_comm(o, handle, &counts[HYB_COMM]);
		handle->group = groups++;
	}
	o->group_count = groups;
}

/* Ranks of all worlds, one world after the other. */
static int compare_ranks(const void *pa, const void *pb)
{
	const struct otf2_process *a = *(struct otf2_process *const *)pa,
				  *b = *(struct otf2_process *const *)pb;

	if (a->info->world != b->info->world)
		return a->info->world < b->info->world ? -1 : 1;
	return a->info->rank < b->info->rank ? -1 : a->info->rank > b->info->rank;
}

/* A rank that executed another program counts once, with the one that used MPI. */
static int number_ranks(struct otf2 *o)
{
	struct otf2_process **ranks = calloc(o->process_count + 1, sizeof(struct otf2_process *));
	size_t count = 0;

	o->rank_processes = calloc(o->process_count + 1, sizeof(*o->rank_processes));
	if (!ranks || !o->rank_processes) {
		free(ranks);
		return HYB_ENOMEM;
	}
	for (size_t i = 0; i < o->process_count; i++) {
		const struct hyb_process *info = o->processes[i].info;

		if (info->world && info->rank < info->world_size && info->location_count)
			ranks[count++] = &o->processes[i];
	}
	qsort(ranks, count, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < count; i++) {
		if (i && !compare_ranks(&ranks[i - 1], &ranks[i]))
			continue;
		ranks[i]->number = o->rank_count;
		o->rank_processes[o->rank_count++] = (uint32_t)(ranks[i] - o->processes);
	}
	free(ranks);
	return 0;
}

int otf2_handles_make(struct otf2 *o)
{
	int r = number_ranks(o);

	o->handles = (struct row_map){
		.row_size = sizeof(struct otf2_handle), .key_size = offsetof(struct otf2_handle, first)};
	for (size_t i = 0; !r && i < o->process_count; i++)
		r = add_process(o, &o->processes[i]);
	for (uint32_t i = 0; !r && i < o->handles.count; i++)
		r = invert(handle_at(o, i));
	if (!r)
		number(o);
	return r;
}

void otf2_handles_release(struct otf2 *o)
{
	for (uint32_t i = 0; i < o->handles.count; i++) {
		struct otf2_handle *handle = handle_at(o, i);

		for (unsigned g = 0; g < 2; g++) {
			free(handle->members[g]);
			free(handle->place[g]);
		}
		free(handle->rank_of);
	}
	row_map_release(&o->handles);
	for (size_t i = 0; i < o->process_count; i++)
		free(o->processes[i].handles);
	free(o->rank_processes);
}

const struct otf2_handle *otf2_handle_of(const struct otf2 *o, const struct otf2_process *process,
	const struct hyb_handle *handle, unsigned type)
{
	uint32_t at;

	if (!handle || handle->type != type || !process->handles)
		return NULL;
	at = process->handles[handle - process->info->handles];
	return at == NO_REF ? NULL : handle_at(o, at);
}

/* The number of rank `rank` of the process's world: ranks of a world stand together. */
static uint32_t number_of(const struct otf2 *o, const struct otf2_process *process, uint32_t rank)
{
	const struct otf2_process *other;
	uint32_t low = 0, high = o->rank_count;

	/* usually none is missing */
	if (process->number != NO_REF && process->number + (uint64_t)rank >= process->info->rank) {
		uint64_t guess = process->number + (uint64_t)rank - process->info->rank;

		other = guess < o->rank_count ? &o->processes[o->rank_processes[guess]] : NULL;
		if (other && other->info->world == process->info->world && other->info->rank == rank)
			return (uint32_t)guess;
	}
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		other = &o->processes[o->rank_processes[mid]];
		if (other->info->world == process->info->world && other->info->rank == rank)
			return mid;
		if (other->info->world < process->info->world ||
			(other->info->world == process->info->world && other->info->rank < rank))
			low = mid + 1;
		else
			high = mid;
	}
	return NO_REF;
}

uint32_t otf2_rank_in(const struct otf2 *o, const struct otf2_process *process,
	const struct otf2_handle *handle, uint32_t peer)
{
	uint32_t number, self;

	if (peer == HYB_RANK_NONE)
		return NO_REF;
	if (handle->self)
		return peer == process->info->rank ? 0 : NO_REF;
	if (peer & HYB_RANK_FOREIGN) {
		/* in another world: its rank in the other group, or in the only one */
		peer &= ~HYB_RANK_FOREIGN;
		if (!handle->size[1])
			return peer < handle->size[0] ? peer : NO_REF;
		self = otf2_rank_in(o, process, handle, process->info->rank);
		if (self == NO_REF || peer >= handle->size[!(self >> GROUP_BIT)])
			return NO_REF;
		return peer | (self >> GROUP_BIT ? 0 : 1u << GROUP_BIT);
	}
	number = number_of(o, process, peer);
	if (number == NO_REF || number < handle->base || number - handle->base >= handle->span)
		return NO_REF;
	return handle->rank_of[number - handle->base];
}

uint32_t otf2_place(const struct otf2_handle *handle, uint32_t rank)
{
	unsigned group = rank >> GROUP_BIT;

	rank &= ~(1u << GROUP_BIT);
	return rank < handle->size[group] ? handle->place[group][rank] : NO_REF;
}
