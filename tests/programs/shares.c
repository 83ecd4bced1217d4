/*
 * Four functions that burn 10, 20, 30 and 40 per cent of the CPU time, each in
 * one hot line. Prints for each its name, that line and the CPU nanoseconds it
 * used by the thread's own clock: what samples must find.
 */
#include "work.h"

#define UNIT 60000 /* rounds: long against reading the clock */

static struct {
	const char *name;
	int line;
	uint64_t cpu;
} known[4];

#define ROUND(x) \
	x = x * 6364136223846793005u + 1442695040888963407u; \
	__asm__ volatile("" : "+r"(x))

/* clang-format off */
static NOINLINE void burn_10(void)
{
	uint64_t x = 1;

	known[0].line = __LINE__ + 1;
	for (unsigned i = 0; i < 1 * UNIT; i++) { ROUND(x); }
}

static NOINLINE void burn_20(void)
{
	uint64_t x = 2;

	known[1].line = __LINE__ + 1;
	for (unsigned i = 0; i < 2 * UNIT; i++) { ROUND(x); }
}

static NOINLINE void burn_30(void)
{
	uint64_t x = 3;

	known[2].line = __LINE__ + 1;
	for (unsigned i = 0; i < 3 * UNIT; i++) { ROUND(x); }
}

static NOINLINE void burn_40(void)
{
	uint64_t x = 4;

	known[3].line = __LINE__ + 1;
	for (unsigned i = 0; i < 4 * UNIT; i++) { ROUND(x); }
}
/* clang-format on */

int main(int argc, char **argv)
{
	static void (*const burn[4])(void) = {burn_10, burn_20, burn_30, burn_40};
	static const char *const names[4] = {"burn_10", "burn_20", "burn_30", "burn_40"};
	uint64_t wanted = (uint64_t)(argc > 1 ? atoi(argv[1]) : 1000) * 1000000;
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), now = start;

	while (now - start < wanted)
		for (int i = 0; i < 4; i++) {
			uint64_t before = now;

			burn[i]();
			now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
			known[i].cpu += now - before;
		}
	for (int i = 0; i < 4; i++)
		printf("%s %d %llu\n", names[i], known[i].line, (unsigned long long)known[i].cpu);
	return 0;
}
