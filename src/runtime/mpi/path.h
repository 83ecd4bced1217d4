/*
 * The call path of a call of MPI: walked once, then known again by the words of
 * the stack that the walk read (each frame's return address, at its place) and
 * by the Python frames that it met (each at its place, its code and instruction).
 */
#ifndef HYB_MPI_PATH_H
#define HYB_MPI_PATH_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

#define MPI_PATHS 256u /* that a thread remembers */
#define MPI_PATH_FRAMES 512u /* deeper ones are walked each time */
#define MPI_PATH_PLACES 256u /* the same, of Python */
#define MPI_PATH_ROOM 65536u /* words for the frames of all of them; when it is full, all are forgotten */

struct mpi_path {
	uint64_t key; /* of the region of MPI; 0: free */
	uintptr_t cfa; /* where the wrapper's frame ends */
	uint32_t base; /* node of the region that was open */
	uint32_t node; /* of the region of MPI, below the path */
	uint32_t range; /* below that */
	uintptr_t open_sp, open_fp; /* where that region was entered */
	uint64_t checked; /* tick at which all of its Python code was last looked at */
	uint32_t room; /* where its frames begin in the thread's room: native ones, then Python's */
	uint16_t count, place_count;
	bool python; /* an interpreter was known */
};

struct mpi_paths {
	uint32_t used; /* words of room */
	struct mpi_path path[MPI_PATHS];
	uint64_t room[MPI_PATH_ROOM];
};

/*
 * The path of the function whose frame ends at `cfa` to the region `key`; its `node`
 * and `range` are 0 if there is no room. *ret_now: the tick, if it is known by the way. Good until the next
 * one is asked for. Samples inside the region need not know of it. Owner thread; async-signal-safe, also
 * while a handler runs on top of it
 */
const struct mpi_path *mpi_path_find(struct thread *t, uint64_t key, uintptr_t cfa, uint64_t *ret_now);

#endif
