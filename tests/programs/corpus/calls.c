/* Shapes of calls: recursion, tail calls, tiny functions, calls that do not return, cold parts. */
#include "corpus.h"

#include <setjmp.h>

static NOINLINE uint64_t recurse(unsigned depth, uint64_t x)
{
	volatile uint64_t kept = x;

	if (!depth)
		return corpus_work(kept);
	kept += recurse(depth - 1, x + 1);
	return kept + depth;
}

void case_recursion(void)
{
	for (unsigned i = 0; i < 40; i++)
		recurse(i % 20, i);
}

void case_deep500(void)
{
	for (unsigned i = 0; i < 20; i++)
		recurse(500, i);
}

void case_deep12000(void)
{
	for (unsigned i = 0; i < 20; i++)
		recurse(12000, i);
}

static NOINLINE uint64_t tail_end(uint64_t x, unsigned n)
{
	return spin(x, ROUNDS + n);
}

static NOINLINE uint64_t tail_middle(uint64_t x, unsigned n)
{
	return n & 1 ? tail_end(x, n) : tail_end(x + 1, n);
}

static NOINLINE uint64_t tail_begin(uint64_t x, unsigned n)
{
	return tail_middle(x * 3, n + 1);
}

void case_tail_calls(void)
{
	volatile uint64_t sum = 0;

	for (unsigned i = 0; i < 200; i++)
		sum += tail_begin(i, i);
}

static NOINLINE uint64_t tiny_add(uint64_t a, uint64_t b)
{
	return a + b;
}

/* Saves and restores registers and does next to nothing: prologue and epilogue are what is hot. */
static NOINLINE uint64_t tiny_save(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t x = tiny_add(a, b), y = tiny_add(c, d), z = tiny_add(x, a);

	return x + tiny_add(y, z) * b + c + d;
}

void case_tiny(void)
{
	volatile uint64_t sum = 0;

	for (unsigned i = 0; i < 50000; i++)
		sum += tiny_save(i, 1, 2, sum);
}

static jmp_buf over;

/* The call is the last instruction: its return address belongs to whatever follows. */
static NOINLINE __attribute__((noreturn)) void leap(uint64_t x)
{
	corpus_work(x);
	longjmp(over, 1);
}

static NOINLINE __attribute__((noreturn)) void calls_leap(uint64_t x)
{
	leap(x + 1);
}

static NOINLINE void after_calls_leap(void)
{
	__asm__ volatile("");
}

void case_noreturn(void)
{
	for (volatile unsigned i = 0; i < 100; i++)
		if (!setjmp(over))
			calls_leap(i);
	after_calls_leap();
}

static NOINLINE __attribute__((cold)) uint64_t unlikely_part(uint64_t x)
{
	return corpus_work(x) + 1;
}

/* With -O2 the rare branch is moved to a .cold part of its own. */
static NOINLINE uint64_t split_function(uint64_t x, unsigned n)
{
	volatile uint64_t kept = x;

	if (__builtin_expect(n % 3 == 0, 0)) {
		kept += unlikely_part(x);
		kept ^= unlikely_part(kept);
	}
	kept = spin(kept, ROUNDS / 2);
	return kept;
}

void case_hot_cold(void)
{
	volatile uint64_t sum = 0;

	for (unsigned i = 0; i < 100; i++)
		sum += split_function(i, i);
}

static uint64_t through_pointer(uint64_t (*const *table)(uint64_t), unsigned depth, uint64_t x)
{
	volatile uint64_t kept = x;

	kept += depth ? through_pointer(table + 1, depth - 1, x) : (*table)(x);
	return kept;
}

void case_pointers(void)
{
	static uint64_t (*const table[5])(uint64_t) = {
		corpus_work, corpus_work, corpus_work, corpus_work, corpus_work};

	for (unsigned i = 0; i < 50; i++)
		through_pointer(table, i % 5, i);
}
