/*
 * The file below the store: one of this process alone, or one that the processes of a node share.
 *
 * In a shared file a process takes extents of STORE_EXTENT bytes by one atomic step on `claimed` in the
 * first page and makes its chunks there: it maps what is its own, and waits for nobody. One that is killed
 * leaves at worst an extent that is empty or has no chunk at its end. No file locks.
 */
#ifndef HYB_STORE_FILE_H
#define HYB_STORE_FILE_H

#include <stdint.h>

#define STORE_EXTENT (HYB_SEGMENT / 4)

/*
 * Takes `size` bytes of the file (as store_claim() is given) that are zero and mapped. 0 or a negative
 * errno. async-signal-safe, any thread, lock-free
 */
int store_room(uint32_t size, uint64_t *ret_offset);

#endif
