/*
 * Where calls of MPI-IO read and write. See messages.h for what wrappers call.
 */
#ifndef HYB_MPI_FILES_H
#define HYB_MPI_FILES_H

#include <stdbool.h>

#include "pmpi.h"

/* Whether MPI may be asked for the file's positions: an error could end the program. */
bool file_has_positions(MPI_File file);

#endif
