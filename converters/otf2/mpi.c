/* Messages, collectives, one-sided operations and files of one location. */
#include <stdlib.h>
#include <string.h>

#include "converters/otf2/events.h"

static void count(atomic_ullong *what)
{
	atomic_fetch_add_explicit(what, 1, memory_order_relaxed);
}

/* -------------------------------------------------------------- requests */

/* 0 or HYB_ENOMEM. */
static int put_request(struct writer *w, uint64_t id, const struct request *request)
{
	struct request *own = map_get(&w->requests, MAP_KEY(id));

	if (!own) {
		own = malloc(sizeof(*own));
		if (!own || !map_put(&w->requests, MAP_KEY(id), own)) {
			free(own);
			return HYB_ENOMEM;
		}
	}
	*own = *request;
	return 0;
}

static bool take_request(struct writer *w, uint64_t id, struct request *ret)
{
	struct request *own = map_remove(&w->requests, MAP_KEY(id));

	if (!own)
		return false;
	*ret = *own;
	free(own);
	return true;
}

/* -------------------------------------------------------------- messages */

static const struct otf2_region *region_of(const struct writer *w, const struct hyb_event *e)
{
	const struct otf2_region *regions = w->o->regions.rows;

	return &regions[w->o->region[w->own[e->node]]];
}

static uint32_t rank_of(const struct writer *w, const struct otf2_handle *on, uint32_t peer)
{
	return otf2_rank_in(w->o, w->location->process, on, peer);
}

/* The archive has nothing of where the request began: it is not to be seen complete either. */
static int drop_request(struct writer *w, uint64_t request)
{
	struct otf2_process *process = w->location->process;
	bool put;

	if (!request)
		return 0;
	pthread_mutex_lock(&w->o->lock);
	put = map_put(&process->dropped, MAP_KEY(request), process);
	pthread_mutex_unlock(&w->o->lock);
	atomic_store(&process->any_dropped, true);
	return put ? 0 : HYB_ENOMEM;
}

static bool was_dropped(struct writer *w, uint64_t request)
{
	struct otf2_process *process = w->location->process;
	bool found;

	if (!atomic_load_explicit(&process->any_dropped, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&w->o->lock);
	found = map_get(&process->dropped, MAP_KEY(request));
	pthread_mutex_unlock(&w->o->lock);
	return found;
}

static int begin_send(struct writer *w, const struct hyb_event *e)
{
	const struct otf2_handle *comm = otf2_handle_of(w->o, w->location->process, e->handle, HYB_COMM);
	uint32_t to = comm ? rank_of(w, comm, e->peer) : NO_REF;

	if (!otf2_match_next(w->location, false, &w->met[0]) || to == NO_REF) {
		count(&w->o->totals.lone_sends);
		return drop_request(w, e->request);
	}
	if (e->request)
		WRITE(w, MpiIsend, NULL, w->time, otf2_place(comm, to), comm->ref, (uint32_t)e->tag, e->sent,
			e->request);
	else
		WRITE(w, MpiSend, NULL, w->time, otf2_place(comm, to), comm->ref, (uint32_t)e->tag, e->sent);
	count(&w->o->totals.sends);
	return 0;
}

static void end_receive(struct writer *w, const struct hyb_event *e)
{
	const struct otf2_handle *comm = otf2_handle_of(w->o, w->location->process, e->handle, HYB_COMM);
	uint32_t from = comm ? rank_of(w, comm, e->peer) : NO_REF;
	bool begun = e->request && !was_dropped(w, e->request);

	if (!otf2_match_next(w->location, true, &w->met[1]) || from == NO_REF) {
		count(&w->o->totals.lone_receives);
		if (begun)
			WRITE(w, MpiRequestCancelled, NULL, w->time, e->request);
		return;
	}
	if (begun)
		WRITE(w, MpiIrecv, NULL, w->time, otf2_place(comm, from), comm->ref, (uint32_t)e->tag,
			e->received, e->request);
	else
		WRITE(w, MpiRecv, NULL, w->time, otf2_place(comm, from), comm->ref, (uint32_t)e->tag,
			e->received);
	count(&w->o->totals.receives);
}

/* ----------------------------------------------------------- collectives */

static uint32_t root_of(const struct writer *w, const struct otf2_handle *comm, uint32_t peer)
{
	uint32_t root = rank_of(w, comm, peer);

	return root == NO_REF ? OTF2_COLLECTIVE_ROOT_NONE : otf2_place(comm, root);
}

/* NULL: OTF2 has no record for it; it is counted at the end of the call. */
static const struct otf2_handle *collective_on(const struct writer *w, const struct hyb_event *e)
{
	if (!e->collective)
		return NULL;
	return otf2_handle_of(w->o, w->location->process, e->handle, HYB_COMM);
}

static int begin_collective(struct writer *w, const struct hyb_event *e)
{
	const struct otf2_handle *comm = collective_on(w, e);
	struct request request = {comm, e->sent, e->received, 0, e->message, 0};

	if (!comm)
		return 0;
	if (!e->request) {
		WRITE(w, MpiCollectiveBegin, NULL, w->time);
		return 0;
	}
	request.op = (uint8_t)otf2_collective(e->collective);
	request.root = root_of(w, comm, e->peer);
	WRITE(w, NonBlockingCollectiveRequest, NULL, w->time, e->request);
	return put_request(w, e->request, &request);
}

static void end_collective(struct writer *w, const struct hyb_event *e)
{
	const struct otf2_handle *comm = collective_on(w, e);

	if (!comm)
		count(&w->o->totals.unknown);
	else if (!e->request)
		WRITE(w, MpiCollectiveEnd, NULL, w->time, otf2_collective(e->collective), comm->ref,
			root_of(w, comm, e->peer), e->sent, e->received);
}

static void collected(struct writer *w, uint64_t id)
{
	struct request request;

	if (!take_request(w, id, &request))
		count(&w->o->totals.unknown);
	else
		WRITE(w, NonBlockingCollectiveComplete, NULL, w->time, request.op, request.on->ref,
			request.root, request.sent, request.received, id);
}

/* --------------------------------------------------------------- handles */

/* The communicator or window that the call made or gave back, or NULL: of the group that it is of, all call.
 */
static struct otf2_handle *handle_of(const struct writer *w, const struct hyb_event *e)
{
	if (!e->handle || e->handle->type == HYB_FILE)
		return NULL;
	return (struct otf2_handle *)otf2_handle_of(w->o, w->location->process, e->handle, e->handle->type);
}

static void begin_handle(struct writer *w, const struct hyb_event *e)
{
	const struct otf2_handle *handle = handle_of(w, e);

	if (handle && handle->type == HYB_COMM)
		WRITE(w, MpiCollectiveBegin, NULL, w->time);
	else if (handle)
		WRITE(w, RmaCollectiveBegin, NULL, w->time);
}

static void end_window(struct writer *w, struct otf2_handle *win, bool created, const char *function)
{
	OTF2_CollectiveOp op;

	if (created && !strncmp(function, "MPI_Win_allocate", 16))
		win->allocated = true;
	if (win->allocated)
		op = created ? OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE
			     : OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE;
	else
		op = created ? OTF2_COLLECTIVE_OP_CREATE_HANDLE : OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
	if (created)
		WRITE(w, RmaWinCreate, NULL, w->time, win->ref);
	else
		WRITE(w, RmaWinDestroy, NULL, w->time, win->ref);
	WRITE(w, RmaCollectiveEnd, NULL, w->time, op, OTF2_RMA_SYNC_LEVEL_NONE, win->ref,
		OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
}

static void end_handle(struct writer *w, const struct hyb_event *e)
{
	struct otf2_handle *handle = handle_of(w, e);
	bool created = e->kind == HYB_EVENT_CREATED;

	if (!handle)
		return;
	handle->created = true;
	if (handle->type == HYB_WINDOW) {
		end_window(w, handle, created, region_of(w, e)->name);
		return;
	}
	if (created)
		WRITE(w, CommCreate, NULL, w->time, handle->ref);
	else
		WRITE(w, CommDestroy, NULL, w->time, handle->ref);
	WRITE(w, MpiCollectiveEnd, NULL, w->time,
		created ? OTF2_COLLECTIVE_OP_CREATE_HANDLE : OTF2_COLLECTIVE_OP_DESTROY_HANDLE, handle->ref,
		OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
}

/* ------------------------------------------------------------- one-sided */

static struct operations *operations_on(struct writer *w, uint32_t win, uint32_t target)
{
	struct operations key = {win, target, 0, 0};

	return row_map_row(&w->operations, &key);
}

static int begin_operation(struct writer *w, const struct hyb_event *e)
{
	const struct otf2_handle *win = otf2_handle_of(w->o, w->location->process, e->handle, HYB_WINDOW);
	uint32_t rank = win ? rank_of(w, win, e->peer) : NO_REF;
	uint32_t target = rank == NO_REF ? NO_REF : otf2_place(win, rank);
	struct request request = {win, e->sent, e->received, target, e->message, 0};
	uint64_t id = e->request;

	if (!win || target == NO_REF) {
		count(&w->o->totals.unknown);
		return 0;
	}
	if (!id) {
		struct operations *operations = operations_on(w, win->ref, target);

		if (!operations)
			return HYB_ENOMEM;
		id = (1ull << 63) | (uint64_t)target << 32 | (operations->next++ & UINT32_MAX);
	}
	if (e->message == HYB_PUT)
		WRITE(w, RmaPut, NULL, w->time, win->ref, target, e->sent, id);
	else if (e->message == HYB_GET)
		WRITE(w, RmaGet, NULL, w->time, win->ref, target, e->received, id);
	else
		WRITE(w, RmaAtomic, NULL, w->time, win->ref, target, region_of(w, e)->atomic, e->sent,
			e->received, id);
	return e->request ? put_request(w, e->request, &request) : 0;
}

/* What an epoch's end makes complete: all operations on the window, or on one target's. */
static void complete_operations(struct writer *w, uint32_t win, uint32_t target)
{
	struct operations *rows = w->operations.rows;

	for (size_t i = 0; i < w->operations.count; i++) {
		struct operations *row = &rows[i];

		if (row->win != win || (target != NO_REF && row->target != target))
			continue;
		for (; row->done < row->next; row->done++)
			WRITE(w, RmaOpCompleteBlocking, NULL, w->time, win,
				(1ull << 63) | row->target << 32 | (row->done & UINT32_MAX));
	}
}

static void begin_epoch(struct writer *w, const struct hyb_event *e)
{
	const struct otf2_handle *win = otf2_handle_of(w->o, w->location->process, e->handle, HYB_WINDOW);
	uint32_t rank = win ? rank_of(w, win, e->peer) : NO_REF;
	uint32_t target = rank == NO_REF ? OTF2_UNDEFINED_UINT32 : otf2_place(win, rank);

	if (!win)
		return;
	switch ((enum otf2_sync)region_of(w, e)->sync) {
	case SYNC_ALL:
		WRITE(w, RmaCollectiveBegin, NULL, w->time);
		break;
	case SYNC_LOCK:
	case SYNC_LOCK_ALL:
		WRITE(w, RmaRequestLock, NULL, w->time, win->ref, target, 0, OTF2_LOCK_SHARED);
		break;
	default:
		break;
	}
}

static void end_epoch(struct writer *w, const struct hyb_event *e)
{
	const struct otf2_handle *win = otf2_handle_of(w->o, w->location->process, e->handle, HYB_WINDOW);
	uint32_t rank = win ? rank_of(w, win, e->peer) : NO_REF;
	uint32_t target = rank == NO_REF ? OTF2_UNDEFINED_UINT32 : otf2_place(win, rank);
	OTF2_RmaSyncLevel level = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;
	const struct otf2_region *region = region_of(w, e);

	if (!win) {
		count(&w->o->totals.unknown);
		return;
	}
	if (region->completes)
		complete_operations(w, win->ref, rank == NO_REF ? NO_REF : target);
	switch ((enum otf2_sync)region->sync) {
	case SYNC_ALL:
		WRITE(w, RmaCollectiveEnd, NULL, w->time, OTF2_COLLECTIVE_OP_BARRIER, level, win->ref,
			OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
		break;
	case SYNC_GROUP:
		WRITE(w, RmaGroupSync, NULL, w->time, level, win->ref, win->group);
		break;
	case SYNC_LOCK:
	case SYNC_LOCK_ALL:
		WRITE(w, RmaAcquireLock, NULL, w->time, win->ref, target, 0, OTF2_LOCK_SHARED);
		break;
	case SYNC_UNLOCK:
	case SYNC_UNLOCK_ALL:
		WRITE(w, RmaReleaseLock, NULL, w->time, win->ref, target, 0);
		break;
	case SYNC_FLUSH:
		WRITE(w, RmaSync, NULL, w->time, win->ref, target, OTF2_RMA_SYNC_TYPE_MEMORY);
		break;
	case SYNC_NONE:
		break;
	}
}

/* ----------------------------------------------------------------- files */

static const struct otf2_handle *file_of(const struct writer *w, const struct hyb_event *e)
{
	return otf2_handle_of(w->o, w->location->process, e->handle, HYB_FILE);
}

static uint64_t transfer_id(const struct writer *w, const struct hyb_event *e)
{
	return e->request ? e->request : (1ull << 63) | w->transfers;
}

static int begin_transfer(struct writer *w, const struct hyb_event *e)
{
	const struct otf2_handle *file = file_of(w, e);
	bool is_read = e->message == HYB_READ;
	OTF2_IoOperationFlag flags = e->request ? OTF2_IO_OPERATION_FLAG_NON_BLOCKING : 0;
	struct request request = {file, e->sent, e->received, 0, e->message, 0};

	if (!file)
		return 0;
	if (region_of(w, e)->shared_all)
		flags |= OTF2_IO_OPERATION_FLAG_COLLECTIVE;
	if (e->offset != UINT64_MAX)
		OTF2_AttributeList_AddUint64(w->attributes, ATTRIBUTE_OFFSET, e->offset);
	WRITE(w, IoOperationBegin, e->offset != UINT64_MAX ? w->attributes : NULL, w->time, file->ref,
		is_read ? OTF2_IO_OPERATION_MODE_READ : OTF2_IO_OPERATION_MODE_WRITE, flags,
		is_read ? e->received : e->sent, transfer_id(w, e));
	return e->request ? put_request(w, e->request, &request) : 0;
}

static void end_transfer(struct writer *w, const struct hyb_event *e)
{
	const struct otf2_handle *file = file_of(w, e);

	if (!file) {
		count(&w->o->totals.unknown);
		return;
	}
	if (e->request)
		WRITE(w, IoOperationIssued, NULL, w->time, file->ref, e->request);
	else
		WRITE(w, IoOperationComplete, NULL, w->time, file->ref,
			e->message == HYB_READ ? e->received : e->sent, transfer_id(w, e));
	w->transfers += !e->request;
}

/* -------------------------------------------------------------- requests */

static void done(struct writer *w, uint64_t id)
{
	struct request request;

	if (!take_request(w, id, &request))
		count(&w->o->totals.unknown);
	else if (request.message == HYB_READ || request.message == HYB_WRITE)
		WRITE(w, IoOperationComplete, NULL, w->time, request.on->ref,
			request.message == HYB_READ ? request.received : request.sent, id);
	else
		WRITE(w, RmaOpCompleteNonBlocking, NULL, w->time, request.on->ref, id);
}

static void tested(struct writer *w, uint64_t id)
{
	const struct request *request = map_get(&w->requests, MAP_KEY(id));

	if (request && (request->message == HYB_READ || request->message == HYB_WRITE))
		WRITE(w, IoOperationTest, NULL, w->time, request->on->ref, id);
	else if (request && request->message != HYB_COLLECTIVE)
		WRITE(w, RmaOpTest, NULL, w->time, request->on->ref, id);
	else if (!was_dropped(w, id))
		WRITE(w, MpiRequestTest, NULL, w->time, id);
}

static int begin_message(struct writer *w, const struct hyb_event *e)
{
	switch ((enum hyb_message_kind)e->message) {
	case HYB_SEND:
		return begin_send(w, e);
	case HYB_COLLECTIVE:
		return begin_collective(w, e);
	case HYB_PUT:
	case HYB_GET:
	case HYB_UPDATE:
		return begin_operation(w, e);
	case HYB_READ:
	case HYB_WRITE:
		return begin_transfer(w, e);
	case HYB_RECV:
		break;
	}
	return 0;
}

static void end_message(struct writer *w, const struct hyb_event *e)
{
	if (e->message == HYB_RECV)
		end_receive(w, e);
	else if (e->message == HYB_COLLECTIVE)
		end_collective(w, e);
	else if (e->message == HYB_READ || e->message == HYB_WRITE)
		end_transfer(w, e);
}

/* In a pause. What is complete there stays open. */
static int begin_unmeasured(struct writer *w, const struct hyb_event *e)
{
	bool begins = e->unmeasured == HYB_EVENT_POSTED ||
		      (e->unmeasured == HYB_EVENT_MESSAGE && e->message == HYB_SEND);

	return begins ? drop_request(w, e->request) : 0;
}

int otf2_mpi_begin(struct writer *w, const struct hyb_event *e)
{
	if (e->kind == HYB_EVENT_MESSAGE)
		return begin_message(w, e);
	if (e->kind == HYB_EVENT_UNMEASURED)
		return begin_unmeasured(w, e);
	if (e->kind == HYB_EVENT_POSTED)
		WRITE(w, MpiIrecvRequest, NULL, w->time, e->request);
	else if (e->kind == HYB_EVENT_EPOCH)
		begin_epoch(w, e);
	else if (e->kind == HYB_EVENT_CREATED || e->kind == HYB_EVENT_FREED)
		begin_handle(w, e);
	else if (e->kind == HYB_EVENT_FAILED)
		w->failed = e->value.integer;
	return 0;
}

bool otf2_mpi_ends(const struct hyb_event *e)
{
	if (e->kind == HYB_EVENT_MESSAGE)
		return e->message == HYB_RECV || e->message == HYB_COLLECTIVE || e->message == HYB_READ ||
		       e->message == HYB_WRITE;
	return e->kind != HYB_EVENT_POSTED && e->kind != HYB_EVENT_FAILED;
}

void otf2_mpi_end(struct writer *w, const struct hyb_event *e)
{
	switch ((enum hyb_event_kind)e->kind) {
	case HYB_EVENT_MESSAGE:
		end_message(w, e);
		break;
	case HYB_EVENT_SENT:
		if (!was_dropped(w, e->request))
			WRITE(w, MpiIsendComplete, NULL, w->time, e->request);
		break;
	case HYB_EVENT_TESTED:
		tested(w, e->request);
		break;
	case HYB_EVENT_CANCELLED:
		if (!was_dropped(w, e->request))
			WRITE(w, MpiRequestCancelled, NULL, w->time, e->request);
		break;
	case HYB_EVENT_COLLECTED:
		collected(w, e->request);
		break;
	case HYB_EVENT_DONE:
		done(w, e->request);
		break;
	case HYB_EVENT_EPOCH:
		end_epoch(w, e);
		break;
	case HYB_EVENT_CREATED:
	case HYB_EVENT_FREED:
		end_handle(w, e);
		break;
	default:
		break;
	}
}

void otf2_mpi_release(struct writer *w)
{
	for (size_t i = 0; i < w->requests.room; i++)
		free(w->requests.slots[i].item);
	map_release(&w->requests);
	row_map_release(&w->operations);
}
