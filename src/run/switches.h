/* What a context switch takes more in a thread that has a task clock. */
#ifndef RUN_SWITCHES_H
#define RUN_SWITCHES_H

/*
 * The CPU time (ns) that the kernel takes more to leave such a thread and to come back, where it is sampled
 * `rate` times a second; measured in a millisecond, by two children. 0: the task clock is forbidden, or the
 * difference is none.
 */
unsigned switches_measure(unsigned rate);

#endif
