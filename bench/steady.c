/*
 * A program that computes on some threads for a while, on a few hundred call
 * paths, and enters a region so many times a second.
 *
 *     steady THREADS DURATION [REGIONS_A_SECOND]
 *
 * DURATION, of each thread: CPU time, as in 500ms, or pieces of work, as in
 * 200000. At its end, with all threads alive, it prints "rss KIB" for itself
 * and "parent_rss KIB" for the process that started it, and "calls N", the
 * pieces done.
 */
#include <hybrid/hybrid.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

#define THREADS_MAX 1024

struct worker {
	pthread_t thread;
	pthread_barrier_t *end;
	uint64_t max_ns, max_calls; /* ends at the first; CPU time */
	uint64_t period; /* CPU ns between two enters; 0: none */
	uint64_t calls;
	double sum;
};

FRAME static double leaf(double x, int n)
{
	for (int i = 0; i < n; i++)
		x += 1.0 / (1 + i);
	return x;
}

FRAME static double odd(int depth, unsigned way, double x);

FRAME static double even(int depth, unsigned way, double x)
{
	if (!depth)
		return leaf(x, 1000) + 1;
	x += way & 1 ? odd(depth - 1, way >> 1, x) : even(depth - 1, way >> 1, x);
	return x + leaf(x, 20);
}

FRAME static double odd(int depth, unsigned way, double x)
{
	if (!depth)
		return leaf(x, 1500) + 2;
	x += way & 1 ? odd(depth - 1, way >> 1, x) : even(depth - 1, way >> 1, x);
	return x + leaf(x, 30);
}

static void *work(void *data)
{
	static struct hybrid_region region = HYBRID_REGION_INIT("step", HYBRID_USER);
	struct worker *w = data;
	uint64_t start = read_clock(CLOCK_THREAD_CPUTIME_ID), passed = 0, next = 0;
	int inside = 0;

	for (; passed < w->max_ns && w->calls < w->max_calls;
		passed = read_clock(CLOCK_THREAD_CPUTIME_ID) - start, w->calls++) {
		if (w->period && passed >= next) {
			if (inside)
				hybrid_leave(&region);
			hybrid_enter(&region);
			inside = 1;
			next += w->period;
		}
		w->sum = even(8, (unsigned)(w->calls * 37), w->sum * 0.5);
	}
	if (inside)
		hybrid_leave(&region);
	pthread_barrier_wait(w->end); /* main reads the memory in use between */
	pthread_barrier_wait(w->end);
	return NULL;
}

static void read_duration(struct worker *w, const char *text)
{
	char *unit;
	uint64_t number = strtoull(text, &unit, 10);

	w->max_ns = *unit ? number * 1000000 : UINT64_MAX;
	w->max_calls = *unit ? UINT64_MAX : number;
}

static void print_rss(const char *name, pid_t pid)
{
	char path[64], line[256];
	long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Rss: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	printf("%s %ld\n", name, kib);
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[1]) : 0, per_second = argc > 3 ? atoi(argv[3]) : 0;
	static struct worker workers[THREADS_MAX];
	pthread_barrier_t end;
	uint64_t calls = 0;

	if (threads < 1 || threads > THREADS_MAX || per_second < 0)
		return 2;
	pthread_barrier_init(&end, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++) {
		workers[i] = (struct worker){.end = &end};
		read_duration(&workers[i], argv[2]);
		workers[i].period = per_second ? 1000000000u / (unsigned)per_second : 0;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	}
	pthread_barrier_wait(&end);
	print_rss("rss", getpid());
	print_rss("parent_rss", getppid());
	pthread_barrier_wait(&end);
	for (int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		calls += workers[i].calls;
	}
	printf("calls %llu\n", (unsigned long long)calls);
	return 0;
}
