/* A probed routine that leaves all its work to a kernel in assembly: sums [ROUNDS]. */
#include <hybrid/hybrid.h>
#include <stdio.h>
#include <stdlib.h>

#define N 4096

double scaled_sum(const double *x, size_t n, double scale);

__attribute__((noinline)) static double sum_up(const double *x, int rounds)
{
	double sum = 0;

	HYBRID_ENTER("sum up");
	for (int i = 0; i < rounds; i++)
		sum += scaled_sum(x, N, 1.0 / (i + 1));
	HYBRID_LEAVE("sum up");
	return sum;
}

int main(int argc, char **argv)
{
	static double x[N];
	int rounds = argc > 1 ? atoi(argv[1]) : 20000;

	for (int i = 0; i < N; i++)
		x[i] = 1.0 + i;
	printf("%g\n", sum_up(x, rounds));
	return 0;
}
