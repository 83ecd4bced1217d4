/*
 * Once MPI has completed a request, another thread may get the same handle for a new request. So the entry of
 * a request is claimed before MPI is called, and released after it. With many requests of which few will
 * complete, and no other thread that calls MPI, only those are looked up afterwards.
 */
#include "mpi/completion.h"

#include <string.h>

static bool make_room(struct completion *completion, int count)
{
	size_t each = sizeof(MPI_Status) + sizeof(MPI_Request) + sizeof(handle_slot *);
	char *room;

	completion->scratch = NULL;
	completion->statuses = completion->few_statuses;
	completion->old = completion->few_old;
	completion->found = completion->few_found;
	if (count <= COMPLETION_FEW)
		return true;
	/* Statuses last: theirs is the weakest alignment. */
	room = completion->scratch = scratch_take((size_t)count * each, &completion->scratch_size);
	if (!room)
		return false;
	completion->found = (handle_slot **)room;
	room += (size_t)count * sizeof(handle_slot *);
	completion->old = (MPI_Request *)room;
	room += (size_t)count * sizeof(MPI_Request);
	completion->statuses = (MPI_Status *)room;
	return true;
}

static void hold(struct completion *completion)
{
	for (int i = 0; i < completion->count; i++) {
		handle_slot *slot = request_find(completion->old[i]);

		completion->found[i] = slot;
		if (!slot)
			continue;
		handle_map_set(slot, HANDLE_HELD);
#ifndef OPEN_MPI
		/* MPICH does not touch the status of a send that it did not cancel. */
		if (request_at(slot)->cancelling)
			completion->statuses[i].count_hi_and_cancelled = 0;
#endif
	}
}

MPI_Status *completion_begin(struct completion *completion, int count, const MPI_Request *requests,
	MPI_Status *statuses, enum completion_how how)
{
	completion->count = count < 0 || !requests ? 0 : count;
	completion->lost = !make_room(completion, completion->count);
	completion->requests = requests;
	if (statuses != MPI_STATUSES_IGNORE || completion->lost)
		completion->statuses = statuses;
	if (completion->lost)
		completion->count = 0;
	if (completion->count)
		memcpy(completion->old, requests, (size_t)completion->count * sizeof(*requests));
	completion->held = how == COMPLETION_ALL || world.threads == MPI_THREAD_MULTIPLE;
	if (completion->held)
		hold(completion);
	return completion->statuses;
}

static handle_slot *look(const struct completion *completion, int i)
{
	return completion->held ? completion->found[i] : request_find(completion->old[i]);
}

/* This request is done with: as MPI has it now, it is gone or may be started again. */
static void let_go(struct completion *completion, int i, handle_slot *slot)
{
	bool gone = completion->requests[i] == MPI_REQUEST_NULL;

	completion->found[i] = NULL;
	handle_map_set(slot, gone ? HANDLE_FREE : handle_key(completion->old[i]));
}

static void complete(struct completion *completion, int i, const MPI_Status *status)
{
	handle_slot *slot = i >= 0 && i < completion->count ? look(completion, i) : NULL;

	if (!slot)
		return;
	request_complete(request_at(slot), status);
	let_go(completion, i, slot);
}

/* After an error: those that failed are gone, too. */
static void drop_gone(struct completion *completion)
{
	for (int i = 0; i < completion->count; i++) {
		handle_slot *slot = NULL;

		if (!completion->held && completion->requests[i] == MPI_REQUEST_NULL)
			slot = request_find(completion->old[i]);
		if (slot)
			handle_map_set(slot, HANDLE_FREE);
	}
}

/* Whether the statuses have errors of their own. */
static bool in_status(int result)
{
	int class = result;

	if (result != MPI_SUCCESS)
		PMPI_Error_class(result, &class);
	return class == MPI_ERR_IN_STATUS;
}

/* Nothing is complete. One record a call: of the first that is not. */
static void ask_in_vain(const struct completion *completion)
{
	for (int i = 0; i < completion->count; i++) {
		handle_slot *slot = look(completion, i);

		if (slot && request_at(slot)->active) {
			api->request(HYB_OTHER_TESTED, request_at(slot)->number);
			return;
		}
	}
}

void completion_all(struct completion *completion, int result, const int *flag)
{
	bool each = in_status(result);

	if (result == MPI_SUCCESS && flag && !*flag) {
		ask_in_vain(completion);
		return;
	}
	if (completion->lost)
		api->untracked();
	for (int i = 0; i < completion->count; i++)
		if (each ? completion->statuses[i].MPI_ERROR == MPI_SUCCESS : result == MPI_SUCCESS)
			complete(completion, i, &completion->statuses[i]);
}

void completion_any(struct completion *completion, int result, const int *flag, const int *index)
{
	if (result == MPI_SUCCESS && flag && !*flag) {
		ask_in_vain(completion);
		return;
	}
	if (completion->lost)
		api->untracked();
	if (result == MPI_SUCCESS)
		complete(completion, *index, completion->statuses);
	else
		drop_gone(completion);
}

void completion_some(struct completion *completion, int result, const int *count, const int *indices)
{
	bool each = in_status(result);

	if (result == MPI_SUCCESS && !*count) { /* of MPI_Testsome */
		ask_in_vain(completion);
		return;
	}
	if (completion->lost)
		api->untracked();
	if (each || result == MPI_SUCCESS)
		for (int i = 0; i < *count && completion->count; i++)
			if (!each || completion->statuses[i].MPI_ERROR == MPI_SUCCESS)
				complete(completion, indices[i], &completion->statuses[i]);
	if (result != MPI_SUCCESS)
		drop_gone(completion);
}

void completion_end(struct completion *completion)
{
	for (int i = 0; completion->held && i < completion->count; i++)
		if (completion->found[i])
			let_go(completion, i, completion->found[i]);
	if (completion->scratch)
		scratch_give(completion->scratch, completion->scratch_size);
}

/* MPI_Request_get_status does not record a cancellation, the completion does: MPICH does not set it in this
 * status. */
void completion_asked(MPI_Request request, bool done, const MPI_Status *status)
{
	handle_slot *slot = request_find(request);

	if (!slot || !request_at(slot)->active)
		return;
	if (!done)
		api->request(HYB_OTHER_TESTED, request_at(slot)->number);
	else if (!request_at(slot)->cancelling)
		request_complete(request_at(slot), status);
}
