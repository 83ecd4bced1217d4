/* Leaving frames by jumps, and stacks by switching. */
#include "corpus.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

static ucontext_t consumer, generator;
static volatile uint64_t yielded;

static NOINLINE void yields(uint64_t x)
{
	yielded = corpus_work(x);
	swapcontext(&generator, &consumer);
}

static void generate(void)
{
	for (uint64_t i = 0;; i++)
		yields(i);
}

/* A generator on a stack of its own: some ten thousand switches a second. */
void case_ucontext(void)
{
	static char stack[65536];
	static int begun;

	if (!begun) {
		CHECK(!getcontext(&generator));
		generator.uc_stack.ss_sp = stack;
		generator.uc_stack.ss_size = sizeof(stack);
		generator.uc_link = NULL;
		makecontext(&generator, generate, 0);
		begun = 1;
	}
	for (unsigned i = 0; i < 100; i++)
		CHECK(!swapcontext(&consumer, &generator));
}

static jmp_buf out;

static volatile int stays; /* never set: the compiler shall not know that nobody returns */

static NOINLINE uint64_t descends(unsigned depth)
{
	volatile uint64_t kept = depth;

	if (depth)
		kept += descends(depth - 1);
	else if (corpus_work(kept) | !stays)
		longjmp(out, 1);
	return kept;
}

void case_longjmp(void)
{
	for (volatile unsigned i = 0; i < 100; i++)
		if (!setjmp(out))
			descends(i % 10);
}

static sigjmp_buf out_of_handler;

static void escapes(int number)
{
	corpus_work((uint64_t)number);
	siglongjmp(out_of_handler, 1);
}

void case_sigjmp(void)
{
	struct sigaction action = {.sa_handler = escapes};

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	for (volatile unsigned i = 0; i < 50; i++)
		if (!sigsetjmp(out_of_handler, 1))
			raise(SIGUSR1);
}
