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

/*
 * Most mutexes are free: then nothing is timed. What is no success but "busy" both calls answer alike. Where
 * somebody else stands in front of one of them the other is not used: see wrap_init().
 */
EXPORT int pthread_mutex_lock(pthread_mutex_t *lock)
{
	int (*try)(pthread_mutex_t *) = real_functions.pthread_mutex_trylock;
	int result = likely(try) ? try(lock) : EBUSY;
	struct wait wait;

	if (likely(result != EBUSY))
		return result;
	wait = wait_begin();
	result = REAL(pthread_mutex_lock)(lock);
	wait_end(&wait);
	return result;
}

/* Before 2.30 the C library lost wake-ups where such a lock was tried. */
TIMED(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
TIMED(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
TIMED(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))
TIMED(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))

TIMED(int, pthread_mutex_clocklock, (pthread_mutex_t * lock, clockid_t clock, const struct timespec *until),
	(lock, clock, until))
TIMED(int, pthread_cond_clockwait,
	(pthread_cond_t * condition, pthread_mutex_t *lock, clockid_t clock, const struct timespec *until),
	(condition, lock, clock, until))
TIMED(int, pthread_timedjoin_np, (pthread_t thread, void **result_of, const struct timespec *until),
	(thread, result_of, until))
TIMED(int, thrd_join, (thrd_t thread, int *result_of), (thread, result_of))
TIMED(int, mtx_lock, (mtx_t * lock), (lock))
TIMED(int, cnd_wait, (cnd_t * condition, mtx_t *lock), (condition, lock))
TIMED(int, cnd_timedwait, (cnd_t * condition, mtx_t *lock, const struct timespec *until),
	(condition, lock, until))
TIMED(int, pthread_mutex_timedlock, (pthread_mutex_t * lock, const struct timespec *until), (lock, until))
TIMED(int, pthread_join, (pthread_t thread, void **result_of), (thread, result_of))
TIMED(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))

TIMED_BRIEF(ssize_t, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
TIMED_BRIEF(ssize_t, pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at))
TIMED_BRIEF(ssize_t, __pread_chk, (int fd, void *to, size_t size, off_t at, size_t room),
	(fd, to, size, at, room))
TIMED_BRIEF(ssize_t, __pread64_chk, (int fd, void *to, size_t size, off64_t at, size_t room),
	(fd, to, size, at, room))
TIMED_BRIEF(ssize_t, preadv, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
TIMED_BRIEF(
	ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
TIMED_BRIEF(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
TIMED_BRIEF(ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at))
TIMED(int, fsync, (int fd), (fd))
TIMED(int, fdatasync, (int fd), (fd))
TIMED(int, msync, (void *at, size_t size, int flags), (at, size, flags))
