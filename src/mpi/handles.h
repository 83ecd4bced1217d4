/*
 * Communicators, windows and files: from MPI's handle to our id, and from its ranks to world ranks.
 *
 * Identities are computed by each member for itself, from what all members know (see handles.c). All
 * functions: any thread, no lock, no communication. Where they may define a handle (all but those
 * marked "no definition"), they are called where the runtime allows it: outside begin() ... leave(), or
 * between end() and leave().
 */
#ifndef HYB_MPI_HANDLES_H
#define HYB_MPI_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/world.h"

/* Never freed: requests may outlive their communicator's handle. */
struct handle {
	uint64_t identity;
	uint32_t id; /* for the runtime */
	uint16_t kind; /* enum hyb_handle_kind */
	bool positions; /* a file whose individual pointer may be asked for */
	bool second; /* the own group is the second one of an inter-communicator's two */
	uint32_t rank, size; /* own rank, processes (of the own group) */
	uint32_t remote; /* processes of the other group; 0: none, it is an intra-communicator */
	uint32_t n_peers; /* of the group that peers and targets are named by */
	const uint32_t *peers; /* their world ranks; NULL: the same numbers */
	const uint32_t *members; /* the own group's; NULL: the same numbers */
	_Atomic uint64_t made; /* handles made of it by all its processes together */
	_Atomic uint64_t split; /* a file's split collective: offset + 1 where it began */
};

/* A handle as the key of the map: of any of MPI's types, int or pointer. */
#define handle_key(x) ((uint64_t)(uintptr_t)(x))

/* NULL: not known. No definition. */
struct handle *handle_find(uint64_t key);

/* A handle that the program used with success; it is defined if its creation was not seen. NULL: no
 * memory. */
struct handle *comm_handle(MPI_Comm comm);
struct handle *win_handle(MPI_Win win);
struct handle *file_handle(MPI_File file);

extern struct handle *handle_world; /* NULL before world_define() */
/* Defines MPI_COMM_WORLD and MPI_COMM_SELF; by world_define(). */
void handles_start(void);

/* Where definitions are not allowed: whether comm_handle() would make none. */
static inline bool comm_known(MPI_Comm comm)
{
	return (comm == MPI_COMM_WORLD && handle_world) || handle_find(handle_key(comm));
}

/* World rank or HYB_PEER_*; `rank` of the group that messages go to (of an inter-communicator: the other). */
static inline uint32_t handle_peer(const struct handle *handle, int rank)
{
	if (rank < 0 || (uint32_t)rank >= handle->n_peers)
		return HYB_PEER_NONE;
	return handle->peers ? handle->peers[rank] : (uint32_t)rank;
}

/*
 * Around PMPI_X in every wrapper that makes a handle, measured or not: MPI's own calls of such functions
 * inside of others (ROMIO dups) make nothing of the program's.
 *
 *	creation_enter(measured);
 *	result = PMPI_Comm_dup(comm, newcomm);
 *	outermost = creation_leave(measured);
 *	measured = measured && api->end();
 *	if (outermost && result == MPI_SUCCESS)
 *		handle_duplicated(comm, HYB_HANDLE_COMM, handle_key(*newcomm));
 *	if (measured && result == MPI_SUCCESS)
 *		creation_record();
 *
 * To be called also while the program has paused: the others count on.
 */
void creation_enter(bool measured); /* the result of begin() */
bool creation_leave(bool measured);
/* Between api->end() and api->leave(), behind comm_created() and the like. */
void creation_record(void);

/*
 * A call that all processes of `parent` made: split, split_type, create, cart, graph, merge, spawn ... `comm`
 * may be MPI_COMM_NULL.
 */
void comm_created(MPI_Comm parent, MPI_Comm comm);
/* The identity that comm_created() is about to give to what has all processes of `parent`; 0: not known. */
uint64_t comm_next_identity(MPI_Comm parent);
/* The same for what all processes of `parent` are in, as MPI_Comm_dup* and MPI_Win_create* make it: asks MPI
 * nothing of the new one. */
void handle_duplicated(MPI_Comm parent, enum hyb_handle_kind kind, uint64_t key);
/* A call that only those processes of `parent` made that are in `comm`: create_group. */
void comm_grouped(MPI_Comm parent, MPI_Comm comm, int tag);
/*
 * A call that only the new communicator's own processes made, of no parent: create_from_group and
 * intercomm_create_from_groups (salt: handle_text() of the string tag), intercomm_create, accept, connect
 * (salt 0).
 */
void comm_gathered(MPI_Comm comm, uint64_t salt, const char *name);
/* MPI_Comm_get_parent, MPI_Comm_join: once for each communicator, if it is one. */
void comm_parent(MPI_Comm comm);
void comm_met(MPI_Comm comm, const char *name);
uint64_t handle_text(const char *text);

void file_opened(MPI_Comm parent, MPI_File file, const char *path);

/*
 * MPI_Comm_free, MPI_Comm_disconnect, MPI_Win_free, MPI_File_close, measured or not. MPI may hand out the
 * same handle again at once, to another thread:
 *
 *	uint64_t key = handle_key(*comm);
 *	struct handle *old = handle_find(key);
 *	result = PMPI_Comm_free(comm);
 *	if (result == MPI_SUCCESS)
 *		handle_freed(key, old);
 *
 * No definition.
 */
void handle_freed(uint64_t key, const struct handle *old);

/* MPI_Comm_set_name, MPI_Win_set_name. NULL: it is not known. */
void handle_named(const struct handle *handle, const char *name);

#endif
