/*
 * MPI for the wrappers: mpi.h of the ABI that the library is for (HYB_MPI_MPICH or HYB_MPI_OPENMPI), and
 * PMPI_X, which are MPI's own functions, called by pointers: the library is not linked to any MPI, but gets
 * the addresses in the one of the process. So MPI_COMM_WORLD and the like are no constants: no initialisers,
 * no case labels. Linked to a program in front of its MPI (HYB_MPI_LINKED), PMPI_X is what it is.
 *
 * All of src/mpi includes this, not mpi.h, and calls PMPI_X, never MPI_X.
 */
#ifndef HYB_PMPI_H
#define HYB_PMPI_H

#if defined(HYB_MPI_MPICH)
#include "pmpi-mpich.h"
#elif defined(HYB_MPI_OPENMPI)
#include "pmpi-openmpi.h"
#endif
#include "runtime/mpi/call.h"

/* The runtime. Never NULL: without one it is a table that measures nothing. */
extern const struct hybrid_mpi *api;

#endif
