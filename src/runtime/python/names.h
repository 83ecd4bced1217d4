/*
 * Names of Python's threads: threading.Thread keeps them in its objects, which the
 * outermost frame of a thread has as its first argument. Read as memory, so no Python
 * code runs and no object is made. async-signal-safe
 */
#ifndef HYB_PYTHON_NAMES_H
#define HYB_PYTHON_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The name of the calling thread as UTF-8, cut to the room there is. *object: the thread's object where it
 * was named before, else 0; greenlets run other objects in one thread, which do not name it. False: there is
 * none.
 */
bool python_thread_name(uintptr_t *object, char *to, size_t size);

#endif
