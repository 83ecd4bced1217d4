/*
 * Names of threads in the file: the one given by hybrid_thread_name(), else what Python's threading calls
 * them, else what the kernel does. A name may be given at any time, without notice: it is looked for again
 * and again, each time when the thread has become twice as old, and at its end. async-signal-safe
 */
#ifndef HYB_THREAD_NAME_H
#define HYB_THREAD_NAME_H

#include "thread.h"

/* The program's word. Owner thread */
void thread_name_set(struct thread *t, const char *name);

/* Looks for its name. Owner thread, busy */
void thread_name_read(struct thread *t);

/* The same, if it is time to: for calls at which frames of Python are whole, and for samples. */
void thread_name_look(struct thread *t, uint64_t now);

#endif
