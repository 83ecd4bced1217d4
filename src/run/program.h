/* The program to measure: where it is, and whether the runtime can get into it. */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "format/format.h"

struct program {
	char path[PATH_MAX]; /* as it is executed */
	char script[PATH_MAX]; /* what `path` is started to interpret, "" if it is the program itself */
	char option[256]; /* in front of the script, "" if there is none */
	char obstacle[128]; /* why it cannot be measured, "" if nothing speaks against it: "is static" */
	enum hyb_unmeasured unmeasured; /* the same, in short */
	bool preload; /* false: preloading would make the dynamic linker complain, or fail */
	bool launcher; /* starts an MPI program, and is not itself measured */
	bool static_mpi; /* has MPI in itself */
	bool text; /* no binary: a shell may try it if the kernel does not want it */
};

/* Looks `name` up as the shell would. 0, or a negative errno: -ENOENT, -EACCES ... */
int program_find(const char *name, char ret_path[PATH_MAX]);

/*
 * The words to execute `program` with where the user gave `command`: that
 * itself if there is no script, else a new array. NULL when memory is out.
 */
char **program_words(const struct program *program, char **command);

/* Fills in `obstacle` and `preload` for `path`; follows #! lines. Never fails: what cannot be read is tried.
 */
void program_inspect(struct program *program);

#endif
