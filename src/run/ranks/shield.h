/*
 * Keeps the exit status of a rank that ends without MPI_Finalize under MPICH's launcher (hydra).
 *
 * hydra sees that the rank's connection is closed, kills the process groups of all ranks, hybrid-run with its
 * program, and leaves whom it killed out of its own status, which is that of who ended first. But who is dead
 * when it looks next is taken for one that died by itself, and hybrid-run, which only waits, is dead sooner
 * than a program. Likewise it forgets the status of who is found dead before the connection is found closed.
 * So a process of ours traces hybrid-run: whom a tracer holds is dead to nobody else. It lets go when the
 * program's end has closed the rank's output.
 */
#ifndef HYB_RUN_SHIELD_H
#define HYB_RUN_SHIELD_H

#include <sys/types.h>

/* When the program runs. 0: hydra is not the launcher, or there is no way. */
pid_t shield_raise(pid_t program);

/* The program has ended with that status of wait(). Of a failure the shield stays until hybrid-run has ended.
 */
void shield_lower(pid_t shield, int status);

#endif
