/*
 * When suspended coroutines were left, by the address of their frame, until they go
 * on. For threads that have the GIL: it is the lock.
 */
#ifndef HYB_PYTHON_AWAITS_H
#define HYB_PYTHON_AWAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

/* A call of the evaluation has ended with this result: notes the tick if the frame is suspended. */
void await_begin(const struct python_layout *l, uintptr_t frame, const void *result, uint64_t now);

/*
 * The frame is evaluated: forgets it. Returns when it was suspended, or 0: it begins, or it is
 * not known any more. `throwing`: an exception is raised where it stands.
 */
uint64_t await_end(const struct python_layout *l, uintptr_t frame, bool throwing);

#endif
