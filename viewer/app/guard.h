/*
 * Restores the terminal whatever happens to the viewer: a process that only waits for the viewer restores the
 * terminal if that died, and passes on signals and stops. Not thread safe: for main(), before there are
 * threads.
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
