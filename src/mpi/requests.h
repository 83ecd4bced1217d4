/*
 * Requests from their start to their completion: what each active MPI_Request stands for.
 *
 * Any thread; no lock; memory is mapped and kept. A handle value belongs to whoever holds the request, so
 * that two threads never work on the same entry. Between end() and leave().
 */
#ifndef HYB_MPI_REQUESTS_H
#define HYB_MPI_REQUESTS_H

#include "mpi/messages.h"
#include "mpi/handle_map.h"

struct request {
	uint64_t number; /* of its last start; never used before in the process */
	struct operation operation;
	struct operation receive; /* of MPI_Isendrecv: .on is not NULL */
	bool active;
	bool persistent;
	bool cancelling; /* MPI_Cancel was called: its status is worth asking */
};

/* The requests of MPI_Isend, MPI_Irecv, MPI_Ibcast, MPI_Rput, MPI_File_iread ...: records what began. */
void request_started(MPI_Request request, const struct operation *operation);
/* MPI_Isendrecv, MPI_Isendrecv_replace: operation_send() and operation_post(). */
void request_started_both(MPI_Request request, const struct operation *send, const struct operation *receive);

/* MPI_Send_init, MPI_Recv_init, MPI_Bcast_init, MPI_Psend_init (bytes of all partitions) ... */
void request_prepared(MPI_Request request, const struct operation *operation);
/* MPI_Start; for each request of MPI_Startall. */
void request_begun(MPI_Request request);

/* MPI_Cancel, before it is called. */
void request_cancelling(MPI_Request request);

/* What MPI_Mprobe took: a receive that began there, with that number. */
struct matched {
	struct handle *on;
	uint64_t number;
};

/* MPI_Mprobe, MPI_Improbe (flag is true): records that a receive began. */
void message_matched(MPI_Message message, MPI_Comm comm);
/* Before PMPI_Mrecv, PMPI_Imrecv, which end the handle: `on` is NULL if it is not known. No definition.
 */
struct matched message_taken(MPI_Message message);
/* After PMPI_Imrecv. */
struct operation operation_post_matched(const struct matched *what, MPI_Count count, MPI_Datatype type);

/* For completion.c: where the request is kept (see handle_map.h); NULL: it is not followed. */
handle_slot *request_find(MPI_Request request);
struct request *request_at(handle_slot *slot);
/* It is complete: records what that means, if it was active. */
void request_complete(struct request *request, const MPI_Status *status);

/* By world_meet(): which handle this MPI gives out for all requests that are complete at once. */
void requests_start(void);

#endif
