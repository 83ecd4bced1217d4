/*
 * MPI_COMM_WORLD as this process knows it.
 *
 * MPI is called as PMPI_X here, which is the MPI's own function. Only world_meet() and world_part()
 * communicate; all else in this library is local.
 */
#ifndef HYB_MPI_WORLD_H
#define HYB_MPI_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "pmpi.h"

struct world {
	uint64_t identity; /* 0: MPI is not ready */
	MPI_Group group; /* of its ranks, for translations, if has_group */
	bool has_group;
	uint32_t rank, size;
	int threads; /* MPI_THREAD_SINGLE ... MPI_THREAD_MULTIPLE */
};
extern struct world world;

/* Before PMPI_Init() or PMPI_Init_thread(), also if begin() returned false: announces this rank to the
 * others. */
void world_announce(void);

/*
 * After PMPI_Init() or PMPI_Init_thread() succeeded:
 *	world_meet(), collective over MPI_COMM_WORLD, in front of api->end();
 *	world_define() where definitions are allowed.
 * Both in any case, also if begin() returned false: the other ranks wait for it.
 */
void world_meet(void);
void world_define(void);

/*
 * After PMPI_Session_init() succeeded, where definitions are allowed: without MPI_COMM_WORLD, the process
 * set mpi://WORLD is the world. Does nothing if there is one. Local.
 */
#if MPI_VERSION >= 4
void world_session(MPI_Session session);
/* Before PMPI_Session_finalize(): gives back what was taken from that session. */
void world_session_end(MPI_Session session);
#endif

/* Before api->begin() of MPI_Finalize; collective: measures the clocks once more, if they differ. */
void world_part(void);

#endif
