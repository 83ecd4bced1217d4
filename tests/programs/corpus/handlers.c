/* Handlers that run long: the path goes through the kernel's signal frame. */
#include "corpus.h"

#include <signal.h>

static NOINLINE void in_handler(int number)
{
	for (unsigned i = 0; i < 100; i++)
		corpus_work((uint64_t)number + i);
}

static void install(int number, int flags)
{
	struct sigaction action = {.sa_handler = in_handler, .sa_flags = flags};

	CHECK(!sigaction(number, &action, NULL));
}

static NOINLINE uint64_t interrupted(int number)
{
	volatile uint64_t kept = 1;

	raise(number);
	return kept;
}

void case_handler(void)
{
	install(SIGUSR1, SA_RESTART);
	interrupted(SIGUSR1);
}

void case_altstack(void)
{
	static char memory[65536];
	const stack_t other = {.ss_sp = memory, .ss_size = sizeof(memory)};

	CHECK(!sigaltstack(&other, NULL));
	install(SIGUSR2, SA_ONSTACK);
	interrupted(SIGUSR2);
}

static void raises_again(int number)
{
	volatile uint64_t kept = 2;

	in_handler(number);
	raise(SIGUSR1);
	kept++;
}

void case_nested_handlers(void)
{
	struct sigaction action = {.sa_handler = raises_again};

	install(SIGUSR1, 0);
	CHECK(!sigaction(SIGHUP, &action, NULL));
	interrupted(SIGHUP);
}
