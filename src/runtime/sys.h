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

/* The words of this process's command line, each with its NUL, cut to the room there is: how many bytes. */
static inline size_t sys_command_line(char *text, size_t size)
{
	int fd = sys_open("/proc/self/cmdline", O_RDONLY);
	ssize_t length = fd < 0 ? 0 : sys_read(fd, text, size - 1);

	if (fd >= 0)
		sys_close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
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
