#include "mpi/collectives.h"

#include "mpi/ranks.h"

static struct operation collective(MPI_Comm comm, enum hyb_operation what)
{
	struct operation operation = operation_on(comm_handle(comm), HYB_MESSAGE_COLLECTIVE, HYB_PEER_NONE);

	operation.message.collective = (uint8_t)what;
	return operation;
}

static struct operation with_bytes(MPI_Comm comm, enum hyb_operation what, uint64_t sent, uint64_t received)
{
	struct operation operation = collective(comm, what);

	operation.message.sent = sent;
	operation.message.received = received;
	return operation;
}

/* How many processes one sends to, or gets from. */
static uint32_t partners(const struct handle *on)
{
	return on->remote ? on->remote : on->size;
}

static uint64_t count_at(struct counts counts, uint32_t i)
{
	MPI_Count count = counts.wide ? ((const MPI_Count *)counts.of)[i] : ((const int *)counts.of)[i];

	return count > 0 ? (uint64_t)count : 0;
}

static uint64_t bytes_at(const struct blocks *blocks, uint32_t i)
{
	MPI_Count count = blocks->counts.of ? (MPI_Count)count_at(blocks->counts, i) : blocks->count;

	return bytes_of(count, blocks->types ? blocks->types[i] : blocks->type);
}

static uint64_t bytes_of_all(const struct blocks *blocks, uint32_t n)
{
	uint64_t bytes = 0, count = 0;

	if (!blocks->counts.of)
		return bytes_at(blocks, 0) * n;
	for (uint32_t i = 0; i < n; i++) {
		if (blocks->types)
			bytes += bytes_at(blocks, i);
		else
			count += count_at(blocks->counts, i);
	}
	return blocks->types ? bytes : bytes_of((MPI_Count)count, blocks->type);
}

/* What the process is in a call with a root. */
enum part { PART_NONE, PART_ROOT, PART_OTHER };

static enum part set_root(struct operation *operation, int root)
{
	const struct handle *on = operation->on;

	if (!on || root == MPI_PROC_NULL)
		return PART_NONE;
	if (root == MPI_ROOT) {
		operation->message.peer = ranks_at(on->members, on->rank);
		return PART_ROOT;
	}
	operation->message.peer = handle_peer(on, root);
	return !on->remote && (uint32_t)root == on->rank ? PART_ROOT : PART_OTHER;
}

struct operation collective_barrier(MPI_Comm comm)
{
	return collective(comm, HYB_COLLECTIVE_BARRIER);
}

struct operation collective_bcast(MPI_Comm comm, MPI_Count count, MPI_Datatype type, int root)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_BCAST);
	enum part part = set_root(&operation, root);

	if (part == PART_ROOT)
		operation.message.sent = bytes_of(count, type);
	else if (part == PART_OTHER)
		operation.message.received = bytes_of(count, type);
	return operation;
}

struct operation collective_reduce(MPI_Comm comm, MPI_Count count, MPI_Datatype type, int root)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_REDUCE);
	enum part part = set_root(&operation, root);

	if (part == PART_ROOT)
		operation.message.received = bytes_of(count, type);
	if (part != PART_NONE && root != MPI_ROOT)
		operation.message.sent = bytes_of(count, type);
	return operation;
}

struct operation collective_gather(MPI_Comm comm, enum hyb_operation what, const void *sendbuf,
	MPI_Count sendcount, MPI_Datatype sendtype, const struct blocks *receive, int root)
{
	struct operation operation = collective(comm, what);
	enum part part = set_root(&operation, root);

	if (part == PART_ROOT)
		operation.message.received = bytes_of_all(receive, partners(operation.on));
	if (part != PART_NONE && root != MPI_ROOT)
		operation.message.sent = sendbuf == MPI_IN_PLACE ? bytes_at(receive, operation.on->rank)
								 : bytes_of(sendcount, sendtype);
	return operation;
}

struct operation collective_scatter(MPI_Comm comm, enum hyb_operation what, const struct blocks *send,
	const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root)
{
	struct operation operation = collective(comm, what);
	enum part part = set_root(&operation, root);

	if (part == PART_ROOT)
		operation.message.sent = bytes_of_all(send, partners(operation.on));
	if (part != PART_NONE && root != MPI_ROOT)
		operation.message.received = recvbuf == MPI_IN_PLACE ? bytes_at(send, operation.on->rank)
								     : bytes_of(recvcount, recvtype);
	return operation;
}

struct operation collective_allgather(MPI_Comm comm, enum hyb_operation what, const void *sendbuf,
	MPI_Count sendcount, MPI_Datatype sendtype, const struct blocks *receive)
{
	struct operation operation = collective(comm, what);
	const struct handle *on = operation.on;

	if (!on)
		return operation;
	operation.message.sent =
		sendbuf == MPI_IN_PLACE ? bytes_at(receive, on->rank) : bytes_of(sendcount, sendtype);
	operation.message.received = bytes_of_all(receive, partners(on));
	return operation;
}

struct operation collective_alltoall(MPI_Comm comm, enum hyb_operation what, const void *sendbuf,
	const struct blocks *send, const struct blocks *receive)
{
	struct operation operation = collective(comm, what);
	uint64_t received;

	if (!operation.on)
		return operation;
	received = bytes_of_all(receive, partners(operation.on));
	operation.message.received = received;
	operation.message.sent =
		sendbuf == MPI_IN_PLACE ? received : bytes_of_all(send, partners(operation.on));
	return operation;
}

struct operation collective_allreduce(
	MPI_Comm comm, enum hyb_operation what, MPI_Count count, MPI_Datatype type)
{
	uint64_t bytes = bytes_of(count, type);

	return with_bytes(comm, what, bytes, bytes);
}

struct operation collective_exscan(MPI_Comm comm, MPI_Count count, MPI_Datatype type)
{
	uint64_t bytes = bytes_of(count, type);
	struct operation operation = with_bytes(comm, HYB_COLLECTIVE_EXSCAN, bytes, bytes);

	if (operation.on && !operation.on->rank)
		operation.message.received = 0;
	return operation;
}

/* The blocks are of the own group, also with an inter-communicator. */
struct operation collective_reduce_scatter(
	MPI_Comm comm, enum hyb_operation what, const struct blocks *receive)
{
	struct operation operation = collective(comm, what);

	if (!operation.on)
		return operation;
	operation.message.sent = bytes_of_all(receive, operation.on->size);
	operation.message.received = bytes_at(receive, operation.on->rank);
	return operation;
}

/* The neighbours of a process, in the order of the buffers' blocks. */
struct neighbors {
	int in, out; /* blocks */
	uint64_t none; /* bit i: block i is of MPI_PROC_NULL, beyond the edge of a grid */
};

static struct neighbors find_neighbors(MPI_Comm comm)
{
	struct neighbors found = {0};
	int kind = MPI_UNDEFINED, dims = 0, rank = 0, weighted, side[2];

	PMPI_Topo_test(comm, &kind);
	if (kind == MPI_DIST_GRAPH) {
		PMPI_Dist_graph_neighbors_count(comm, &found.in, &found.out, &weighted);
	} else if (kind == MPI_GRAPH) {
		PMPI_Comm_rank(comm, &rank);
		PMPI_Graph_neighbors_count(comm, rank, &found.in);
		found.out = found.in;
	} else if (kind == MPI_CART) {
		PMPI_Cartdim_get(comm, &dims);
		for (int i = 0; i < dims && i < 32; i++) {
			PMPI_Cart_shift(comm, i, 1, &side[0], &side[1]);
			for (int k = 0; k < 2; k++)
				found.none |= (uint64_t)(side[k] == MPI_PROC_NULL) << (2 * i + k);
		}
		found.in = found.out = 2 * dims;
	}
	return found;
}

static uint64_t bytes_with(const struct neighbors *neighbors, int n, const struct blocks *blocks)
{
	uint64_t bytes = 0;

	for (int i = 0; i < n; i++)
		if (i >= 64 || !(neighbors->none >> i & 1))
			bytes += bytes_at(blocks, (uint32_t)i);
	return bytes;
}

/* The same data go to each neighbour: sent once, as a broadcast. */
struct operation neighbor_allgather(MPI_Comm comm, enum hyb_operation what, MPI_Count sendcount,
	MPI_Datatype sendtype, const struct blocks *receive)
{
	struct neighbors neighbors = find_neighbors(comm);

	return with_bytes(
		comm, what, bytes_of(sendcount, sendtype), bytes_with(&neighbors, neighbors.in, receive));
}

struct operation neighbor_alltoall(
	MPI_Comm comm, enum hyb_operation what, const struct blocks *send, const struct blocks *receive)
{
	struct neighbors neighbors = find_neighbors(comm);

	return with_bytes(comm, what, bytes_with(&neighbors, neighbors.out, send),
		bytes_with(&neighbors, neighbors.in, receive));
}
