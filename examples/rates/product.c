/*
 * The same product of matrices twice, with the loops in the wrong and in the right order: product [N]. The
 * counter `flops` says how far it is, row by row; each product writes to pages that nobody has touched.
 */
#include <hybrid/hybrid.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static struct hybrid_counter flops = HYBRID_COUNTER_INIT("flops", "");
static int64_t done;

static double *matrix(size_t n)
{
	void *memory = mmap(
		NULL, n * n * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("product");
		exit(1);
	}
	madvise(memory, n * n * sizeof(double), MADV_NOHUGEPAGE); /* a fault for each page */
	return memory;
}

static void count_row(size_t n)
{
	done += 2 * (int64_t)(n * n);
	hybrid_count(&flops, done);
}

/* The inner loop walks down a column: a new cache line for each number. */
__attribute__((noinline)) static void multiply_slow(size_t n, const double *a, const double *b, double *c)
{
	HYBRID_ENTER("slow");
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++)
			for (size_t k = 0; k < n; k++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
		count_row(n);
	}
	HYBRID_LEAVE("slow");
}

/* The inner loop walks along rows. */
__attribute__((noinline)) static void multiply_fast(size_t n, const double *a, const double *b, double *c)
{
	HYBRID_ENTER("fast");
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
		count_row(n);
	}
	HYBRID_LEAVE("fast");
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 640;
	double *a = matrix(n), *b = matrix(n), *slow = matrix(n), *fast = matrix(n), difference = 0;

	for (size_t i = 0; i < n * n; i++) {
		a[i] = 1.0 / (double)(1 + i);
		b[i] = (double)(i % 7);
	}
	multiply_slow(n, a, b, slow);
	multiply_fast(n, a, b, fast);
	for (size_t i = 0; i < n * n; i++)
		difference += slow[i] > fast[i] ? slow[i] - fast[i] : fast[i] - slow[i];
	printf("difference %g\n", difference);
	return 0;
}
