/*
 * Whether all ranks of the world are measured, so that they may be spoken to.
 */
#ifndef HYB_MPI_MEASURED_H
#define HYB_MPI_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

/* Before MPI_Init: this rank is measured. */
void say_measured(void);

/*
 * After MPI_Init, to which all ranks have come. False: some are not, and a collective call of ours would meet
 * one of the program's in them. The same on all ranks that are measured. Where it cannot be told (several
 * hosts, whose file systems may lag), true.
 */
bool all_measured(uint32_t size);

/* The same number on all ranks of the experiment, without a word between them. */
uint64_t experiment_identity(void);

#endif
