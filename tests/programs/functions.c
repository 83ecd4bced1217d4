/* Built with -finstrument-functions: main calls middle 10 times, that leaf 100 times each. */
#include "work.h"

#define UNMEASURED __attribute__((no_instrument_function))

NOINLINE uint64_t leaf_function(uint64_t x);
NOINLINE uint64_t middle_function(uint64_t x);
NOINLINE uint64_t other_function(uint64_t x);
UNMEASURED NOINLINE uint64_t hidden_function(uint64_t x);

uint64_t hidden_function(uint64_t x)
{
	for (int i = 0; i < 2000; i++) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

uint64_t leaf_function(uint64_t x)
{
	return hidden_function(x) + 1;
}

uint64_t other_function(uint64_t x)
{
	return x ^ 1;
}

uint64_t middle_function(uint64_t x)
{
	for (int i = 0; i < 100; i++)
		x = leaf_function(x);
	return other_function(x);
}

int main(int argc, char **argv)
{
	uint64_t x = 1;
	int count = argc > 1 ? atoi(argv[1]) : 10;

	for (int i = 0; i < count; i++)
		x = middle_function(x);
	printf("%d\n", x != 0);
	return 0;
}
