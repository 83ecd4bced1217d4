/*
 * What a collective call communicates, for record(), request_started() and request_prepared().
 *
 * Sent is what this process hands over, received what it is given: the significant parts of the
 * call's buffers, a process's own share among them, whatever algorithm MPI moves them by. MPI_IN_PLACE
 * changes nothing of that. A root sends a broadcast once. With an inter-communicator what goes to the other
 * group, and what comes from it.
 *
 * Between end() and leave(), after MPI returned MPI_SUCCESS. Arguments that are not significant are not read.
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

/* Of a buffer: one for each process or neighbour. Those of EQUAL() have one size, those of BLOCKS() a count
 * each (of int or of MPI_Count), those of MIXED() also a type each. */
struct blocks {
	MPI_Count count; /* of each, if `counts` has none */
	struct counts counts;
	MPI_Datatype type; /* of each, if there are no `types` */
	const MPI_Datatype *types;
};

#define EQUAL(count_, type_) (&(const struct blocks){.count = (count_), .type = (type_)})
#define BLOCKS(counts_, type_) (&(const struct blocks){.counts = COUNTS(counts_), .type = (type_)})
#define MIXED(counts_, types_) (&(const struct blocks){.counts = COUNTS(counts_), .types = (types_)})

struct operation collective_barrier(MPI_Comm comm);
struct operation collective_bcast(MPI_Comm comm, MPI_Count count, MPI_Datatype type, int root);
struct operation collective_gather(MPI_Comm comm, enum hyb_operation what, const void *sendbuf,
	MPI_Count sendcount, MPI_Datatype sendtype, const struct blocks *receive, int root);
struct operation collective_scatter(MPI_Comm comm, enum hyb_operation what, const struct blocks *send,
	const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root);
struct operation collective_allgather(MPI_Comm comm, enum hyb_operation what, const void *sendbuf,
	MPI_Count sendcount, MPI_Datatype sendtype, const struct blocks *receive);
struct operation collective_alltoall(MPI_Comm comm, enum hyb_operation what, const void *sendbuf,
	const struct blocks *send, const struct blocks *receive);

struct operation collective_reduce(MPI_Comm comm, MPI_Count count, MPI_Datatype type, int root);
/* MPI_Allreduce, MPI_Scan */
struct operation collective_allreduce(
	MPI_Comm comm, enum hyb_operation what, MPI_Count count, MPI_Datatype type);
struct operation collective_exscan(MPI_Comm comm, MPI_Count count, MPI_Datatype type);
struct operation collective_reduce_scatter(
	MPI_Comm comm, enum hyb_operation what, const struct blocks *receive);

struct operation neighbor_allgather(MPI_Comm comm, enum hyb_operation what, MPI_Count sendcount,
	MPI_Datatype sendtype, const struct blocks *receive);
struct operation neighbor_alltoall(
	MPI_Comm comm, enum hyb_operation what, const struct blocks *send, const struct blocks *receive);

#endif
