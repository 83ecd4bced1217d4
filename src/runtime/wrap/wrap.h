/*
 * Functions of the C library that the runtime stands in front of. A wrapper
 * does what the program asked for, exactly; it exists because the measurement
 * has to know of it (threads, exec) or must not be seen by it (signals).
 *
 * Functions that return to their caller by its address (dlopen) are jumped to,
 * see runtime/arch/<processor>/wrap.S.
 */
#ifndef HYB_WRAP_H
#define HYB_WRAP_H

#include <aio.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "runtime/runtime.h"
#include "runtime/sample/waits.h"

/* What _FORTIFY_SOURCE makes of some of the calls below; no header declares them. */
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);

/* clang-format off */
/* The C library's functions; wrap_init() looks at the last one. Finding one may allocate, and lock. */
#define WRAPPED(F) \
	F(pthread_mutex_lock) F(pthread_mutex_trylock) F(pthread_create) F(thrd_create) F(clone) F(_Fork) F(syscall) \
	F(execve) F(execvpe) F(fexecve) F(execveat) F(posix_spawn) F(posix_spawnp) F(system) F(popen) F(pclose) F(_exit) \
	F(sigaction) F(signal) F(pthread_sigmask) F(sigtimedwait) F(signalfd) F(sigsuspend) \
	F(pause) F(nanosleep) F(clock_nanosleep) F(usleep) F(sleep) F(thrd_sleep) \
	F(poll) F(ppoll) F(select) F(pselect) F(epoll_wait) F(epoll_pwait) F(epoll_pwait2) \
	F(msgrcv) F(msgsnd) F(semop) F(semtimedop) F(sem_init) F(sem_wait) F(sem_timedwait) F(sem_clockwait) \
	F(accept) F(accept4) F(connect) F(recv) F(recvfrom) F(recvmsg) F(recvmmsg) F(send) F(sendto) F(sendmsg) \
	F(__poll_chk) F(__ppoll_chk) F(__recv_chk) F(__recvfrom_chk) F(__read_chk) \
	F(read) F(write) F(readv) F(writev) F(wait4) F(waitid) F(flock) \
	F(sendfile) F(sendfile64) F(splice) F(tee) F(vmsplice) F(copy_file_range) F(getrandom) F(getentropy) \
	F(pthread_mutex_timedlock) F(pthread_mutex_clocklock) F(pthread_rwlock_rdlock) F(pthread_rwlock_wrlock) \
	F(pthread_rwlock_timedrdlock) F(pthread_rwlock_timedwrlock) F(pthread_cond_clockwait) F(pthread_join) \
	F(pthread_timedjoin_np) F(thrd_join) F(mtx_lock) F(cnd_wait) F(cnd_timedwait) F(preadv) F(pwritev) \
	F(pthread_barrier_wait) F(pread) F(pread64) F(__pread_chk) F(__pread64_chk) F(pwrite) F(pwrite64) F(fsync) F(fdatasync) F(msync) \
	F(aio_suspend) F(aio_suspend64) F(pthread_cond_signal) F(pthread_cond_wait) F(pthread_cond_timedwait) \
	F(sendmmsg)
/* clang-format on */

struct real {
#define MEMBER(name) __typeof__(name) *name;
	WRAPPED(MEMBER)
#undef MEMBER
	pthread_key_t thread_key; /* its destructor ends the thread */
};

extern struct real real_functions __attribute__((visibility("hidden")));

/* Finds the C library's functions; once, before the first of them is called. */
void wrap_init(void);

/* The function behind our wrapper; other libraries' constructors may call it before ours ran. */
#define REAL(name) (likely(real_functions.name) ? real_functions.name : (wrap_init(), real_functions.name))

/* A call that waits, and that a signal would cut short. */
struct held_call {
	struct thread *t; /* our signal is blocked in it; NULL: that is not needed */
	struct wait wait;
};

/* Around it. Owner thread */
struct held_call wrap_hold(void);
void wrap_release(const struct held_call *call);

/*
 * Whether the program has handlers of signals that come at any time, by the kernel's own word;
 * rt.program_handles has the same as far as we saw them installed. Any thread
 */
bool signal_program_handles(void);

/* Whether this is the signal we use, in a process that is sampled. */
bool signal_is_ours(int sig);

/* What rt_sigaction() does for it, with the kernel's structures: it is kept for the program, and is shown. */
long signal_set_own(const void *want, void *ret_old);

/* CPU time in ns of children that have ended and were waited for, with theirs; 0: not known.
 * Async-signal-safe */
uint64_t wait_cpu_children(void);

/*
 * Around a call in which the C library waits for a child by itself: what it took is what the CPU time of
 * children that no other wait has noted grows by. errno is kept
 */
uint64_t wait_hidden_begin(void);
void wait_hidden_end(uint64_t begin, int status);

/*
 * Records why a process is not measured that executed that program, or does so since that tick; of number 0
 * is the shell of the C library. Async-signal-safe
 */
void note_program(uint64_t tick, pid_t pid, const char *path, enum hyb_unmeasured why);

/* The same of a process that runs the program of this one. */
void note_itself(uint64_t tick, pid_t pid, enum hyb_unmeasured why);

/* Blocks or unblocks our signal in the kernel; true if that changed the mask. Owner thread */
bool signal_block(bool block);

/*
 * Around the making of a process that inherits mask and dispositions: the
 * kernel's are what the program believes them to be. errno is kept. Owner thread
 */
struct signal_inherited {
	bool blocked, ignored;
	struct sigaction action;
};
struct signal_inherited signal_inherit_begin(void);
void signal_inherit_end(struct signal_inherited *done);

/* A function that programs see in front of the C library's. */
#define EXPORT __attribute__((visibility("default")))

#endif
