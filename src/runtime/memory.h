/* Reading memory that may not be there. async-signal-safe */
#ifndef HYB_MEMORY_H
#define HYB_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Copies `size` bytes from an address of this process; false if they are not all readable. */
bool memory_copy(void *to, uintptr_t from, size_t size);

/* Copies several parts, one behind the other, by one system call. How many bytes; negative: none. */
ssize_t memory_copy_parts(const struct iovec *to, const struct iovec *from, unsigned count);

/* Whether a byte of this page can be read. Asks the kernel. */
bool memory_readable(uintptr_t address);

#endif
