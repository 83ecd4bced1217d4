/*
 * The calls that complete requests: MPI_Wait*, MPI_Test*, and MPI_Request_free.
 *
 *	struct completion completion;
 *
 *	if (api->begin(&function)) {
 *		statuses = completion_begin(&completion, count, requests, statuses, COMPLETION_ALL);
 *		result = PMPI_Waitall(count, requests, statuses);
 *		if (api->end()) {
 *			completion_all(&completion, result, NULL);
 *			if (result != MPI_SUCCESS)
 *				api->failed(result);
 *			api->leave();
 *		}
 *		completion_end(&completion);
 *	}
 *
 * MPI_Wait and MPI_Test are the same with a count of 1. MPI_Request_free: completion_begin(..., 1, request,
 * MPI_STATUSES_IGNORE, COMPLETION_ALL) and completion_end() alone. Count may be 0 or negative, and what MPI
 *calls an error is passed on to it: pointers may be NULL then.
 */
#ifndef HYB_MPI_COMPLETION_H
#define HYB_MPI_COMPLETION_H

#include "mpi/requests.h"

#define COMPLETION_FEW 16 /* requests for which the structure itself has room */

enum completion_how {
	COMPLETION_ALL, /* Wait, Waitall, Test, Testall: all or none */
	COMPLETION_SOME, /* Waitany, Waitsome, Testany, Testsome */
};

/* completion.c's own. */
struct completion {
	MPI_Status *statuses; /* that MPI has */
	int count;
	bool held; /* `found` is filled in, its slots are held */
	bool lost; /* there was no memory */
	const MPI_Request *requests; /* the program's */
	MPI_Request *old; /* what they were */
	handle_slot **found;
	void *scratch;
	size_t scratch_size;
	MPI_Status few_statuses[COMPLETION_FEW];
	MPI_Request few_old[COMPLETION_FEW];
	handle_slot *few_found[COMPLETION_FEW];
};

/* Before PMPI_X; always followed by completion_end(). Returns the statuses to hand to MPI in the place of the
 * program's. */
MPI_Status *completion_begin(struct completion *completion, int count, const MPI_Request *requests,
	MPI_Status *statuses, enum completion_how how);
/* One of these, between end() and leave(), whatever MPI returned. `flag`: of MPI_Test*, NULL for MPI_Wait*.
 */
void completion_all(struct completion *completion, int result, const int *flag);
void completion_any(struct completion *completion, int result, const int *flag, const int *index);
void completion_some(struct completion *completion, int result, const int *count, const int *indices);
/* After PMPI_X, anywhere. */
void completion_end(struct completion *completion);

/* MPI_Request_get_status. */
void completion_asked(MPI_Request request, bool done, const MPI_Status *status);

#endif
