/*
 * CPU time that stands in no thread's own tree: a location of the process for threads that ended before a
 * sample of them could be taken, below the regions in which they were made; and what else the kernel counts.
 */
#ifndef HYB_REST_H
#define HYB_REST_H

#include "thread.h"

/* Below the root of `t`: CPU time of no region of the program. Owner thread */
void rest_outside(struct thread *t, const char *name, uint64_t ns);

/*
 * Whether the thread, whose end is recorded in its location, left nothing there but its times: they are added
 * to the rest, and its location is for the next thread. Owner thread
 */
bool rest_take(struct thread *t);

/* The thread ended, with a location of its own. Any thread */
void rest_ended(const struct thread *t);

/*
 * At the process's end: counts what its other threads have run since their last sample, and what remains of
 * the process's CPU clock. async-signal-safe
 */
void rest_end(void);

/* Forgets all; the calling thread's CPU clock stood at `cpu` when it began to be counted. start */
void rest_begin(uint64_t cpu);

#endif
