/* Call paths of a thread: from a context outwards to the innermost open region, as nodes below it. */
#ifndef HYB_PATH_H
#define HYB_PATH_H

#include "runtime/nodes.h"
#include "unwind.h"

/*
 * Walks; the entries are in the thread's scratch memory until the next walk. Of `u` the caller sets
 * `context`, and what it wants of `python`, `from` and `sp`. Owner thread; async-signal-safe
 */
void path_walk(struct thread *t, struct unwind *u);

/* The node of the path that was walked, below the innermost open region; 0 if there is no room. */
uint32_t path_intern(struct thread *t, const struct unwind *u);

/* Why a walk ended too early. */
enum hyb_partial path_partial(uint64_t end);

#endif
