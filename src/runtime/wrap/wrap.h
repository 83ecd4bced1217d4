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
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/epoll.h>
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

#include "runtime/runtime.h"

/* The C library's functions: return type, name, parameters. */
#define WRAPPED(F) \
	F(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)) \
	F(int, thrd_create, (thrd_t *, thrd_start_t, void *)) \
	F(int, clone, (int (*)(void *), void *, int, void *, ...)) \
	F(pid_t, _Fork, (void)) \
	F(long, syscall, (long, ...)) \
	F(int, execve, (const char *, char *const *, char *const *)) \
	F(int, execvpe, (const char *, char *const *, char *const *)) \
	F(int, fexecve, (int, char *const *, char *const *)) \
	F(int, posix_spawn, \
		(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, \
			char *const *, char *const *)) \
	F(int, posix_spawnp, \
		(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, \
			char *const *, char *const *)) \
	F(int, system, (const char *)) \
	F(FILE *, popen, (const char *, const char *)) \
	F(int, pclose, (FILE *)) \
	F(int, execveat, (int, const char *, char *const *, char *const *, int)) \
	F(void, _exit, (int)) \
	F(int, sigaction, (int, const struct sigaction *, struct sigaction *)) \
	F(sighandler_t, signal, (int, sighandler_t)) \
	F(int, pthread_sigmask, (int, const sigset_t *, sigset_t *)) \
	F(int, sigtimedwait, (const sigset_t *, siginfo_t *, const struct timespec *)) \
	F(int, signalfd, (int, const sigset_t *, int)) \
	F(int, sigsuspend, (const sigset_t *)) \
	F(int, pause, (void)) \
	F(int, nanosleep, (const struct timespec *, struct timespec *)) \
	F(int, clock_nanosleep, (clockid_t, int, const struct timespec *, struct timespec *)) \
	F(int, usleep, (useconds_t)) \
	F(unsigned, sleep, (unsigned)) \
	F(int, thrd_sleep, (const struct timespec *, struct timespec *)) \
	F(int, poll, (struct pollfd *, nfds_t, int)) \
	F(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *)) \
	F(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *)) \
	F(int, pselect, (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *)) \
	F(int, epoll_wait, (int, struct epoll_event *, int, int)) \
	F(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *)) \
	F(int, epoll_pwait2, (int, struct epoll_event *, int, const struct timespec *, const sigset_t *)) \
	F(ssize_t, msgrcv, (int, void *, size_t, long, int)) \
	F(int, msgsnd, (int, const void *, size_t, int)) \
	F(int, semop, (int, struct sembuf *, size_t)) \
	F(int, semtimedop, (int, struct sembuf *, size_t, const struct timespec *)) \
	F(int, sem_timedwait, (sem_t *, const struct timespec *)) \
	F(int, sem_clockwait, (sem_t *, clockid_t, const struct timespec *)) \
	F(int, accept, (int, struct sockaddr *, socklen_t *)) \
	F(int, accept4, (int, struct sockaddr *, socklen_t *, int)) \
	F(int, connect, (int, const struct sockaddr *, socklen_t)) \
	F(ssize_t, recv, (int, void *, size_t, int)) \
	F(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, socklen_t *)) \
	F(ssize_t, recvmsg, (int, struct msghdr *, int)) \
	F(int, recvmmsg, (int, struct mmsghdr *, unsigned, int, struct timespec *)) \
	F(ssize_t, send, (int, const void *, size_t, int)) \
	F(ssize_t, sendto, (int, const void *, size_t, int, const struct sockaddr *, socklen_t)) \
	F(ssize_t, sendmsg, (int, const struct msghdr *, int)) \
	F(int, __poll_chk, (struct pollfd *, nfds_t, int, size_t)) \
	F(int, __ppoll_chk, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t)) \
	F(ssize_t, __recv_chk, (int, void *, size_t, size_t, int)) \
	F(ssize_t, __recvfrom_chk, (int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *)) \
	F(ssize_t, __read_chk, (int, void *, size_t, size_t)) \
	F(ssize_t, read, (int, void *, size_t)) \
	F(ssize_t, write, (int, const void *, size_t)) \
	F(ssize_t, readv, (int, const struct iovec *, int)) \
	F(ssize_t, writev, (int, const struct iovec *, int)) \
	F(pid_t, wait4, (pid_t, int *, int, struct rusage *)) \
	F(int, waitid, (idtype_t, id_t, siginfo_t *, int)) \
	F(int, sem_init, (sem_t *, int, unsigned)) \
	F(int, sem_wait, (sem_t *)) \
	F(int, flock, (int, int)) \
	F(ssize_t, sendfile, (int, int, off_t *, size_t)) \
	F(ssize_t, sendfile64, (int, int, off64_t *, size_t)) \
	F(ssize_t, splice, (int, off64_t *, int, off64_t *, size_t, unsigned)) \
	F(ssize_t, tee, (int, int, size_t, unsigned)) \
	F(ssize_t, vmsplice, (int, const struct iovec *, size_t, unsigned)) \
	F(ssize_t, copy_file_range, (int, off64_t *, int, off64_t *, size_t, unsigned)) \
	F(ssize_t, getrandom, (void *, size_t, unsigned)) \
	F(int, getentropy, (void *, size_t)) \
	F(int, aio_suspend, (const struct aiocb *const[], int, const struct timespec *)) \
	F(int, aio_suspend64, (const struct aiocb64 *const[], int, const struct timespec *)) \
	F(int, pthread_cond_signal, (pthread_cond_t *)) \
	F(int, pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *)) \
	F(int, pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *)) \
	F(int, sendmmsg, (int, struct mmsghdr *, unsigned, int))

struct real {
#define MEMBER(ret, name, parameters) ret(*name) parameters;
	WRAPPED(MEMBER)
#undef MEMBER
	pthread_key_t thread_key; /* its destructor ends the thread */
};

extern struct real real_functions __attribute__((visibility("hidden")));

/* Finds the C library's functions; once, before the first of them is called. */
void wrap_init(void);

/* The function behind our wrapper; other libraries' constructors may call it before ours ran. */
#define REAL(name) (likely(real_functions.name) ? real_functions.name : (wrap_init(), real_functions.name))

/* Around a call that a signal would cut short: blocks our signal, NULL if that is not needed. Owner thread */
struct thread *wrap_hold(void);
void wrap_release(struct thread *t);

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
