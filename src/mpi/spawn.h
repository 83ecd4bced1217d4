/*
 * MPI_Comm_spawn: children are measured as their parents are, and get the identity of the communicator
 * between them.
 *
 * Launchers start children with the environment that they had themselves, which nobody can add to. So the
 * root has them start /usr/bin/env in front of each program, with our variables: what fork and exec would
 * hand on.
 */
#ifndef HYB_MPI_SPAWN_H
#define HYB_MPI_SPAWN_H

#include "pmpi.h"

/* What MPI reads during the call; zero: nothing. */
struct spawn {
	char identity[40]; /* "HYBRID_SPAWNED=..." */
	void *memory;
	size_t size;
};

/*
 * Before api->begin(). Puts words of ours in the place of the program's, where they are to be handed on: not
 * elsewhere than at the root, nor for a command that is not found here and now, whose failure MPI reports.
 */
void spawn_one(
	struct spawn *spawn, MPI_Comm comm, int root, const char **command, char ***argv, MPI_Info info);
void spawn_many(struct spawn *spawn, MPI_Comm comm, int root, int count, char ***commands, char ****argvs,
	const MPI_Info *infos);
void spawn_end(struct spawn *spawn);

#endif
