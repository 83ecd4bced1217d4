/*
 * Calls that may wait and that no signal cuts short: they are timed, and nothing else. What the C library
 * calls by itself, as for its streams, and what waits by system calls of its own is not seen.
 */
#undef _FILE_OFFSET_BITS /* it gives functions other names than they are written with */
#include <sys/mman.h>

#include "wrap.h"

#define TIMED(ret, name, parameters, arguments) \
	EXPORT ret name parameters \
	{ \
		struct wait wait = wait_begin(); \
		ret result = REAL(name) arguments; \
		wait_end(&wait); \
		return result; \
	}

#define TIMED_BRIEF(ret, name, parameters, arguments) \
	EXPORT ret name parameters \
	{ \
		struct wait wait = wait_begin_brief(); \
		ret result = REAL(name) arguments; \
		wait_end_brief(&wait); \
		return result; \
	}

/* Most locks are free: then nothing is timed. What is no success but "busy" both calls answer alike. */
#define TIMED_LOCK(name, try, type) \
	EXPORT int name(type *lock) \
	{ \
		int result = REAL(try)(lock); \
		struct wait wait; \
		if (likely(result != EBUSY)) \
			return result; \
		wait = wait_begin(); \
		result = REAL(name)(lock); \
		wait_end(&wait); \
		return result; \
	}

TIMED_LOCK(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t)
TIMED_LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t)
TIMED_LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t)

TIMED(int, pthread_mutex_timedlock, (pthread_mutex_t * lock, const struct timespec *until), (lock, until))
TIMED(int, pthread_join, (pthread_t thread, void **result_of), (thread, result_of))
TIMED(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))

TIMED_BRIEF(ssize_t, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
TIMED_BRIEF(ssize_t, pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at))
TIMED_BRIEF(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
TIMED_BRIEF(ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at))
TIMED(int, fsync, (int fd), (fd))
TIMED(int, fdatasync, (int fd), (fd))
TIMED(int, msync, (void *at, size_t size, int flags), (at, size, flags))
