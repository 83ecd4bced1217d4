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

static uint64_t bytes_of_all(struct counts counts, uint32_t n, MPI_Datatype type)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += count_at(counts, i);
	return bytes_of((MPI_Count)sum, type);
}

static uint64_t bytes_of_each(struct counts counts, uint32_t n, const MPI_Datatype *types)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += bytes_of((MPI_Count)count_at(counts, i), types[i]);
	return sum;
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

struct operation collective_gather(MPI_Comm comm, const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype, int root)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_GATHER);
	enum part part = set_root(&operation, root);

	if (part == PART_ROOT)
		operation.message.received = bytes_of(recvcount, recvtype) * partners(operation.on);
	if (part != PART_NONE && root != MPI_ROOT)
		operation.message.sent = sendbuf == MPI_IN_PLACE ? bytes_of(recvcount, recvtype)
								 : bytes_of(sendcount, sendtype);
	return operation;
}

struct operation collective_gatherv(MPI_Comm comm, const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, struct counts recvcounts, MPI_Datatype recvtype, int root)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_GATHERV);
	enum part part = set_root(&operation, root);
	const struct handle *on = operation.on;

	if (part == PART_ROOT)
		operation.message.received = bytes_of_all(recvcounts, partners(on), recvtype);
	if (part == PART_NONE || root == MPI_ROOT)
		return operation;
	if (sendbuf == MPI_IN_PLACE)
		operation.message.sent = bytes_of((MPI_Count)count_at(recvcounts, on->rank), recvtype);
	else
		operation.message.sent = bytes_of(sendcount, sendtype);
	return operation;
}

struct operation collective_scatter(MPI_Comm comm, MPI_Count sendcount, MPI_Datatype sendtype,
	const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_SCATTER);
	enum part part = set_root(&operation, root);

	if (part == PART_ROOT)
		operation.message.sent = bytes_of(sendcount, sendtype) * partners(operation.on);
	if (part != PART_NONE && root != MPI_ROOT)
		operation.message.received = recvbuf == MPI_IN_PLACE ? bytes_of(sendcount, sendtype)
								     : bytes_of(recvcount, recvtype);
	return operation;
}

struct operation collective_scatterv(MPI_Comm comm, struct counts sendcounts, MPI_Datatype sendtype,
	const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_SCATTERV);
	enum part part = set_root(&operation, root);
	const struct handle *on = operation.on;

	if (part == PART_ROOT)
		operation.message.sent = bytes_of_all(sendcounts, partners(on), sendtype);
	if (part == PART_NONE || root == MPI_ROOT)
		return operation;
	if (recvbuf == MPI_IN_PLACE)
		operation.message.received = bytes_of((MPI_Count)count_at(sendcounts, on->rank), sendtype);
	else
		operation.message.received = bytes_of(recvcount, recvtype);
	return operation;
}

struct operation collective_allgather(MPI_Comm comm, const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_ALLGATHER);
	uint64_t each = bytes_of(recvcount, recvtype);

	if (!operation.on)
		return operation;
	operation.message.sent = sendbuf == MPI_IN_PLACE ? each : bytes_of(sendcount, sendtype);
	operation.message.received = each * partners(operation.on);
	return operation;
}

struct operation collective_allgatherv(MPI_Comm comm, const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, struct counts recvcounts, MPI_Datatype recvtype)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_ALLGATHERV);
	const struct handle *on = operation.on;

	if (!on)
		return operation;
	if (sendbuf == MPI_IN_PLACE)
		operation.message.sent = bytes_of((MPI_Count)count_at(recvcounts, on->rank), recvtype);
	else
		operation.message.sent = bytes_of(sendcount, sendtype);
	operation.message.received = bytes_of_all(recvcounts, partners(on), recvtype);
	return operation;
}

struct operation collective_alltoall(MPI_Comm comm, const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_ALLTOALL);
	uint64_t each = bytes_of(recvcount, recvtype);
	uint64_t mine = sendbuf == MPI_IN_PLACE ? each : bytes_of(sendcount, sendtype);

	if (!operation.on)
		return operation;
	operation.message.sent = mine * partners(operation.on);
	operation.message.received = each * partners(operation.on);
	return operation;
}

struct operation collective_alltoallv(MPI_Comm comm, const void *sendbuf, struct counts sendcounts,
	MPI_Datatype sendtype, struct counts recvcounts, MPI_Datatype recvtype)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_ALLTOALLV);
	uint64_t received;

	if (!operation.on)
		return operation;
	received = bytes_of_all(recvcounts, partners(operation.on), recvtype);
	operation.message.received = received;
	operation.message.sent = received;
	if (sendbuf != MPI_IN_PLACE)
		operation.message.sent = bytes_of_all(sendcounts, partners(operation.on), sendtype);
	return operation;
}

struct operation collective_alltoallw(MPI_Comm comm, const void *sendbuf, struct counts sendcounts,
	const MPI_Datatype *sendtypes, struct counts recvcounts, const MPI_Datatype *recvtypes)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_ALLTOALLW);
	uint64_t received;

	if (!operation.on)
		return operation;
	received = bytes_of_each(recvcounts, partners(operation.on), recvtypes);
	operation.message.received = received;
	operation.message.sent = received;
	if (sendbuf != MPI_IN_PLACE)
		operation.message.sent = bytes_of_each(sendcounts, partners(operation.on), sendtypes);
	return operation;
}

struct operation collective_allreduce(MPI_Comm comm, MPI_Count count, MPI_Datatype type)
{
	uint64_t bytes = bytes_of(count, type);

	return with_bytes(comm, HYB_COLLECTIVE_ALLREDUCE, bytes, bytes);
}

struct operation collective_scan(MPI_Comm comm, MPI_Count count, MPI_Datatype type)
{
	uint64_t bytes = bytes_of(count, type);

	return with_bytes(comm, HYB_COLLECTIVE_SCAN, bytes, bytes);
}

struct operation collective_exscan(MPI_Comm comm, MPI_Count count, MPI_Datatype type)
{
	uint64_t bytes = bytes_of(count, type);
	struct operation operation = with_bytes(comm, HYB_COLLECTIVE_EXSCAN, bytes, bytes);

	if (operation.on && !operation.on->rank)
		operation.message.received = 0;
	return operation;
}

/* The counts are of the own group, also with an inter-communicator. */
struct operation collective_reduce_scatter(MPI_Comm comm, struct counts recvcounts, MPI_Datatype type)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_REDUCE_SCATTER);

	if (!operation.on)
		return operation;
	operation.message.sent = bytes_of_all(recvcounts, operation.on->size, type);
	operation.message.received = bytes_of((MPI_Count)count_at(recvcounts, operation.on->rank), type);
	return operation;
}

struct operation collective_reduce_scatter_block(MPI_Comm comm, MPI_Count recvcount, MPI_Datatype type)
{
	struct operation operation = collective(comm, HYB_COLLECTIVE_REDUCE_SCATTER_BLOCK);

	operation.message.received = bytes_of(recvcount, type);
	if (operation.on)
		operation.message.sent = operation.message.received * operation.on->size;
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

static bool is_neighbor(const struct neighbors *neighbors, int i)
{
	return i >= 64 || !(neighbors->none >> i & 1);
}

/* Bytes of all blocks, of one size and type. */
static uint64_t bytes_to_all(const struct neighbors *neighbors, int n, MPI_Count count, MPI_Datatype type)
{
	uint64_t blocks = 0;

	for (int i = 0; i < n; i++)
		blocks += is_neighbor(neighbors, i);
	return blocks ? blocks * bytes_of(count, type) : 0;
}

/* Of blocks of different sizes, and types if `types` is not NULL. */
static uint64_t bytes_to_each(const struct neighbors *neighbors, int n, struct counts counts,
	MPI_Datatype type, const MPI_Datatype *types)
{
	uint64_t bytes = 0;

	for (int i = 0; i < n; i++)
		if (is_neighbor(neighbors, i))
			bytes += bytes_of((MPI_Count)count_at(counts, (uint32_t)i), types ? types[i] : type);
	return bytes;
}

/* The same data go to each neighbour: sent once, as a broadcast. */
struct operation neighbor_allgather(
	MPI_Comm comm, MPI_Count sendcount, MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype)
{
	struct neighbors neighbors = find_neighbors(comm);

	return with_bytes(comm, HYB_COLLECTIVE_NEIGHBOR_ALLGATHER, bytes_of(sendcount, sendtype),
		bytes_to_all(&neighbors, neighbors.in, recvcount, recvtype));
}

struct operation neighbor_allgatherv(MPI_Comm comm, MPI_Count sendcount, MPI_Datatype sendtype,
	struct counts recvcounts, MPI_Datatype recvtype)
{
	struct neighbors neighbors = find_neighbors(comm);

	return with_bytes(comm, HYB_COLLECTIVE_NEIGHBOR_ALLGATHERV, bytes_of(sendcount, sendtype),
		bytes_to_each(&neighbors, neighbors.in, recvcounts, recvtype, NULL));
}

struct operation neighbor_alltoall(
	MPI_Comm comm, MPI_Count sendcount, MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype)
{
	struct neighbors neighbors = find_neighbors(comm);

	return with_bytes(comm, HYB_COLLECTIVE_NEIGHBOR_ALLTOALL,
		bytes_to_all(&neighbors, neighbors.out, sendcount, sendtype),
		bytes_to_all(&neighbors, neighbors.in, recvcount, recvtype));
}

struct operation neighbor_alltoallv(MPI_Comm comm, struct counts sendcounts, MPI_Datatype sendtype,
	struct counts recvcounts, MPI_Datatype recvtype)
{
	struct neighbors neighbors = find_neighbors(comm);

	return with_bytes(comm, HYB_COLLECTIVE_NEIGHBOR_ALLTOALLV,
		bytes_to_each(&neighbors, neighbors.out, sendcounts, sendtype, NULL),
		bytes_to_each(&neighbors, neighbors.in, recvcounts, recvtype, NULL));
}

struct operation neighbor_alltoallw(MPI_Comm comm, struct counts sendcounts, const MPI_Datatype *sendtypes,
	struct counts recvcounts, const MPI_Datatype *recvtypes)
{
	struct neighbors neighbors = find_neighbors(comm);

	return with_bytes(comm, HYB_COLLECTIVE_NEIGHBOR_ALLTOALLW,
		bytes_to_each(&neighbors, neighbors.out, sendcounts, MPI_DATATYPE_NULL, sendtypes),
		bytes_to_each(&neighbors, neighbors.in, recvcounts, MPI_DATATYPE_NULL, recvtypes));
}
