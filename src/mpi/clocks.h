/*
 * Measures the offset of this process's clock from that of rank 0, if they are not the same clock.
 */
#ifndef HYB_MPI_CLOCKS_H
#define HYB_MPI_CLOCKS_H

#include "mpi/world.h"

/*
 * In MPI_Init, collective over MPI_COMM_WORLD, if not all its ranks have the same domain: finds a leader for
 * each domain, and compares its clock.
 */
void clocks_meet(uint64_t domain);
/* The same comparison again, in MPI_Finalize, if clocks_meet() was called; ends what it began. */
void clocks_part(void);
/* Defines the result of the last comparison; where definitions are allowed. */
void clocks_define(void);

#endif
