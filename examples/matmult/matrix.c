/* Three ways to multiply square matrices of doubles, stored by rows: c = a * b. */
#include <stddef.h>

void multiply_slow(size_t n, const double *a, const double *b, double *c);
void multiply_fast(size_t n, const double *a, const double *b, double *c);
void multiply_blocked(size_t n, const double *a, const double *b, double *c);

/* The inner loop walks down a column: a new cache line for each number. */
void multiply_slow(size_t n, const double *a, const double *b, double *c)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			double sum = 0;

			for (size_t k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

/* The inner loop walks along rows. */
void multiply_fast(size_t n, const double *a, const double *b, double *c)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++)
			c[i * n + j] = 0;
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
	}
}

#define BLOCK 64

static void multiply_block(size_t n, const double *a, const double *b, double *c, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		for (size_t k = 0; k < BLOCK; k++)
			for (size_t j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

/* As fast as that, by blocks of rows of b, which stay in the cache. n is a multiple of BLOCK. */
void multiply_blocked(size_t n, const double *a, const double *b, double *c)
{
	for (size_t i = 0; i < n * n; i++)
		c[i] = 0;
	for (size_t k = 0; k < n; k += BLOCK)
		multiply_block(n, a + k, b + k * n, c, n);
}
