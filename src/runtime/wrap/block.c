/*
 * Calls that a signal cuts short with EINTR whatever its handler's flags are
 * (signal(7)). A program that sees no EINTR without us must see none with us:
 * while such a call waits, our signal is held back. It arrives when the call is
 * over, on the same stack; a timer's overruns say for how many samples it
 * stands, so that nothing is lost for wall-clock sampling either.
 *
 * The CPU timer cannot strike a thread that waits, so nothing is done for it. The overflow of a counter can:
 * that of context switches comes as the thread begins to wait.
 * Calls of MPI that are pending are recorded first: the thread may be killed
 * while it waits.
 */
#undef _FILE_OFFSET_BITS /* it gives functions other names than they are written with */
#include <errno.h>

#include "runtime/python/python.h"
#include "runtime/thread.h"
#include "wrap.h"

struct thread *wrap_hold(void)
{
	struct thread *t = self;

	python_look_again();
	thread_settle();
	if (!t || t->state == THREAD_NONE || !t->armed ||
		(t->loc->source == HYB_SOURCE_CPU_TIMER && !rt.events))
		return NULL;
	signal_block(true);
	return t;
}

void wrap_release(struct thread *t)
{
	int saved = errno;

	if (!t || (atomic_load(&rt.yielded) && t->blocks_signal))
		return;
	t->in_blocking_call = true;
	signal_barrier();
	signal_block(false);
	signal_barrier();
	t->in_blocking_call = false;
	errno = saved;
}

/* For calls that bring a mask of their own: the same with our signal in it. */
static const sigset_t *held(const struct thread *t, const sigset_t *mask, sigset_t *copy)
{
	if (!mask || !t)
		return mask;
	*copy = *mask;
	sigaddset(copy, rt.set.signal);
	return copy;
}

/* A wrapper that only holds the signal back. */
#define HELD(ret, name, parameters, arguments) \
	EXPORT ret name parameters \
	{ \
		struct thread *t = wrap_hold(); \
		ret result = REAL(name) arguments; \
		wrap_release(t); \
		return result; \
	}

/* The same for a call with a signal mask. */
#define HELD_MASK(ret, name, parameters, arguments) \
	EXPORT ret name parameters \
	{ \
		struct thread *t = wrap_hold(); \
		sigset_t copy; \
		ret result; \
		mask = held(t, mask, &copy); \
		result = REAL(name) arguments; \
		wrap_release(t); \
		return result; \
	}

HELD(int, pause, (void), ())
HELD(int, nanosleep, (const struct timespec *want, struct timespec *left), (want, left))
HELD(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *want, struct timespec *left),
	(clock, flags, want, left))
HELD(int, usleep, (useconds_t want), (want))
HELD(unsigned, sleep, (unsigned want), (want))
HELD(int, thrd_sleep, (const struct timespec *want, struct timespec *left), (want, left))
HELD(int, poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))
HELD(int, select, (int count, fd_set *in, fd_set *out, fd_set *ex, struct timeval *timeout),
	(count, in, out, ex, timeout))
HELD(int, epoll_wait, (int fd, struct epoll_event *events, int max, int timeout), (fd, events, max, timeout))
HELD(ssize_t, msgrcv, (int id, void *message, size_t size, long type, int flags),
	(id, message, size, type, flags))
HELD(int, msgsnd, (int id, const void *message, size_t size, int flags), (id, message, size, flags))
HELD(int, semop, (int id, struct sembuf *ops, size_t count), (id, ops, count))
HELD(int, semtimedop, (int id, struct sembuf *ops, size_t count, const struct timespec *timeout),
	(id, ops, count, timeout))
HELD(int, sem_timedwait, (sem_t * sem, const struct timespec *until), (sem, until))
HELD(int, sem_clockwait, (sem_t * sem, clockid_t clock, const struct timespec *until), (sem, clock, until))
HELD(int, accept, (int fd, struct sockaddr *from, socklen_t *size), (fd, from, size))
HELD(int, accept4, (int fd, struct sockaddr *from, socklen_t *size, int flags), (fd, from, size, flags))
HELD(int, connect, (int fd, const struct sockaddr *to, socklen_t size), (fd, to, size))
HELD(ssize_t, recv, (int fd, void *buffer, size_t size, int flags), (fd, buffer, size, flags))
HELD(ssize_t, recvfrom,
	(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *from_size),
	(fd, buffer, size, flags, from, from_size))
HELD(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
HELD(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
	(fd, messages, count, flags, timeout))
HELD(ssize_t, send, (int fd, const void *buffer, size_t size, int flags), (fd, buffer, size, flags))
HELD(ssize_t, sendto,
	(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to, socklen_t to_size),
	(fd, buffer, size, flags, to, to_size))
HELD(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
HELD(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags),
	(fd, messages, count, flags))

HELD_MASK(int, sigsuspend, (const sigset_t *mask), (mask))
HELD_MASK(int, ppoll,
	(struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
	(fds, count, timeout, mask))
HELD_MASK(int, pselect,
	(int count, fd_set *in, fd_set *out, fd_set *ex, const struct timespec *timeout,
		const sigset_t *mask),
	(count, in, out, ex, timeout, mask))
HELD_MASK(int, epoll_pwait, (int fd, struct epoll_event *events, int max, int timeout, const sigset_t *mask),
	(fd, events, max, timeout, mask))
HELD_MASK(int, epoll_pwait2,
	(int fd, struct epoll_event *events, int max, const struct timespec *timeout, const sigset_t *mask),
	(fd, events, max, timeout, mask))

/*
 * These are restarted after our handler, but not as before: what has been
 * written until then ends the call, and if the program's own signal came at the
 * same moment, the kernel does as our flags say, not as the program's.
 */
HELD(ssize_t, read, (int fd, void *buffer, size_t size), (fd, buffer, size))
HELD(ssize_t, write, (int fd, const void *buffer, size_t size), (fd, buffer, size))
HELD(ssize_t, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))
HELD(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
HELD(int, sem_wait, (sem_t * sem), (sem))
HELD(int, flock, (int fd, int operation), (fd, operation))

/* These return what they have so far when a signal comes in the midst of a long one. */
HELD(ssize_t, sendfile, (int to, int from, off_t *offset, size_t size), (to, from, offset, size))
HELD(ssize_t, sendfile64, (int to, int from, off64_t *offset, size_t size), (to, from, offset, size))
HELD(ssize_t, splice, (int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags),
	(from, from_at, to, to_at, size, flags))
HELD(ssize_t, tee, (int from, int to, size_t size, unsigned flags), (from, to, size, flags))
HELD(ssize_t, vmsplice, (int to, const struct iovec *parts, size_t count, unsigned flags),
	(to, parts, count, flags))
HELD(ssize_t, copy_file_range,
	(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags),
	(from, from_at, to, to_at, size, flags))
HELD(ssize_t, getrandom, (void *buffer, size_t size, unsigned flags), (buffer, size, flags))
HELD(int, getentropy, (void *buffer, size_t size), (buffer, size))
HELD(int, aio_suspend, (const struct aiocb *const list[], int count, const struct timespec *timeout),
	(list, count, timeout))
HELD(int, aio_suspend64, (const struct aiocb64 *const list[], int count, const struct timespec *timeout),
	(list, count, timeout))

/* What _FORTIFY_SOURCE makes of the calls above; no header declares them. */
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
ssize_t __read_chk(int, void *, size_t, size_t);

HELD(int, __poll_chk, (struct pollfd * fds, nfds_t count, int timeout, size_t room),
	(fds, count, timeout, room))
HELD_MASK(int, __ppoll_chk,
	(struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
		size_t room),
	(fds, count, timeout, mask, room))
HELD(ssize_t, __recv_chk, (int fd, void *buffer, size_t size, size_t room, int flags),
	(fd, buffer, size, room, flags))
HELD(ssize_t, __recvfrom_chk,
	(int fd, void *buffer, size_t size, size_t room, int flags, struct sockaddr *from,
		socklen_t *from_size),
	(fd, buffer, size, room, flags, from, from_size))
HELD(ssize_t, __read_chk, (int fd, void *buffer, size_t size, size_t room), (fd, buffer, size, room))
