/*
 * Whatever becomes of the viewer, the terminal is as it was: a process that does nothing but wait for it puts
 * the terminal right if it died, and passes on what is said to it (signals, stops). Not thread safe: for
 * main(), before there are threads.
 */
#ifndef HYB_GUARD_H
#define HYB_GUARD_H

/*
 * Runs `view` in a child, with stderr going to memory, so that no word disturbs the screen; it is printed
 * when the child has ended. The exit status of the child; 128 and the signal if that ended it, after a line
 * on stderr. If no child can be made, runs it right here.
 */
int guard_run(int (*view)(void *data), void *data);

#endif
