/*
 * What a call communicates: inline helpers that make a `struct operation` of MPI's arguments, for
 *
 *	record(&operation)                     the call has done it,
 *	request_started(*request, &operation)  it goes on behind a request,
 *	request_prepared(*request, &operation) a persistent request was made.
 *
 * Between end() and leave(), after MPI returned MPI_SUCCESS, so that arguments are valid. Where nothing is to
 * be recorded (MPI_PROC_NULL), `on` is NULL and all three do nothing.
 */
#ifndef HYB_MPI_MESSAGES_H
#define HYB_MPI_MESSAGES_H

#include "mpi/handles.h"

struct operation {
	struct mpi_message message; /* without the request's number */
	struct handle *on;
};

static inline void record(const struct operation *operation)
{
	if (operation->on)
		api->message(&operation->message);
}

/* For api->end_late(). */
static inline const struct mpi_message *recorded(const struct operation *operation)
{
	return operation->on ? &operation->message : NULL;
}

/* Bytes of `count` elements. A type without elements is not looked at: it may be none. */
static inline uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
	MPI_Count size = 0;

	if (count <= 0)
		return 0;
#ifndef OPEN_MPI
	/* MPICH's ABI keeps the size of a basic type in its handle. */
	if (((unsigned)type & 0xffff0000u) == 0x4c000000u)
		return (uint64_t)count * ((unsigned)type >> 8 & 0xffu);
#endif
	if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
		return 0;
	return (uint64_t)count * (uint64_t)size;
}

/* The fields that MPI_Get_count and MPI_Test_cancelled read; both ABIs are frozen. */
static inline uint64_t status_bytes(const MPI_Status *status)
{
#ifdef OPEN_MPI
	return status->_ucount;
#else
	return (uint64_t)((unsigned)status->count_hi_and_cancelled >> 1) << 32 | (unsigned)status->count_lo;
#endif
}

static inline bool status_cancelled(const MPI_Status *status)
{
#ifdef OPEN_MPI
	return status->_cancelled;
#else
	return status->count_hi_and_cancelled & 1;
#endif
}

static inline struct operation operation_on(struct handle *handle, enum hyb_message_op op, uint32_t peer)
{
	struct operation operation = {.on = handle};

	operation.message.op = (uint8_t)op;
	operation.message.handle = handle ? handle->id : 0;
	operation.message.peer = peer;
	return operation;
}

static inline struct operation operation_none(void)
{
	return (struct operation){.on = NULL};
}

/* A message to a rank or from it that is about to be; what it is `on` is NULL for MPI_PROC_NULL. */
static inline struct operation operation_toward(MPI_Comm comm, enum hyb_message_op op, int peer, int tag)
{
	struct handle *on = peer == MPI_PROC_NULL ? NULL : comm_handle(comm);
	struct operation operation = operation_on(on, op, on ? handle_peer(on, peer) : HYB_PEER_NONE);

	operation.message.tag = tag;
	return operation;
}

static inline struct operation operation_send(
	MPI_Comm comm, int dest, int tag, MPI_Count count, MPI_Datatype type)
{
	struct operation operation = operation_toward(comm, HYB_MESSAGE_SEND, dest, tag);

	operation.message.sent = operation.on ? bytes_of(count, type) : 0;
	return operation;
}

static inline struct operation operation_received(struct handle *on, const MPI_Status *status)
{
	struct operation operation;

	if (!on || status->MPI_SOURCE == MPI_PROC_NULL)
		return operation_none();
	operation = operation_on(on, HYB_MESSAGE_RECV, handle_peer(on, status->MPI_SOURCE));
	operation.message.tag = status->MPI_TAG;
	operation.message.received = status_bytes(status);
	return operation;
}

/* A message that is there: MPI_Recv, MPI_Sendrecv. `status` is not MPI_STATUS_IGNORE. */
static inline struct operation operation_recv(MPI_Comm comm, const MPI_Status *status)
{
	return operation_received(comm_handle(comm), status);
}

/* A receive that begins: MPI_Irecv, MPI_Recv_init. The status at its completion has the size and the
 * source. */
static inline struct operation operation_post(
	MPI_Comm comm, int source, int tag, MPI_Count count, MPI_Datatype type)
{
	struct operation operation = operation_toward(comm, HYB_MESSAGE_RECV, source, tag);

	operation.message.received = operation.on ? bytes_of(count, type) : 0;
	return operation;
}

/*
 * One-sided: bytes to the target and from it. PUT: sent of the origin; GET: received; UPDATE: sent of the
 * origin (none with MPI_NO_OP), received of the result.
 */
static inline struct operation operation_rma(
	MPI_Win win, enum hyb_message_op op, int target, uint64_t sent, uint64_t received)
{
	struct operation operation;
	struct handle *on;

	if (target == MPI_PROC_NULL)
		return operation_none();
	on = win_handle(win);
	operation = operation_on(on, op, on ? handle_peer(on, target) : HYB_PEER_NONE);
	operation.message.sent = sent;
	operation.message.received = received;
	return operation;
}

/* A synchronisation of a window; target MPI_PROC_NULL: of no one rank. */
static inline void epoch(MPI_Win win, int target)
{
	struct handle *on = win_handle(win);

	if (on)
		api->epoch(on->id, handle_peer(on, target));
}

/*
 * MPI-IO. `offset` as the format has it: byte in the file + 1, or 0. READ counts as received, WRITE as sent;
 * bytes: of the status of a call that has finished, else bytes_of().
 */
static inline struct operation operation_io(
	MPI_File file, enum hyb_message_op op, uint64_t offset, uint64_t bytes)
{
	struct operation operation = operation_on(file_handle(file), op, HYB_PEER_NONE);

	operation.message.offset = offset;
	if (op == HYB_MESSAGE_READ)
		operation.message.received = bytes;
	else
		operation.message.sent = bytes;
	return operation;
}

/* Explicit offset (in etypes of the view) to the format's. */
uint64_t file_offset(MPI_File file, MPI_Offset offset);
/* Of the individual pointer, before the call that moves it (behind begin()). 0: not known. No definition. */
uint64_t file_position(MPI_File file);
/* Split collectives: ..._begin stores the offset, ..._end reads it. */
void file_split_begin(MPI_File file, uint64_t offset);
uint64_t file_split_end(MPI_File file);

#endif
