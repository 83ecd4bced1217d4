/*
 * One region many times, shorter than a sampling period and always the same inside: in its first part it
 * touches new pages, in the second it computes. Prints, by the thread's own clock: instances, ns of CPU time
 * and minor page faults of both parts. Arguments: how many; every how manyeth is ten times as long (0: none).
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "hybrid/hybrid.h"
#include "work.h"

#define PAGES 64
#define PAGE 4096

static uint64_t times[2];
static long faults[2];

static NOINLINE uint64_t touch(char *pages, unsigned rounds)
{
	uint64_t x = 1;

	for (int i = 0; i < PAGES; i++) {
		pages[i * PAGE] = (char)i;
		x = spin(x, rounds);
	}
	return x;
}

static NOINLINE uint64_t compute(unsigned rounds)
{
	return spin(3, rounds);
}

static long faults_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static NOINLINE void step(char *pages, unsigned longer)
{
	uint64_t start, middle;
	long before, between;

	HYBRID_ENTER("step");
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	before = faults_now();
	touch(pages, longer * 10000);
	middle = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	between = faults_now();
	compute(longer * 1000000);
	times[0] += middle - start;
	times[1] += clock_ns(CLOCK_THREAD_CPUTIME_ID) - middle;
	faults[0] += between - before;
	faults[1] += faults_now() - between;
	HYBRID_LEAVE("step");
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1000, other = argc > 2 ? atoi(argv[2]) : 0;
	char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	CHECK(!madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE));
	for (int i = 1; i <= count; i++) {
		step(pages, other && i % other == 0 ? 10 : 1);
		CHECK(!madvise(pages, PAGES * PAGE, MADV_DONTNEED));
	}
	printf("%d %lu %lu %ld %ld\n", count, (unsigned long)times[0], (unsigned long)times[1], faults[0],
		faults[1]);
	return 0;
}
