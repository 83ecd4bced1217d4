/*
 * Which CLOCK_MONOTONIC a process reads: that of its kernel's boot, shifted by its time namespace.
 */
#ifndef BASE_CLOCK_DOMAIN_H
#define BASE_CLOCK_DOMAIN_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"

/*
 * Processes with the same value read the same clock; 0: not known. Raw system calls, no
 * allocation; leaves an errno.
 */
static inline uint64_t clock_domain(void)
{
	char text[128];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	long boot = fd < 0 ? -1 : syscall(SYS_read, fd, text, 64);
	long space = 0;
	uint64_t hash = HASH_START;

	if (fd >= 0)
		syscall(SYS_close, fd);
	if (boot <= 0)
		return 0;
	/* "time:[4026531834]"; a kernel without time namespaces has one clock. */
	space = syscall(
		SYS_readlinkat, AT_FDCWD, "/proc/self/ns/time", text + boot, sizeof(text) - (size_t)boot);
	hash = hash_bytes(hash, text, (size_t)(boot + (space > 0 ? space : 0)));
	return hash ? hash : 1;
}

#endif
