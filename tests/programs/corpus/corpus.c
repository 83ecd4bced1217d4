#include "corpus.h"

#include <unistd.h>

#define CASE(name_) \
	{ \
#name_, case_##name_ \
	}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	CASE(recursion),
	CASE(deep500),
	CASE(deep12000),
	CASE(tail_calls),
	CASE(tiny),
	CASE(noreturn),
	CASE(hot_cold),
	CASE(pointers),
	CASE(alloca),
	CASE(vla),
	CASE(realign),
	CASE(large_frame),
	CASE(handler),
	CASE(altstack),
	CASE(nested_handlers),
	CASE(asm_cfi),
	CASE(asm_expression),
	CASE(asm_leaf),
	CASE(asm_push),
	CASE(asm_frame),
	CASE(asm_callback),
	CASE(asm_switch),
	CASE(jit_frame),
	CASE(jit_leaf),
	CASE(jit_callback),
	CASE(ucontext),
	CASE(longjmp),
	CASE(sigjmp),
	CASE(plt),
	CASE(vdso),
	CASE(strings),
	CASE(malloc),
	CASE(stdio),
	CASE(qsort),
	CASE(dlopen),
	CASE(spawn),
	CASE(threads),
	CASE(exceptions),
#ifdef CORPUS_FORTRAN
	CASE(fortran),
#endif
};

uint64_t corpus_work(uint64_t x)
{
	volatile uint64_t kept = spin(x, ROUNDS);

	return kept;
}

/* Repeats a case for that much CPU time of the process. */
static NOINLINE void corpus_repeat(void (*run)(void), unsigned ms)
{
	uint64_t end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)ms * 1000000;

	do
		run();
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end);
}

/* `corpus CASE [MILLISECONDS]`; without a case it lists them. */
int main(int argc, char **argv)
{
	unsigned ms = argc > 2 ? (unsigned)atoi(argv[2]) : 20;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc < 2) {
			puts(cases[i].name);
		} else if (!strcmp(argv[1], cases[i].name)) {
			corpus_repeat(cases[i].run, ms);
			printf("PASS %s\n", cases[i].name);
			return 0;
		}
	}
	return argc < 2 ? 0 : 2;
}
