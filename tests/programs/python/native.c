/* What native.py calls; with -DPROGRAM the same code as a program of its own. */
#include <stdlib.h>

__attribute__((noipa)) static double heavy(long n)
{
	double x = 1;

	for (long i = 0; i < n; i++)
		x = x * 1.0000001 + 1 / x; /* hot */
	return x;
}

__attribute__((noipa)) static unsigned light(long n)
{
	volatile unsigned x = 1;

	for (long i = 0; i < n; i++)
		x = x * 3 + 1; /* warm */
	return x;
}

double native_spin(long n)
{
	double x = 0;

	for (int i = 0; i < 10; i++) {
		x += heavy(n / 20);
		x += light(n / 20);
	}
	return x;
}

void native_back(long n, void (*f)(long))
{
	f(n);
	__asm__ volatile("" ::: "memory");
}

void native_sort(int *values, size_t n, int (*compare)(const int *, const int *))
{
	qsort(values, n, sizeof(*values), (int (*)(const void *, const void *))compare);
	__asm__ volatile("" ::: "memory");
}

#ifdef PROGRAM
int main(int argc, char **argv)
{
	return argc == 2 && native_spin(atol(argv[1])) == 0;
}
#endif
