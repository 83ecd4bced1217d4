/*
 * What the programs of tests/truth share: load functions, the exact account of each (by the CPU clock of the
 * thread that ran it), and the line of JSON that each process appends to the file $TRUTH at its end.
 */
#ifndef TRUTH_ACCOUNT_H
#define TRUTH_ACCOUNT_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define US 1000ull /* nanoseconds */
#define CHUNK 4000 /* rounds between two looks at the clock: about 4 us */

enum { FA, FB, FC, FD, FUNCTIONS };

struct account {
	uint64_t cpu[FUNCTIONS];
	uint64_t chunks; /* work done, whatever time it took */
};

static __thread struct account mine;
static struct account process;
static pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;
static char thread_times[1 << 16]; /* "TID":CPU,... of threads that have ended */

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Computes for so much CPU time of the thread. */
static inline __attribute__((always_inline)) void burn(uint64_t ns)
{
	uint64_t end = cpu_ns() + ns, x = ns;

	do {
		for (int i = 0; i < CHUNK; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			__asm__ volatile("" : "+r"(x));
		}
		mine.chunks++;
	} while (cpu_ns() < end);
}

/* The code after the loop differs, or else the linker could make one function of all. */
#define LOAD(name_, number_) \
	static NOINLINE void name_(uint64_t ns) \
	{ \
		burn(ns); \
		__asm__ volatile("" ::"i"(number_)); \
	}
LOAD(fa, FA)
LOAD(fb, FB)
LOAD(fc, FC)
LOAD(fd, FD)

static void (*const loads[FUNCTIONS])(uint64_t ns) = {fa, fb, fc, fd};

/* Runs a load function, and books what it took. */
static inline void spend(int function, uint64_t ns)
{
	uint64_t start = cpu_ns();

	loads[function](ns);
	mine.cpu[function] += cpu_ns() - start;
}

static inline void sleep_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (ns && nanosleep(&t, &t) && errno == EINTR)
		;
}

/* To be called last by each thread but the one that calls account_write. */
static inline void account_thread(void)
{
	char text[64];

	pthread_mutex_lock(&account_lock);
	for (int i = 0; i < FUNCTIONS; i++)
		process.cpu[i] += mine.cpu[i];
	process.chunks += mine.chunks;
	memset(&mine, 0, sizeof(mine));
	snprintf(text, sizeof(text), "\"%ld\":%llu,", syscall(SYS_gettid), (unsigned long long)cpu_ns());
	if (strlen(thread_times) + strlen(text) < sizeof(thread_times))
		strcat(thread_times, text);
	pthread_mutex_unlock(&account_lock);
}

/* In a child after fork: what the parent did is not this process's. */
static inline void account_fresh(void)
{
	memset(&mine, 0, sizeof(mine));
	memset(&process, 0, sizeof(process));
	thread_times[0] = '\0';
}

static inline unsigned long long usage_ns(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (unsigned long long)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000 +
	       (unsigned long long)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000;
}

/* The last act of a process, or of a program before it executes another one. */
static inline void account_write(void)
{
	static char text[sizeof(thread_times) + 1000];
	const char *path = getenv("TRUTH");
	uint64_t *cpu = process.cpu;
	int file, length;

	account_thread();
	thread_times[strlen(thread_times) - 1] = '\0';
	length = snprintf(text, sizeof(text),
		"{\"pid\":%d,\"functions\":{\"fa\":%llu,\"fb\":%llu,\"fc\":%llu,\"fd\":%llu},\"chunks\":%llu,"
		"\"threads\":{%s},\"children\":%llu,\"cpu\":%llu}\n",
		(int)getpid(), (unsigned long long)cpu[FA], (unsigned long long)cpu[FB],
		(unsigned long long)cpu[FC], (unsigned long long)cpu[FD], (unsigned long long)process.chunks,
		thread_times, usage_ns(RUSAGE_CHILDREN), usage_ns(RUSAGE_SELF));
	file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0644) : 1;
	if (file < 0 || write(file, text, (size_t)length) != length) {
		perror(path);
		_exit(1);
	}
}

#endif
