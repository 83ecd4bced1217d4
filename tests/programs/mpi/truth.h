/*
 * What a program of these tests really did, told by itself: lines in the file $TRUTH.RANK, one for each
 * record that a measurement should have of it:
 *
 *     MPI_Send send 1 7 80 0       function, operation, peer (world rank), tag, bytes sent, received
 *     MPI_Irecv posted             a receive began
 *     * sent                       a request was completed, wherever that was seen; also: done, collected,
 * cancelled
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static FILE *truth_file;
static int rank, size;

/* In front of MPI_Finalize or behind it; any thread. */
static inline void truth(const char *format, ...)
{
	va_list list;
	char line[512];

	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	fprintf(truth_file, "%s\n", line);
}

/* Behind MPI_Init: `rank` and `size` are known from here on. */
static void truth_begin(void)
{
	const char *path = getenv("TRUTH");
	char name[4096];

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(name, sizeof(name), "%s.%d", path ? path : "/dev/null", path ? rank : 0);
	truth_file = fopen(path ? name : "/dev/null", "w");
	if (!truth_file) {
		perror(name);
		abort();
	}
	setvbuf(truth_file, NULL, _IOLBF, 0);
	truth("pid %d", (int)getpid());
}

/* Ends the program where what MPI delivered is not what was sent. */
static inline void expect(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "rank %d: not as expected: %s\n", rank, what);
	abort();
}

static inline void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static inline double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* argv[1] chooses what a program does. */
struct scenario {
	const char *name;
	void (*play)(void);
};

static inline int play(const struct scenario *scenarios, const char *name)
{
	for (; scenarios->name; scenarios++)
		if (!strcmp(scenarios->name, name)) {
			scenarios->play();
			return 0;
		}
	fprintf(stderr, "no scenario %s\n", name);
	return 2;
}

#endif
