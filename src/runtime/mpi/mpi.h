/*
 * Calls of MPI, as a thread makes them; the entry points are the table of runtime/mpi/call.h.
 *
 * What happens between the return of a receive and the start of the next send is
 * latency of the program's messages. So at these two places only the clock is
 * read, and the thread is left THREAD_PENDING: thread_catch_up() does the rest
 * when the send has gone, or whenever the thread is made busy before.
 */
#ifndef HYB_MPI_H
#define HYB_MPI_H

#include "call.h"
#include "path.h"
#include "runtime/unwind/unwind.h"

#define MPI_WAITS 64u /* messages that share the time of the call that waited for them */

/* Of a thread; its own and its handler's. */
struct mpi_thread {
	struct hyb_open *open; /* the call that it is in, NULL: none */
	uintptr_t frame, back; /* of the call's wrapper: frame pointer, and the return address above it */
	uint64_t now; /* tick of that call's end, from end() to leave() */
	uint32_t range; /* node of that call's RANGE; 0: none */
	bool timed; /* a message of that call has got its time */
	uint32_t waits;
	uint32_t waited[MPI_WAITS]; /* nodes of the first messages whose requests it completed */
	bool paused; /* in a call that was made in a pause: `open` is NULL, `frame` and `back` are its */
	bool last; /* a record of that call is in the trace: the next one needs no time */

	/* pending; the flag of each is set last */
	volatile bool received; /* `open` ended at `received_at` */
	bool has_message;
	uint64_t received_at;
	struct mpi_message message;
	volatile bool begun; /* `function` was called at `begun_at`, nothing else is done */
	uint64_t begun_at;
	struct mpi_function *function;
	struct unwind_snippet snippet;

	struct mpi_paths paths;
};

#endif
