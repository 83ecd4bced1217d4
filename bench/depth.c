/*
 * Fixed work at a given depth of the stack, in chunks whose CPU time is taken.
 * Prints "chunk NS" (mean of the middle half of the chunks) and "total NS".
 *
 *     depth DEPTH PROBE CHUNKS [PATHS]
 *
 * PROBE: 1 for a region entered 8 frames above the work, 0 for none. PATHS: by
 * how many ways of the last 8 frames the work is reached (default 1, at most 256).
 */
#include <hybrid/hybrid.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define NEAR 8
#define CHUNKS_MAX 10000
#define CALLS 600 /* of the work in a chunk */

#define STAYS_A_FRAME() __asm__ volatile("" ::: "memory")

struct work {
	int probe, chunks, paths;
	double ns[CHUNKS_MAX];
};

FRAME static double leaf_add(double x)
{
	for (int i = 0; i < 10000; i++)
		x += 1.0 / (1 + i);
	return x;
}

FRAME static double leaf_multiply(double x)
{
	for (int i = 0; i < 10000; i++)
		x = x * 0.999 + 1;
	return x;
}

FRAME static double left(int frames, unsigned way, double x);

FRAME static double right(int frames, unsigned way, double x)
{
	if (frames <= 0)
		return leaf_multiply(x) + 1;
	x = way & 1 ? left(frames - 1, way >> 1, x) : right(frames - 1, way >> 1, x);
	STAYS_A_FRAME();
	return x;
}

FRAME static double left(int frames, unsigned way, double x)
{
	if (frames <= 0)
		return leaf_add(x) + 1;
	x = way & 1 ? left(frames - 1, way >> 1, x) : right(frames - 1, way >> 1, x);
	STAYS_A_FRAME();
	return x;
}

FRAME static double all_chunks(struct work *w)
{
	static struct hybrid_region region = HYBRID_REGION_INIT("near", HYBRID_USER);
	double x = 0;

	for (int chunk = 0; chunk < w->chunks; chunk++) {
		uint64_t start = read_clock(CLOCK_THREAD_CPUTIME_ID);

		if (w->probe)
			hybrid_enter(&region);
		for (int i = 0; i < CALLS; i++)
			x += left(NEAR - 1, (unsigned)i * 37 % (unsigned)w->paths, x);
		if (w->probe)
			hybrid_leave(&region);
		w->ns[chunk] = (double)(read_clock(CLOCK_THREAD_CPUTIME_ID) - start);
	}
	return x;
}

FRAME static double down(int frames, struct work *w)
{
	double x = frames > 1 ? down(frames - 1, w) : all_chunks(w);

	STAYS_A_FRAME();
	return x;
}

static double middle(double *ns, int count)
{
	double sum = 0;
	int from = count / 4, to = count - count / 4;

	qsort(ns, (size_t)count, sizeof(*ns), compare_doubles);
	for (int i = from; i < to; i++)
		sum += ns[i];
	return sum / (to - from);
}

int main(int argc, char **argv)
{
	static struct work work;
	int depth = argc > 3 ? atoi(argv[1]) : 0;

	if (argc > 3)
		work.probe = atoi(argv[2]), work.chunks = atoi(argv[3]);
	work.paths = argc > 4 ? atoi(argv[4]) : 1;
	if (depth < NEAR + 4 || work.chunks < 4 || work.chunks > CHUNKS_MAX || work.paths < 1 ||
		work.paths > 256)
		return 2;
	/* main, all_chunks, NEAR frames, and the leaf */
	if (down(depth - NEAR - 3, &work) < 0)
		return 1;
	printf("chunk %.0f\n", middle(work.ns, work.chunks));
	printf("total %llu\n", (unsigned long long)read_clock(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
