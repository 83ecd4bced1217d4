#include "memory.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "format/format.h"

bool memory_readable(uintptr_t address)
{
	/*
	 * With a `how` that does not exist the kernel reads the set, then refuses: EFAULT: it could not.
	 * Needs no permission, changes nothing.
	 */
	int saved = errno;
	bool readable = address >= HYB_PAGE &&
			(syscall(SYS_rt_sigprocmask, -1, address & ~7ul, NULL, 8) == 0 || errno != EFAULT);

	errno = saved;
	return readable;
}

ssize_t memory_copy_parts(const struct iovec *to, const struct iovec *from, unsigned count)
{
	int saved = errno;
	ssize_t got = syscall(SYS_process_vm_readv, getpid(), to, 1, from, count, 0);

	errno = saved;
	return got;
}

bool memory_copy(void *to, uintptr_t from, size_t size)
{
	const struct iovec local = {to, size}, remote = {(void *)from, size};
	int saved = errno;
	bool ok = syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;

	if (!ok && errno != EFAULT) { /* forbidden (seccomp): look at each page, then read */
		ok = true;
		for (uintptr_t page = from & ~(uintptr_t)(HYB_PAGE - 1); ok && page < from + size;
			page += HYB_PAGE)
			ok = memory_readable(page);
		if (ok)
			memcpy(to, (const void *)from, size);
	}
	errno = saved;
	return ok;
}
