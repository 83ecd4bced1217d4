/* Callers of the hand-written code. */
#include "corpus.h"

uint64_t asm_cfi(uint64_t (*f)(uint64_t), uint64_t x);
uint64_t asm_expression(uint64_t (*f)(uint64_t), uint64_t x);
uint64_t asm_callback(uint64_t (*f)(uint64_t), uint64_t x);
void asm_leaf(uint64_t rounds);
void asm_push(uint64_t rounds);
void asm_frame(uint64_t rounds);
void asm_switch(void **save, void *load);
void asm_entry(void);

void case_asm_cfi(void)
{
	for (unsigned i = 0; i < 100; i++)
		asm_cfi(corpus_work, i);
}

void case_asm_expression(void)
{
	for (unsigned i = 0; i < 100; i++)
		asm_expression(corpus_work, i);
}

static NOINLINE uint64_t calls_asm(void (*f)(uint64_t), uint64_t rounds)
{
	volatile uint64_t kept = rounds;

	f(kept);
	return kept;
}

void case_asm_leaf(void)
{
	for (unsigned i = 0; i < 10; i++)
		calls_asm(asm_leaf, 100000);
}

void case_asm_push(void)
{
	for (unsigned i = 0; i < 10; i++)
		calls_asm(asm_push, 50000);
}

void case_asm_frame(void)
{
	for (unsigned i = 0; i < 10; i++)
		calls_asm(asm_frame, 50000);
}

void case_asm_callback(void)
{
	for (unsigned i = 0; i < 100; i++)
		asm_callback(corpus_work, i);
}

static void *own_stack, *other_stack;

static NOINLINE void other_side(void)
{
	for (;;) {
		corpus_work(7);
		asm_switch(&other_stack, own_stack);
	}
}

/* A stack of its own in static memory, switched to thousands of times a second. */
void case_asm_switch(void)
{
	static uint64_t memory[8192] __attribute__((aligned(16)));

	if (!other_stack) {
		uint64_t *top = memory + 8192 - 8;

		top[0] = top[1] = top[2] = top[3] = 0; /* r15 ... r12 */
		top[4] = (uint64_t)(uintptr_t)other_side; /* rbx */
		top[5] = 0; /* rbp */
		top[6] = (uint64_t)(uintptr_t)asm_entry;
		other_stack = top;
	}
	for (unsigned i = 0; i < 100; i++)
		asm_switch(&own_stack, other_stack);
}
