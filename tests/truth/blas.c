/*
 * `blas SECONDS THREADS`: products of matrices by OpenBLAS with its threads, and fa in between. All code of
 * the library counts as fd: by the process's clock, since nothing else runs meanwhile.
 */
#include "account.h"
#include <dlfcn.h>

#define N 400

typedef void dgemm(int order, int a_as, int b_as, int m, int n, int k, double alpha, const double *a,
	int a_row, const double *b, int b_row, double beta, double *c, int c_row);

int main(int argc, char **argv)
{
	void *library = dlopen("libopenblas.so.0", RTLD_NOW);
	dgemm *multiply = library ? (dgemm *)dlsym(library, "cblas_dgemm") : NULL;
	void (*set_threads)(int) = library ? (void (*)(int))dlsym(library, "openblas_set_num_threads") : NULL;
	uint64_t end = argc > 2 ? (uint64_t)(strtod(argv[1], NULL) * 1e9) : 0;
	double *m = calloc(3 * N * N, sizeof(*m));

	if (!multiply || !set_threads || !m || !end) {
		fprintf(stderr, "blas: %s\n", dlerror());
		return 77;
	}
	set_threads(atoi(argv[2]));
	for (int i = 0; i < 2 * N * N; i++)
		m[i] = i % 7;
	do {
		uint64_t start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

		multiply(101, 111, 111, N, N, N, 1.0, m, N, m + N * N, N, 0.0, m + 2 * N * N, N);
		mine.cpu[FD] += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
		spend(FA, 5000 * US);
	} while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end);
	account_write();
	return 0;
}
