/*
 * Whether all ranks of the world are measured, so that collective calls of our own are safe.
 */
#ifndef HYB_MPI_MEASURED_H
#define HYB_MPI_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

/* Before MPI_Init: this rank is measured. */
void say_measured(void);

/*
 * After MPI_Init, to which all ranks have come. False: some are not, and a collective call of ours would meet
 * one of the program's in them. The same on all ranks that are measured. Where it is not known (several
 * hosts, whose file systems may lag), true.
 */
bool all_measured(uint32_t size);

/* A number that is the same on all ranks of the experiment, computed without communication. */
uint64_t experiment_identity(void);

#endif
