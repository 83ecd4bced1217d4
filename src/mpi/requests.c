/*
 * Facts, found by experiment (MPICH 4.0.2 ch4:ucx, Open MPI 4.1.4):
 *  - What is complete at once bears a handle that many requests share at a time. MPICH has a built-in one for
 * each kind (0x6c000001 sends, ...2 receives, ...a collectives, ...c one-sided), Open MPI one for all
 *    (&ompi_request_empty): small MPI_Isend, everything to MPI_PROC_NULL, collectives of one process or of
 * nothing. Such requests are complete where they began, and are not followed. Receives of a message that is
 *    there already, persistent requests, and what MPI-IO makes have handles of their own.
 *  - A handle is given out again at once after completion, to any thread.
 *  - The status of a send: MPICH leaves it as it was, so that its cancelled bit is worth reading only if
 * MPI_Cancel was called. Open MPI does the same to that of MPI_File_i*.
 *  - The status of MPI_Isendrecv: MPICH leaves what an earlier request had there. Partitioned receives have a
 * right one.
 */
#include "mpi/requests.h"

static struct handle_map requests = {.entry = (sizeof(struct request) + 7) & ~7u, .bits = 12};
static struct handle_map matched = {.entry = sizeof(struct matched), .bits = 4};
static _Atomic uint64_t last_number;
static MPI_Request shared; /* also of an MPI with MPICH's ABI and other handles */
static bool has_shared;

void requests_start(void)
{
	MPI_Request pair[2];
	MPI_Status statuses[2];

	for (int i = 0; i < 2; i++)
		if (PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &pair[i]) != MPI_SUCCESS)
			return;
	shared = pair[0];
	has_shared = pair[0] == pair[1];
	PMPI_Waitall(2, pair, statuses);
}

/* No other request has this handle, and MPI will ask for it again. */
static bool own_handle(MPI_Request request)
{
#ifndef OPEN_MPI
	if ((unsigned)request >> 30 == 1)
		return false;
#endif
	return request != MPI_REQUEST_NULL && !(has_shared && request == shared);
}

handle_slot *request_find(MPI_Request request)
{
	return own_handle(request) ? handle_map_find(&requests, handle_key(request)) : NULL;
}

struct request *request_at(handle_slot *slot)
{
	return handle_map_entry(&requests, slot);
}

static uint64_t new_number(void)
{
	return atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
}

static void begin(struct request *request)
{
	struct mpi_message *message = &request->operation.message;
	uint64_t taken = message->request; /* MPI_Mprobe recorded that it began */

	request->number = taken ? taken : new_number();
	request->active = true;
	request->cancelling = false;
	if (message->op != HYB_MESSAGE_RECV && request->operation.on) {
		message->request = request->number;
		api->message(message);
	}
	message->request = 0; /* it may be started again */
	if ((message->op == HYB_MESSAGE_RECV && !taken) || request->receive.on)
		api->request(HYB_OTHER_POSTED, request->number);
}

#ifndef OPEN_MPI
/* The status of MPI_Isendrecv is not its own; what was asked for is known, and that it has come. */
static struct operation received_blindly(const struct operation *posted)
{
	static atomic_flag reported = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&reported))
		api->note(HYB_NOTE_WARNING,
			"MPICH does not report what MPI_Isendrecv received: sizes are those of the buffers");
	if (posted->message.peer != HYB_PEER_NONE && posted->message.tag != MPI_ANY_TAG)
		return *posted;
	api->untracked();
	return operation_none();
}
#endif

static void received(const struct request *request, const struct operation *posted, const MPI_Status *status)
{
	struct operation operation;

#ifndef OPEN_MPI
	if (posted == &request->receive)
		operation = received_blindly(posted);
	else
#endif
		operation = operation_received(posted->on, status);
	operation.message.request = request->number;
	record(&operation);
}

void request_complete(struct request *request, const MPI_Status *status)
{
	if (!request->active)
		return;
	request->active = false;
	if (request->cancelling && status_cancelled(status)) {
		api->request(HYB_OTHER_CANCELLED, request->number);
		return;
	}
	switch (request->operation.message.op) {
	case HYB_MESSAGE_SEND:
		api->request(HYB_OTHER_SENT, request->number);
		api->waited(&request->operation.message);
		break;
	case HYB_MESSAGE_RECV:
		received(request, &request->operation, status);
		break;
	case HYB_MESSAGE_COLLECTIVE:
		api->request(HYB_OTHER_COLLECTED, request->number);
		break;
	case 0: /* MPI_Isendrecv that sends nothing */
		break;
	default:
		api->request(HYB_OTHER_DONE, request->number);
	}
	if (request->receive.on)
		received(request, &request->receive, status);
}

static void fill(struct request *request, const struct operation *operation, const struct operation *receive)
{
	request->operation = *operation;
	if (receive)
		request->receive = *receive;
	else
		request->receive.on = NULL;
	request->persistent = false;
	request->active = false;
}

/* A stale entry (of a request that was completed while nothing was measured) is overwritten. */
static void start(MPI_Request handle, const struct operation *operation, const struct operation *receive)
{
	handle_slot *slot = handle_map_claim(&requests, handle_key(handle));
	struct request *request;

	if (!slot) {
		api->untracked();
		return;
	}
	request = request_at(slot);
	fill(request, operation, receive);
	begin(request);
	handle_map_set(slot, handle_key(handle));
}

/* It was complete before it had a handle of its own. */
static void pass(const struct operation *operation, const struct operation *receive)
{
	static const MPI_Status nothing;
	struct request request;

	if (operation->message.op == HYB_MESSAGE_RECV || receive) {
		/* Neither MPI does that; nothing would distinguish its status from others. */
		api->untracked();
		return;
	}
	fill(&request, operation, NULL);
	begin(&request);
	request_complete(&request, &nothing);
}

void request_started(MPI_Request handle, const struct operation *operation)
{
	if (!operation->on)
		return;
	if (own_handle(handle))
		start(handle, operation, NULL);
	else
		pass(operation, NULL);
}

void request_started_both(MPI_Request handle, const struct operation *send, const struct operation *receive)
{
	if (!receive->on)
		request_started(handle, send);
	else if (own_handle(handle))
		start(handle, send, receive);
	else
		pass(send, receive);
}

void request_prepared(MPI_Request handle, const struct operation *operation)
{
	handle_slot *slot;

	if (!operation->on || !own_handle(handle))
		return;
	slot = handle_map_claim(&requests, handle_key(handle));
	if (!slot) {
		api->untracked();
		return;
	}
	fill(request_at(slot), operation, NULL);
	request_at(slot)->persistent = true;
	handle_map_set(slot, handle_key(handle));
}

void request_begun(MPI_Request handle)
{
	handle_slot *slot = request_find(handle);

	if (slot)
		begin(request_at(slot));
}

void request_cancelling(MPI_Request handle)
{
	handle_slot *slot = request_find(handle);

	if (slot)
		request_at(slot)->cancelling = true;
}

void message_matched(MPI_Message message, MPI_Comm comm)
{
	struct matched what = {.on = comm_handle(comm)};
	handle_slot *slot;

	if (message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC || !what.on)
		return;
	slot = handle_map_claim(&matched, handle_key(message));
	if (!slot)
		return;
	what.number = new_number();
	*(struct matched *)handle_map_entry(&matched, slot) = what;
	handle_map_set(slot, handle_key(message));
	api->request(HYB_OTHER_POSTED, what.number);
}

struct matched message_taken(MPI_Message message)
{
	handle_slot *slot = handle_map_find(&matched, handle_key(message));
	struct matched what = {.on = NULL};

	if (slot) {
		what = *(struct matched *)handle_map_entry(&matched, slot);
		handle_map_set(slot, HANDLE_FREE);
	}
	return what;
}

struct operation operation_post_matched(const struct matched *what, MPI_Count count, MPI_Datatype type)
{
	struct operation operation = operation_on(what->on, HYB_MESSAGE_RECV, HYB_PEER_NONE);

	operation.message.request = what->number;
	operation.message.received = bytes_of(count, type);
	return operation;
}
