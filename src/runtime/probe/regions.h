/* The process's region definitions, by name; made once, shared by all threads. */
#ifndef HYB_REGIONS_H
#define HYB_REGIONS_H

#include "runtime/runtime.h"

/*
 * The key of the region with this name, place and kind, defined if it is new.
 * Past the table's end it is that of "(other names)". 0 if there is no room.
 * Strings need not end with NUL. async-signal-safe, any thread, lock-free
 */
uint64_t region_key(const char *name, size_t name_len, const char *file, uint32_t line, uint32_t kind);

/* Whether the region with this key has this name (as given, not as cut); "(other names)" has all.
 * async-signal-safe */
bool region_is(uint64_t key, const char *name, size_t name_len);

/* Whether it is a Python function. async-signal-safe */
bool region_is_python(uint64_t key);

/* Its definition; NULL if the key is from before a fork. */
const struct hyb_def_region *region_def(uint64_t key);

/* Forgets all. start */
void regions_reset(void);

#endif
