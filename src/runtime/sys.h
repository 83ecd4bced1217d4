/*
 * System calls past the C library's functions, which are cancellation points:
 * a thread must not be cancelled inside its sample handler. Same results.
 */
#ifndef HYB_SYS_H
#define HYB_SYS_H

#include <stdint.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static inline int sys_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0666);
}

static inline int sys_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

/* A descriptor like it, out of the program's way; the old one is closed. Negative: none is free there. */
int sys_move_high(int fd);

static inline ssize_t sys_read(int fd, void *to, size_t size)
{
	return syscall(SYS_read, fd, to, size);
}

static inline ssize_t sys_write(int fd, const void *from, size_t size)
{
	return syscall(SYS_write, fd, from, size);
}

static inline ssize_t sys_pwritev(int fd, const struct iovec *parts, uint64_t count, uint64_t at)
{
	return syscall(SYS_pwritev, fd, parts, count, at, at >> 32);
}

#endif
