/* Frames whose size is known at run time only, or which are realigned. */
#include "corpus.h"

#include <alloca.h>

static NOINLINE uint64_t uses(volatile char *memory, size_t size)
{
	memory[0] = 1;
	memory[size - 1] = 2;
	return corpus_work((uint64_t)memory[0]);
}

static NOINLINE uint64_t allocas(size_t size)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < 3; i++)
		sum += uses(alloca(size), size);
	return sum;
}

void case_alloca(void)
{
	volatile uint64_t sum = 0;

	for (size_t i = 0; i < 30; i++)
		sum += allocas(16 + i * 100);
}

static NOINLINE uint64_t vla(size_t size)
{
	volatile char memory[size];

	memory[0] = 1;
	for (unsigned i = 0; i < 2000; i++)
		memory[i % size]++;
	return uses(memory, size);
}

void case_vla(void)
{
	volatile uint64_t sum = 0;

	for (size_t i = 1; i < 60; i++)
		sum += vla(i * 33);
}

/* The frame is aligned to more than the ABI gives: its CFA is found through another register. */
static NOINLINE uint64_t realigned(size_t size)
{
	volatile char aligned[256] __attribute__((aligned(128)));
	volatile char *more = alloca(size);

	for (unsigned i = 0; i < 1000; i++)
		aligned[i % 256] = (char)i;
	more[0] = aligned[3];
	return uses(aligned, 256) + uses(more, size);
}

void case_realign(void)
{
	volatile uint64_t sum = 0;

	for (size_t i = 1; i < 60; i++)
		sum += realigned(i * 9);
}

static NOINLINE uint64_t large(unsigned n)
{
	volatile char memory[100000];

	memory[n] = 1;
	return corpus_work(n) + uses(memory, sizeof(memory));
}

void case_large_frame(void)
{
	volatile uint64_t sum = 0;

	for (unsigned i = 0; i < 60; i++)
		sum += large(i);
}
