/*
 * What a collective call communicates, for record(), request_started() and request_prepared().
 *
 * Sent is what this process hands over, received what it is given: the significant parts of the
 * call's buffers, a process's own share among them, whatever algorithm MPI moves them by. MPI_IN_PLACE
 * changes nothing of that. A root sends a broadcast once. With an inter-communicator what goes to the other
 * group, and what comes from it.
 *
 * Between end() and leave(), after MPI returned MPI_SUCCESS. Arrays of counts: COUNTS(x), of int or of
 * MPI_Count. Arguments that are not significant are not read.
 */
#ifndef HYB_MPI_COLLECTIVES_H
#define HYB_MPI_COLLECTIVES_H

#include "mpi/messages.h"

struct counts {
	const void *of;
	bool wide; /* MPI_Count, else int */
};

static inline struct counts counts_int(const int *of)
{
	return (struct counts){of, false};
}

static inline struct counts counts_wide(const MPI_Count *of)
{
	return (struct counts){of, true};
}

#define COUNTS(x) \
	_Generic((x), const int *: counts_int, int *: counts_int, const MPI_Count *: counts_wide,           \
		MPI_Count *: counts_wide)(x)

struct operation collective_barrier(MPI_Comm comm);
struct operation collective_bcast(MPI_Comm comm, MPI_Count count, MPI_Datatype type, int root);

struct operation collective_gather(MPI_Comm comm, const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype, int root);
struct operation collective_gatherv(MPI_Comm comm, const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, struct counts recvcounts, MPI_Datatype recvtype, int root);
struct operation collective_scatter(MPI_Comm comm, MPI_Count sendcount, MPI_Datatype sendtype,
	const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root);
struct operation collective_scatterv(MPI_Comm comm, struct counts sendcounts, MPI_Datatype sendtype,
	const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root);

struct operation collective_allgather(MPI_Comm comm, const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype);
struct operation collective_allgatherv(MPI_Comm comm, const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, struct counts recvcounts, MPI_Datatype recvtype);
struct operation collective_alltoall(MPI_Comm comm, const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype);
struct operation collective_alltoallv(MPI_Comm comm, const void *sendbuf, struct counts sendcounts,
	MPI_Datatype sendtype, struct counts recvcounts, MPI_Datatype recvtype);
struct operation collective_alltoallw(MPI_Comm comm, const void *sendbuf, struct counts sendcounts,
	const MPI_Datatype *sendtypes, struct counts recvcounts, const MPI_Datatype *recvtypes);

struct operation collective_reduce(MPI_Comm comm, MPI_Count count, MPI_Datatype type, int root);
struct operation collective_allreduce(MPI_Comm comm, MPI_Count count, MPI_Datatype type);
struct operation collective_scan(MPI_Comm comm, MPI_Count count, MPI_Datatype type);
struct operation collective_exscan(MPI_Comm comm, MPI_Count count, MPI_Datatype type);
struct operation collective_reduce_scatter(MPI_Comm comm, struct counts recvcounts, MPI_Datatype type);
struct operation collective_reduce_scatter_block(MPI_Comm comm, MPI_Count recvcount, MPI_Datatype type);

struct operation neighbor_allgather(MPI_Comm comm, MPI_Count sendcount, MPI_Datatype sendtype,
	MPI_Count recvcount, MPI_Datatype recvtype);
struct operation neighbor_allgatherv(MPI_Comm comm, MPI_Count sendcount, MPI_Datatype sendtype,
	struct counts recvcounts, MPI_Datatype recvtype);
struct operation neighbor_alltoall(MPI_Comm comm, MPI_Count sendcount, MPI_Datatype sendtype,
	MPI_Count recvcount, MPI_Datatype recvtype);
struct operation neighbor_alltoallv(MPI_Comm comm, struct counts sendcounts, MPI_Datatype sendtype,
	struct counts recvcounts, MPI_Datatype recvtype);
struct operation neighbor_alltoallw(MPI_Comm comm, struct counts sendcounts, const MPI_Datatype *sendtypes,
	struct counts recvcounts, const MPI_Datatype *recvtypes);

#endif
