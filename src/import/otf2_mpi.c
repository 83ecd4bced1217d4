/* Messages, collective, one-sided and I/O operations: records, and nodes below their regions. */
#include "otf2_callback.h"

#define STARTED (1ull << 63) /* bit of a request's number: its end is to come */

/* ---------------------------------------------------------------- requests */

static uint64_t get_number(const struct map *of, uint64_t id)
{
	return (uintptr_t)map_get(of, MAP_KEY(id));
}

static uint64_t take_number(struct map *of, uint64_t id)
{
	return (uintptr_t)map_remove(of, MAP_KEY(id));
}

static void put_number(struct import *im, struct map *of, uint64_t id, uint64_t number)
{
	im->failed |= !map_put(of, MAP_KEY(id), (void *)(uintptr_t)number);
}

/*
 * The number of a request whose start is read. Another thread of the process may have had its end already:
 * threads are read one after the other.
 */
static uint64_t request_start(struct import *im, struct map *of, uint64_t id)
{
	uint64_t number = get_number(of, id);

	if (number && !(number & STARTED))
		return take_number(of, id);
	number = ++im->last_request;
	put_number(im, of, id, number | STARTED);
	return number;
}

static uint64_t request_end(struct import *im, struct map *of, uint64_t id)
{
	uint64_t number = get_number(of, id);

	if (number & STARTED)
		return take_number(of, id) & ~STARTED;
	number = ++im->last_request;
	put_number(im, of, id, number);
	return number;
}

static uint64_t request_number(struct import *im, uint64_t id)
{
	return get_number(&im->requests, id) & ~STARTED;
}

static void put_request(struct import *im, enum hyb_other what, uint64_t number)
{
	if (number)
		thread_mpi(im, &(struct mpi_record){.what = (uint8_t)what, .request = number});
}

/* ----------------------------------------------------------------- handles */

static uint64_t identity_of(enum hyb_handle_kind kind, uint64_t ref)
{
	return (uint64_t)kind << 32 | (ref + 1);
}

/* Where a world rank stands in a group; UINT32_MAX: it is no member. */
static uint32_t place_in(const struct import *im, const struct group_def *group, uint32_t rank)
{
	uint32_t size = group ? defs_group_size(im->d, group) : 0;

	for (uint32_t i = 0; i < size; i++)
		if (defs_world_rank(im->d, group, i, rank) == rank)
			return i;
	return UINT32_MAX;
}

static const struct group_def *group_at(const struct import *im, OTF2_GroupRef ref)
{
	return ref == OTF2_UNDEFINED_GROUP ? NULL : refs_get(&im->d->groups, ref);
}

/* The process as a member of a communicator. */
static void fill_members(const struct import *im, const struct comm_def *comm, struct hyb_def_handle *handle)
{
	const struct group_def *own = comm ? group_at(im, comm->group) : NULL;
	const struct group_def *other = comm ? group_at(im, comm->other) : NULL;
	uint32_t place = place_in(im, own, im->process->rank);

	if (place == UINT32_MAX && other) {
		const struct group_def *swap = own;

		place = place_in(im, other, im->process->rank);
		own = other;
		other = swap;
		handle->group = 1;
	}
	handle->rank = place == UINT32_MAX ? 0 : place;
	handle->size = own ? defs_group_size(im->d, own) : 1;
	handle->remote = other ? defs_group_size(im->d, other) : 0;
}

/* What the archive calls by a reference, as the process calls it; 0: no such thing. Defined at its first use.
 */
static uint32_t handle_of(struct import *im, enum hyb_handle_kind kind, uint32_t ref)
{
	const struct comm_def *comm = kind == HYB_HANDLE_COMM ? refs_get(&im->d->comms, ref) : NULL;
	const struct window_def *window = kind == HYB_HANDLE_WINDOW ? refs_get(&im->d->windows, ref) : NULL;
	const struct file_def *file = kind == HYB_HANDLE_FILE ? refs_get(&im->d->handles, ref) : NULL;
	const struct file_def *path = file ? refs_get(&im->d->files, file->file) : NULL;
	struct hyb_def_handle def = {.identity = identity_of(kind, ref), .kind = (uint16_t)kind};
	uint32_t *id = refs_get(&im->handles, def.identity), parent = OTF2_UNDEFINED_COMM;
	OTF2_StringRef name;

	if (id)
		return *id;
	if (!comm && !window && !file)
		return 0;
	name = comm ? comm->name : window ? window->name : path ? path->name : file->name;
	parent = comm ? comm->parent : window ? window->comm : file->comm;
	def.parent = parent == OTF2_UNDEFINED_COMM ? 0 : identity_of(HYB_HANDLE_COMM, parent);
	fill_members(im, comm ? comm : refs_get(&im->d->comms, parent), &def);
	id = refs_add(&im->handles, def.identity, sizeof(*id));
	if (!id) {
		im->failed = true;
		return 0;
	}
	*id = def.id = (uint32_t)im->handles.count;
	hyb_write_handle(im->w, &def, defs_string(im->d, name));
	return *id;
}

/* The world rank of a rank of a communicator; of an inter-communicator: of its other group. */
static uint32_t peer_of(const struct import *im, const struct comm_def *comm, uint32_t rank)
{
	const struct group_def *group = comm ? group_at(im, comm->group) : NULL;
	const struct group_def *other = comm ? group_at(im, comm->other) : NULL;

	if (other && place_in(im, group, im->process->rank) != UINT32_MAX)
		group = other;
	return defs_world_rank(im->d, group, rank, im->process->rank);
}

static uint32_t root_of(const struct import *im, const struct comm_def *comm, uint32_t root)
{
	if (root == OTF2_COLLECTIVE_ROOT_SELF)
		return im->process->rank;
	if (root == OTF2_COLLECTIVE_ROOT_NONE || root == OTF2_COLLECTIVE_ROOT_THIS_GROUP)
		return HYB_PEER_NONE;
	return peer_of(im, comm, root);
}

/* ---------------------------------------------------------------- messages */

static unsigned size_class(uint64_t bytes)
{
	return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

/* Counts a message below the region of MPI that is open. */
static void count_message(struct import *im, enum hyb_message_op op, const struct mpi_record *r)
{
	size_t level = thread_innermost(im);
	const struct region_def *region = refs_at(&im->d->regions, im->stack[level].region);
	unsigned size = size_class(r->sent > r->received ? r->sent : r->received);
	struct hyb_node *node;
	uint32_t index;

	if (!region || region->kind != HYB_REGION_MPI)
		return;
	index = thread_child(im, im->stack[level].node, HYB_NODE_MESSAGE,
		HYB_MESSAGE(op, size < 63 ? size : 63, r->handle <= 0xfffff ? r->handle : 0, r->peer));
	node = im->nodes[index].node;
	node->count++;
	node->sent += r->sent;
	node->received += r->received;
	/* A call that carries several has no time of its own for one. */
	im->stack[level].carried += r->request ? 2 : 1;
	im->stack[level].message = index;
}

static void put_counted(struct import *im, enum hyb_message_op op, struct mpi_record record)
{
	record.what = (uint8_t)mpi_record_of(op);
	im->lost += !record.handle;
	count_message(im, op, &record);
	thread_mpi(im, &record);
}

static void put_message(struct import *im, bool send, uint32_t rank, OTF2_CommRef ref, uint32_t tag,
	uint64_t bytes, uint64_t request)
{
	put_counted(im, send ? HYB_MESSAGE_SEND : HYB_MESSAGE_RECV,
		(struct mpi_record){.handle = handle_of(im, HYB_HANDLE_COMM, ref),
			.peer = peer_of(im, refs_get(&im->d->comms, ref), rank),
			.tag = (int32_t)tag,
			.sent = send ? bytes : 0,
			.received = send ? 0 : bytes,
			.request = request});
}

/* -------------------------------------------------------------- collectives */

static uint8_t collective_of(OTF2_CollectiveOp op)
{
	static const uint8_t collectives[] = {
		[OTF2_COLLECTIVE_OP_BARRIER] = HYB_COLLECTIVE_BARRIER,
		[OTF2_COLLECTIVE_OP_BCAST] = HYB_COLLECTIVE_BCAST,
		[OTF2_COLLECTIVE_OP_GATHER] = HYB_COLLECTIVE_GATHER,
		[OTF2_COLLECTIVE_OP_GATHERV] = HYB_COLLECTIVE_GATHERV,
		[OTF2_COLLECTIVE_OP_SCATTER] = HYB_COLLECTIVE_SCATTER,
		[OTF2_COLLECTIVE_OP_SCATTERV] = HYB_COLLECTIVE_SCATTERV,
		[OTF2_COLLECTIVE_OP_ALLGATHER] = HYB_COLLECTIVE_ALLGATHER,
		[OTF2_COLLECTIVE_OP_ALLGATHERV] = HYB_COLLECTIVE_ALLGATHERV,
		[OTF2_COLLECTIVE_OP_ALLTOALL] = HYB_COLLECTIVE_ALLTOALL,
		[OTF2_COLLECTIVE_OP_ALLTOALLV] = HYB_COLLECTIVE_ALLTOALLV,
		[OTF2_COLLECTIVE_OP_ALLTOALLW] = HYB_COLLECTIVE_ALLTOALLW,
		[OTF2_COLLECTIVE_OP_ALLREDUCE] = HYB_COLLECTIVE_ALLREDUCE,
		[OTF2_COLLECTIVE_OP_REDUCE] = HYB_COLLECTIVE_REDUCE,
		[OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = HYB_COLLECTIVE_REDUCE_SCATTER,
		[OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = HYB_COLLECTIVE_REDUCE_SCATTER_BLOCK,
		[OTF2_COLLECTIVE_OP_SCAN] = HYB_COLLECTIVE_SCAN,
		[OTF2_COLLECTIVE_OP_EXSCAN] = HYB_COLLECTIVE_EXSCAN,
	};

	return op < sizeof(collectives) ? collectives[op] : HYB_COLLECTIVE_UNKNOWN;
}

static void put_collective(struct import *im, OTF2_CollectiveOp op, OTF2_CommRef ref, uint32_t root,
	uint64_t sent, uint64_t received, uint64_t request)
{
	put_counted(im, HYB_MESSAGE_COLLECTIVE,
		(struct mpi_record){.handle = handle_of(im, HYB_HANDLE_COMM, ref),
			.peer = root_of(im, refs_get(&im->d->comms, ref), root),
			.sent = sent,
			.received = received,
			.request = request,
			.operation = collective_of(op)});
}

/* Around what makes or gives back a communicator, which has an event of its own. */
static void end_collective(struct import *im, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
	uint64_t sent, uint64_t received)
{
	if (op < OTF2_COLLECTIVE_OP_CREATE_HANDLE || op > OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE ||
		op == OTF2_COLLECTIVE_OP_ALLOCATE || op == OTF2_COLLECTIVE_OP_DEALLOCATE)
		put_collective(im, op, comm, root, sent, received, 0);
}

/* `what`: HYB_OTHER_CREATED or HYB_OTHER_FREED. */
static void put_handle(struct import *im, enum hyb_other what, unsigned kind, uint32_t ref)
{
	uint32_t handle = handle_of(im, kind, ref);

	im->lost += !handle;
	thread_mpi(im, &(struct mpi_record){.what = (uint8_t)what, .handle = handle});
}

/* The archive has the operation only when it is complete. */
static void put_collected(struct import *im, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
	uint64_t sent, uint64_t received, uint64_t request)
{
	uint64_t number = request_end(im, &im->requests, request);

	put_collective(im, op, comm, root, sent, received, number);
	put_request(im, HYB_OTHER_COLLECTED, number);
}

/* --------------------------------------------------------------- one-sided */

static const struct comm_def *comm_of(const struct import *im, OTF2_RmaWinRef window)
{
	const struct window_def *def = refs_get(&im->d->windows, window);

	return def ? refs_get(&im->d->comms, def->comm) : NULL;
}

/* Operations of windows and files have numbers of their own. */
static uint64_t operation_key(enum hyb_handle_kind kind, uint32_t ref, uint64_t matching)
{
	return matching ^ ((uint64_t)kind << 32 | ref) * 0x9e3779b97f4a7c15u;
}

static void put_one_sided(struct import *im, enum hyb_message_op op, OTF2_RmaWinRef window, uint32_t rank,
	uint64_t to, uint64_t from, uint64_t matching)
{
	uint64_t key = operation_key(HYB_HANDLE_WINDOW, window, matching);

	put_counted(im, op,
		(struct mpi_record){.handle = handle_of(im, HYB_HANDLE_WINDOW, window),
			.peer = peer_of(im, comm_of(im, window), rank),
			.sent = to,
			.received = from,
			.request = request_start(im, &im->operations, key)});
}

static void end_one_sided(struct import *im, OTF2_RmaWinRef window, uint64_t matching)
{
	put_request(im, HYB_OTHER_DONE,
		request_end(im, &im->operations, operation_key(HYB_HANDLE_WINDOW, window, matching)));
}

static void put_epoch(struct import *im, OTF2_RmaWinRef window, uint32_t rank)
{
	uint32_t handle = handle_of(im, HYB_HANDLE_WINDOW, window);
	uint32_t peer = rank == UINT32_MAX ? HYB_PEER_NONE : peer_of(im, comm_of(im, window), rank);

	im->lost += !handle;
	thread_mpi(im, &(struct mpi_record){.what = HYB_OTHER_EPOCH, .handle = handle, .peer = peer});
}

/* ------------------------------------------------------------------- files */

#define IO_WRITE (1ull << 62) /* bits beside the number of a request */
#define IO_OTHER (1ull << 61)
#define IO_WAITS (1ull << 60)
#define IO_BITS (IO_WRITE | IO_OTHER | IO_WAITS)

static void put_transfer(struct import *im, bool write, uint32_t ref, uint64_t bytes, uint64_t request)
{
	put_counted(im, write ? HYB_MESSAGE_WRITE : HYB_MESSAGE_READ,
		(struct mpi_record){.handle = handle_of(im, HYB_HANDLE_FILE, ref),
			.peer = HYB_PEER_NONE,
			.sent = write ? bytes : 0,
			.received = write ? 0 : bytes,
			.request = request});
}

/* A blocking one is recorded when it is complete: its bytes are known then. */
static void begin_transfer(struct import *im, OTF2_IoHandleRef file, OTF2_IoOperationMode mode,
	OTF2_IoOperationFlag flags, uint64_t bytes, uint64_t matching)
{
	uint64_t key = operation_key(HYB_HANDLE_FILE, file, matching), number = ++im->last_request;
	uint64_t bits = mode == OTF2_IO_OPERATION_MODE_WRITE  ? IO_WRITE
			: mode == OTF2_IO_OPERATION_MODE_READ ? 0
							      : IO_OTHER;

	if (!(flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING))
		bits |= IO_WAITS;
	else if (!(bits & IO_OTHER))
		put_transfer(im, bits & IO_WRITE, file, bytes, number);
	put_number(im, &im->operations, key, number | bits);
}

static void complete_transfer(struct import *im, OTF2_IoHandleRef file, uint64_t bytes, uint64_t matching)
{
	uint64_t number = take_number(&im->operations, operation_key(HYB_HANDLE_FILE, file, matching));

	if (!number)
		im->lost++;
	else if (number & IO_OTHER)
		im->left_out[LEFT_IO]++;
	else if (number & IO_WAITS)
		put_transfer(im, number & IO_WRITE, file, bytes, 0);
	else
		put_request(im, HYB_OTHER_DONE, number & ~IO_BITS);
}

static void cancel_transfer(struct import *im, OTF2_IoHandleRef file, uint64_t matching)
{
	uint64_t number = take_number(&im->operations, operation_key(HYB_HANDLE_FILE, file, matching));

	if (number && !(number & (IO_OTHER | IO_WAITS)))
		put_request(im, HYB_OTHER_CANCELLED, number & ~IO_BITS);
}

/* ----------------------------------------------------------------- records */

/* Communicators and windows are defined at their first use. */
#define SHOWN(ROW) \
	ROW(MpiSend, put_message(im, true, rank, comm, tag, bytes, 0), uint32_t rank, OTF2_CommRef comm, \
		uint32_t tag, uint64_t bytes) \
	ROW(MpiIsend, \
		put_message(im, true, rank, comm, tag, bytes, request_start(im, &im->requests, request)), \
		uint32_t rank, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request) \
	ROW(MpiIsendComplete, put_request(im, HYB_OTHER_SENT, request_end(im, &im->requests, request)), \
		uint64_t request) \
	ROW(MpiIrecvRequest, put_request(im, HYB_OTHER_POSTED, request_start(im, &im->requests, request)), \
		uint64_t request) \
	ROW(MpiRecv, put_message(im, false, rank, comm, tag, bytes, 0), uint32_t rank, OTF2_CommRef comm, \
		uint32_t tag, uint64_t bytes) \
	ROW(MpiIrecv, \
		put_message(im, false, rank, comm, tag, bytes, request_end(im, &im->requests, request)), \
		uint32_t rank, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request) \
	ROW(MpiRequestTest, put_request(im, HYB_OTHER_TESTED, request_number(im, request)), \
		uint64_t request) \
	ROW(MpiRequestCancelled, \
		put_request(im, HYB_OTHER_CANCELLED, request_end(im, &im->requests, request)), \
		uint64_t request) \
	ROW(MpiCollectiveBegin, NOTHING) \
	ROW(MpiCollectiveEnd, end_collective(im, op, comm, root, sent, received), OTF2_CollectiveOp op, \
		OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received) \
	ROW(NonBlockingCollectiveRequest, request_start(im, &im->requests, request), uint64_t request) \
	ROW(NonBlockingCollectiveComplete, put_collected(im, op, comm, root, sent, received, request), \
		OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received, \
		uint64_t request) \
	ROW(CommCreate, put_handle(im, HYB_OTHER_CREATED, HYB_HANDLE_COMM, comm), OTF2_CommRef comm) \
	ROW(CommDestroy, put_handle(im, HYB_OTHER_FREED, HYB_HANDLE_COMM, comm), OTF2_CommRef comm) \
	ROW(RmaWinCreate, put_handle(im, HYB_OTHER_CREATED, HYB_HANDLE_WINDOW, window), \
		OTF2_RmaWinRef window) \
	ROW(RmaWinDestroy, put_handle(im, HYB_OTHER_FREED, HYB_HANDLE_WINDOW, window), \
		OTF2_RmaWinRef window) \
	ROW(RmaPut, put_one_sided(im, HYB_MESSAGE_PUT, window, rank, bytes, 0, matching), \
		OTF2_RmaWinRef window, uint32_t rank, uint64_t bytes, uint64_t matching) \
	ROW(RmaGet, put_one_sided(im, HYB_MESSAGE_GET, window, rank, 0, bytes, matching), \
		OTF2_RmaWinRef window, uint32_t rank, uint64_t bytes, uint64_t matching) \
	ROW(RmaAtomic, put_one_sided(im, HYB_MESSAGE_UPDATE, window, rank, sent, received, matching), \
		OTF2_RmaWinRef window, uint32_t rank, OTF2_RmaAtomicType type, uint64_t sent, \
		uint64_t received, uint64_t matching) \
	ROW(RmaOpCompleteBlocking, end_one_sided(im, window, matching), OTF2_RmaWinRef window, \
		uint64_t matching) \
	ROW(RmaOpCompleteNonBlocking, end_one_sided(im, window, matching), OTF2_RmaWinRef window, \
		uint64_t matching) \
	ROW(RmaOpTest, NOTHING, OTF2_RmaWinRef window, uint64_t matching) \
	ROW(RmaOpCompleteRemote, NOTHING, OTF2_RmaWinRef window, uint64_t matching) \
	ROW(RmaCollectiveBegin, NOTHING) \
	ROW(RmaCollectiveEnd, put_epoch(im, window, UINT32_MAX), OTF2_CollectiveOp op, \
		OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, uint32_t root, uint64_t sent, \
		uint64_t received) \
	ROW(RmaGroupSync, put_epoch(im, window, UINT32_MAX), OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, \
		OTF2_GroupRef group) \
	ROW(RmaAcquireLock, put_epoch(im, window, rank), OTF2_RmaWinRef window, uint32_t rank, \
		uint64_t lock, OTF2_LockType type) \
	ROW(RmaReleaseLock, put_epoch(im, window, rank), OTF2_RmaWinRef window, uint32_t rank, \
		uint64_t lock) \
	ROW(RmaSync, put_epoch(im, window, rank), OTF2_RmaWinRef window, uint32_t rank, \
		OTF2_RmaSyncType type) \
	ROW(RmaWaitChange, put_epoch(im, window, UINT32_MAX), OTF2_RmaWinRef window) \
	ROW(IoOperationBegin, begin_transfer(im, file, mode, flags, bytes, matching), OTF2_IoHandleRef file, \
		OTF2_IoOperationMode mode, OTF2_IoOperationFlag flags, uint64_t bytes, uint64_t matching) \
	ROW(IoOperationComplete, complete_transfer(im, file, bytes, matching), OTF2_IoHandleRef file, \
		uint64_t bytes, uint64_t matching) \
	ROW(IoOperationCancelled, cancel_transfer(im, file, matching), OTF2_IoHandleRef file, \
		uint64_t matching)

SHOWN(DEFINE_CALLBACK)

void import_set_mpi(OTF2_EvtReaderCallbacks *callbacks)
{
	SHOWN(SET_CALLBACK);
}
