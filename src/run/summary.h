/* The lines that hybrid-run prints at the end. */
#ifndef RUN_SUMMARY_H
#define RUN_SUMMARY_H

#include "run/experiment.h"
#include "run/harvest.h"
#include "run/program.h"

struct summary {
	const struct experiment *experiment;
	const struct program *program;
	const struct outcome *outcome; /* of the program */
	const struct harvest *harvest;
	const struct ranks *ranks; /* of the launch that this hybrid-run was the last of; NULL: of none */
	bool mpi; /* calls of MPI would have been seen */
};

/* How much was measured, of what; what went wrong; `report`: the command to type next. */
void summary_print(const struct summary *summary, const char *report);

/* A rank failed while others still run, which leave no summary if the launcher kills them now. */
void summary_failed(const struct experiment *experiment, const struct launch *launch, int status);

#endif
