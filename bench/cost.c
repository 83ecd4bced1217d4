/*
 * Probes of one kind, called very often, and the CPU seconds that it took: what hybrid-report's `cost` is
 * compared with.
 *
 *     cost plain CALLS       no probes, pieces of some 40 ns
 *     cost regions CALLS     user regions around nearly nothing
 *     cost tiny CALLS        functions of a few instructions, all of them probes by the compiler
 *     cost medium CALLS      functions of some 150 ns, calling others
 */
#include <hybrid/hybrid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define PLAIN __attribute__((no_instrument_function))
#define WORDS 4096

static volatile unsigned long sink;
static unsigned words[WORDS];

PLAIN static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

PLAIN static void plain(unsigned long calls)
{
	unsigned x = 0;

	for (unsigned long i = 0; i < calls; i++)
		for (int k = 0; k < 20; k++)
			x = x * 1664525u + words[x % WORDS] + 1013904223u;
	sink = x;
}

PLAIN static void regions(unsigned long calls)
{
	static struct hybrid_region outer = HYBRID_REGION_INIT("outer", HYBRID_USER);
	static struct hybrid_region inner = HYBRID_REGION_INIT("inner", HYBRID_USER);

	for (unsigned long i = 0; i < calls; i += 5) {
		hybrid_enter(&outer);
		for (int k = 0; k < 4; k++) {
			hybrid_enter(&inner);
			sink += i;
			hybrid_leave(&inner);
		}
		hybrid_leave(&outer);
	}
}

__attribute__((noinline)) static unsigned long add(unsigned long a, unsigned long b)
{
	return a + b;
}

__attribute__((noinline)) static unsigned long twice(unsigned long a)
{
	return add(a, a);
}

PLAIN static void tiny(unsigned long calls)
{
	for (unsigned long i = 0; i < calls; i += 2)
		sink = twice(i);
}

__attribute__((noinline)) static unsigned mix(unsigned at)
{
	unsigned x = at;

	for (int i = 0; i < 40; i++) {
		x = x * 1664525u + 1013904223u;
		x ^= words[x % WORDS];
	}
	return x;
}

__attribute__((noinline)) static unsigned step(unsigned at)
{
	unsigned x = mix(at) ^ mix(at + 1);

	words[x % WORDS] = x;
	return x;
}

PLAIN static void medium(unsigned long calls)
{
	for (unsigned long i = 0; i < calls; i += 3)
		sink = step((unsigned)i);
}

PLAIN int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(unsigned long calls);
	} kinds[] = {{"plain", plain}, {"regions", regions}, {"tiny", tiny}, {"medium", medium}};
	double start = cpu_seconds();

	for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		kinds[i].run(strtoul(argv[2], NULL, 10));
		printf("seconds %.6f\n", cpu_seconds() - start);
		return 0;
	}
	return 2;
}
