/*
 * `openmp SECONDS THREADS`: loops that end unevenly, and are dealt out as threads ask for more. What the
 * threads compute while they wait for each other is no load of ours.
 */
#include "account.h"
#include <omp.h>

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? strtod(argv[1], NULL) : 0;
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	int items = 4 * threads, loops = (int)(seconds * 1e3 / (2.5 * items)) + 1;

#pragma omp parallel num_threads(threads)
	{
		for (int i = 0; i < loops; i++) {
#pragma omp for schedule(static)
			for (int j = 0; j < items; j++)
				spend(j < items / 2 ? FA : FB, 2000 * US);
#pragma omp for schedule(dynamic)
			for (int j = 0; j < items; j++)
				spend(FC, (uint64_t)(j % 4 + 1) * 200 * US);
		}
		if (omp_get_thread_num())
			account_thread();
	}
	account_write();
	return 0;
}
