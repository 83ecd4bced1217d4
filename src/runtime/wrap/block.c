/*
 * Calls that a signal cuts short with EINTR whatever its handler's flags are (signal(7)). A program that sees
 * no EINTR without us must see none with us: while such a call waits, our signal is held back. It arrives
 * when the call is over, on the same stack; a timer's overruns are the number of samples that it stands, so
 * that nothing is lost for wall-clock sampling either.
 *
 * The CPU timer cannot strike a thread that waits, so nothing is done for it. The overflow of a counter can:
 * that of context switches comes as the thread begins to wait.
 * Calls of MPI that are pending are recorded first: the thread may be killed
 * while it waits.
 *
 * The mask costs two system calls, as much as a small read or write. Where the clock strikes only threads
 * that run, these are watched in its place: they are begun again after our handler, and the rest of them is
 * done where it came in their midst.
 */
#undef _FILE_OFFSET_BITS /* it gives functions other names than they are written with */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "runtime/python/python.h"
#include "runtime/thread.h"
#include "wrap.h"

/* Before a call that is watched; NULL: it has to be held. The overflow of a counter may come at each wait. */
static struct thread *watch(void)
{
	struct thread *t = self;

	if (!t || t->state == THREAD_NONE || !t->armed || t->loc->source != HYB_SOURCE_TASK_CLOCK ||
		rt.events)
		return NULL;
	python_look_again();
	thread_settle();
	t->call_cut = false;
	t->in_watched_call = true;
	signal_barrier();
	return t;
}

/* After it: whether our signal came in it. */
static bool is_cut(struct thread *t)
{
	bool result = t->call_cut;

	signal_barrier();
	t->call_cut = false;
	return result;
}

/* errno is what it was before the call if that has succeeded in the end. */
static void end_watch(struct thread *t, bool succeeded, int saved)
{
	signal_barrier();
	t->in_watched_call = false;
	if (succeeded)
		errno = saved;
}

/* Whether EINTR can be our doing, though our handler wants calls begun again, and not that of the program's.
 */
static bool is_our_error(int fd)
{
	struct timeval timeout = {0};
	socklen_t size = sizeof(timeout);

	if (errno != EINTR)
		return false;
	if (!signal_program_handles())
		return true;
	if ((!getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, &size) &&
		    (timeout.tv_sec || timeout.tv_usec)) ||
		(!getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, &size) &&
			(timeout.tv_sec || timeout.tv_usec)))
		return true;
	errno = EINTR;
	return false;
}

static struct thread *hold(void)
{
	struct thread *t = self;

	python_look_again();
	thread_settle();
	if (!t || t->state == THREAD_NONE || !t->armed ||
		(t->loc->source == HYB_SOURCE_CPU_TIMER && !rt.events))
		return NULL;
	/* In a handler on a small stack it stays blocked; a jump out of one is made up for here. */
	return signal_block(true) || thread_on_stack(t) ? t : NULL;
}

struct held_call wrap_hold(void)
{
	struct thread *t = hold();

	return (struct held_call){t, wait_begin()};
}

void wrap_release(const struct held_call *call)
{
	struct thread *t = call->t;
	int saved = errno;

	wait_end(&call->wait); /* before a sample that was due begins the clocks anew */
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
static const sigset_t *held(const struct held_call *call, const sigset_t *mask, sigset_t *copy)
{
	if (!mask || !call->t)
		return mask;
	*copy = *mask;
	sigaddset(copy, rt.set.signal);
	return copy;
}

/* A wrapper that only holds the signal back. */
#define HELD(ret, name, parameters, arguments) \
	EXPORT ret name parameters \
	{ \
		struct held_call call = wrap_hold(); \
		ret result = REAL(name) arguments; \
		wrap_release(&call); \
		return result; \
	}

/* The same for a call with a signal mask. */
#define HELD_MASK(ret, name, parameters, arguments) \
	EXPORT ret name parameters \
	{ \
		struct held_call call = wrap_hold(); \
		sigset_t copy; \
		ret result; \
		mask = held(&call, mask, &copy); \
		result = REAL(name) arguments; \
		wrap_release(&call); \
		return result; \
	}

/* Transfers that are larger take so long that the mask does not matter. */
#define READ_MAX 65536u
#define WRITE_MAX PIPE_BUF /* as one piece, also into a pipe that is nearly full */

/* Whether the kernel stops a read at a signal and not since there is no more: /dev/zero, /dev/urandom ... */
static bool reads_on(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISCHR(status.st_mode) && major(status.st_rdev) == 1;
}

/* Whether what is left of a write can be tried at once: in a file a limit stopped it, and would send a
 * signal. */
static bool writes_on(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && !S_ISREG(status.st_mode);
}

/* A wrapper that watches a call which moves `left` bytes at `at`, if `brief`; cut short, it goes on if `on`.
 */
#define WATCHED(name, parameters, arguments, brief, on) \
	EXPORT ssize_t name parameters \
	{ \
		struct thread *t = (brief) ? watch() : NULL; \
		ssize_t result, done = 0; \
		int saved = errno; \
		bool again; \
		struct wait wait; \
		if (!t) { \
			struct held_call call = wrap_hold(); \
			result = REAL(name) arguments; \
			wrap_release(&call); \
			return result; \
		} \
		wait = wait_begin_brief(); \
		do { \
			result = REAL(name) arguments; \
			again = is_cut(t) && (result < 0 ? is_our_error(fd) \
							 : result > 0 && (size_t)result < left && (on)); \
			if (result > 0) { \
				done += result; \
				at = (char *)at + result; \
				left -= (size_t)result; \
			} \
		} while (again); \
		wait_end_brief(&wait); \
		result = done ? done : result; \
		end_watch(t, result >= 0, saved); \
		return result; \
	}

/*
 * The same for one that waits at most `timeout` ms, for ever if that is negative. It ends with any signal:
 * where the program has handlers it cannot be told which it was.
 */
#define WATCHED_WAIT(name, parameters, arguments) \
	EXPORT int name parameters \
	{ \
		struct thread *t = \
			atomic_load_explicit(&rt.program_handles, memory_order_relaxed) ? NULL : watch(); \
		uint64_t start; \
		int result, most = timeout, saved = errno; \
		struct wait wait; \
		if (!t) { \
			struct held_call call = wrap_hold(); \
			result = REAL(name) arguments; \
			wrap_release(&call); \
			return result; \
		} \
		wait = most ? wait_begin() : wait_begin_brief(); \
		start = timeout > 0 ? clock_tick() : 0; \
		while (result = REAL(name) arguments, \
			is_cut(t) && result < 0 && errno == EINTR && !signal_program_handles()) \
			timeout = most > 0 ? left_of(most, start) : most; \
		(most ? wait_end : wait_end_brief)(&wait); \
		end_watch(t, result >= 0, saved); \
		return result; \
	}

/* Of `most` ms that began at tick `start`. */
static int left_of(int most, uint64_t start)
{
	double passed = (double)(clock_tick() - start) * rt.tick_ns / 1e6;

	return passed < most ? most - (int)passed : 0;
}

HELD(int, pause, (void), ())
HELD(int, nanosleep, (const struct timespec *want, struct timespec *left), (want, left))
HELD(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *want, struct timespec *left),
	(clock, flags, want, left))
HELD(int, usleep, (useconds_t want), (want))
HELD(unsigned, sleep, (unsigned want), (want))
HELD(int, thrd_sleep, (const struct timespec *want, struct timespec *left), (want, left))
HELD(int, select, (int count, fd_set *in, fd_set *out, fd_set *ex, struct timeval *timeout),
	(count, in, out, ex, timeout))
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
HELD(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
HELD(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
	(fd, messages, count, flags, timeout))
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
 * These are restarted after our handler, but not as before: what has been written until then ends the call,
 * and if the program's own signal came at the same moment, the kernel follows our flags, not the program's.
 */
HELD(ssize_t, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))
HELD(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
HELD(int, sem_wait, (sem_t * sem), (sem))
HELD(int, flock, (int fd, int operation), (fd, operation))

WATCHED(read, (int fd, void *at, size_t left), (fd, at, left), left <= READ_MAX, reads_on(fd))
WATCHED(recv, (int fd, void *at, size_t left, int flags), (fd, at, left, flags),
	left <= READ_MAX && !(flags & MSG_WAITALL), false)
WATCHED(recvfrom, (int fd, void *at, size_t left, int flags, struct sockaddr *from, socklen_t *from_size),
	(fd, at, left, flags, from, from_size), left <= READ_MAX && !(flags & MSG_WAITALL), false)
WATCHED(write, (int fd, const void *at, size_t left), (fd, at, left), left <= WRITE_MAX, writes_on(fd))
WATCHED(send, (int fd, const void *at, size_t left, int flags), (fd, at, left, flags), left <= WRITE_MAX,
	true)
WATCHED(sendto,
	(int fd, const void *at, size_t left, int flags, const struct sockaddr *to, socklen_t to_size),
	(fd, at, left, flags, to, to_size), left <= WRITE_MAX, true)
WATCHED_WAIT(poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))
WATCHED_WAIT(
	epoll_wait, (int fd, struct epoll_event *events, int max, int timeout), (fd, events, max, timeout))

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

/* As _FORTIFY_SOURCE has it. */
WATCHED_WAIT(__poll_chk, (struct pollfd * fds, nfds_t count, int timeout, size_t room),
	(fds, count, timeout, room))
HELD_MASK(int, __ppoll_chk,
	(struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
		size_t room),
	(fds, count, timeout, mask, room))
WATCHED(__recv_chk, (int fd, void *at, size_t left, size_t room, int flags), (fd, at, left, room, flags),
	left <= READ_MAX && !(flags & MSG_WAITALL), false)
WATCHED(__recvfrom_chk,
	(int fd, void *at, size_t left, size_t room, int flags, struct sockaddr *from, socklen_t *from_size),
	(fd, at, left, room, flags, from, from_size), left <= READ_MAX && !(flags & MSG_WAITALL), false)
WATCHED(__read_chk, (int fd, void *at, size_t left, size_t room), (fd, at, left, room), left <= READ_MAX,
	reads_on(fd))
