/*
 * What the MPI wrappers (src/mpi, a library of their own for each ABI) call in
 * libhybrid.so: the table `hybrid_mpi_1`, found by dlsym. Knows nothing of MPI's
 * types: communicators, windows and files are ids of definitions, ranks are
 * world ranks, requests are numbers.
 *
 * A wrapper does
 *
 *     if (api->begin(&function)) {
 *             result = PMPI_...(...);
 *             if (api->end()) {
 *                     api->message(...); ...
 *                     api->leave();
 *             }
 *     }
 *
 * where the first message of a call that waits gets the call's time (MPI_Sendrecv records its receive first),
 * and for the two calls whose latency counts most: begin_late() in the place of begin() before a blocking
 * send (what it does is put off until the message has gone), end_late() in the place of end(), message() and
 * leave() behind a blocking receive (put off until the next call of MPI or of any probe, or the next sample).
 *
 * Everything: the calling thread's own, any thread, no lock, no allocation from
 * the heap, errno kept. Wrappers are compiled with frame pointers: the frame that
 * called begin() is where samples inside MPI stop (its snippet), and its
 * caller's call path is where the region hangs.
 */
#ifndef HYB_MPI_CALL_H
#define HYB_MPI_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"

/* A function of MPI: static, one for each. */
struct mpi_function {
	const char *name; /* "MPI_Send" */
	uint64_t key; /* of its region; written by the runtime */
};

/* One message, collective, one-sided operation or transfer of a file. */
struct mpi_message {
	uint8_t op; /* enum hyb_message_op */
	uint8_t collective; /* COLLECTIVE: enum hyb_operation */
	uint32_t handle; /* id of the communicator, window or file */
	uint32_t peer; /* world rank, or HYB_PEER_* */
	int32_t tag; /* SEND, RECV */
	uint64_t sent, received; /* bytes */
	uint64_t offset; /* READ, WRITE: in the file + 1; 0: not known */
	uint64_t request; /* 0: the call waited for it */
};

/* A communicator, window or file. See struct hyb_def_handle for the members. */
struct mpi_handle {
	uint64_t identity, parent;
	uint16_t kind;
	uint32_t rank, size, remote, group;
	const char *name; /* NULL: none */
};

struct hybrid_mpi {
	uint32_t version; /* 1 */
	uint32_t size; /* of this structure, as the runtime has it */

	/*
	 * Enters the function below the caller's call path. False: it is not measured; do nothing more. In a
	 * pause of a process with a trace true, too: of the records made then, the trace gets those that
	 * affect the order.
	 */
	bool (*begin)(struct mpi_function *function);
	bool (*begin_late)(struct mpi_function *function);
	/* After begin() returned false: whether that was because a call of MPI made this one. */
	bool (*inside)(void);
	/*
	 * The call is over: reads the clock. False: the measurement has ended meanwhile; do nothing more.
	 * Until leave() the thread is the runtime's: no call of MPI that may come back to a wrapper.
	 */
	bool (*end)(void);
	void (*message)(const struct mpi_message *message);
	/* POSTED, SENT, TESTED, CANCELLED, COLLECTED, DONE. */
	void (*request)(enum hyb_other what, uint64_t request);
	void (*epoch)(uint32_t window, uint32_t target);
	void (*failed)(int error); /* in the place of all other records of the call */
	void (*leave)(void);
	/* end(), message() if not NULL, leave(). */
	void (*end_late)(const struct mpi_message *message);

	/* Definitions; outside begin() ... leave(), or between end() and leave(). Ids count from 1; 0: no
	 * room. */
	uint32_t (*define_handle)(const struct mpi_handle *handle);
	void (*name_handle)(uint32_t id, const char *name);
	/* MPI is ready. */
	void (*world)(uint64_t identity, uint32_t rank, uint32_t size, uint32_t threads);
	void (*clock)(const struct hyb_def_clock *clock); /* `def` is filled in */
	void (*metadata)(const char *key, const char *value);
	void (*note)(enum hyb_severity severity, const char *text);
	void (*untracked)(void); /* a request is not followed */
	void (*pause)(void); /* MPI_Pcontrol(0); as hybrid_pause() */
	void (*resume)(void);

	/* Identity of the clock that this process reads (struct hyb_header), and that clock, ns. */
	uint64_t (*clock_domain)(void);
	uint64_t (*mono)(void);

	/* Between end() and leave(): the request of that send is complete, the call has waited for it. */
	void (*waited)(const struct mpi_message *send);
};

#endif
