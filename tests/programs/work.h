/* What the test programs share: clocks, work of known size, checks that say which one failed. */
#ifndef TEST_WORK_H
#define TEST_WORK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Dependent multiplications that no compiler can leave out; about a nanosecond each. */
static inline uint64_t spin(uint64_t x, unsigned long rounds)
{
	while (rounds--) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* Burns CPU time of the calling thread. */
static inline void burn_ms(unsigned ms)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)ms * 1000000;

	do
		spin(1, 20000);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end);
}

/* Ends the program with a line on stdout if a promise of the system is not kept. */
#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #condition); \
			fflush(stdout); \
			_Exit(1); \
		} \
	} while (0)

/* A program of several cases; `program CASE [ARGUMENT]` runs one. */
struct test_case {
	const char *name;
	void (*run)(const char *argument);
};

static inline int run_case(const struct test_case *cases, size_t count, int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < count; i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run(argc > 2 ? argv[2] : "");
			return 0;
		}
	fprintf(stderr, "usage: %s CASE [ARGUMENT]; cases:", argv[0]);
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, " %s", cases[i].name);
	fputc('\n', stderr);
	return 2;
}
#define RUN_CASE(cases_, argc_, argv_) run_case(cases_, sizeof(cases_) / sizeof(cases_[0]), argc_, argv_)

#endif
