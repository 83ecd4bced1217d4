/*
 * Very many functions that do next to nothing, on two threads: tiny [ROUNDS]. An integral by halving, with the small
 * classes of which programs in C++ are made. Prints the sum, and how often its functions are called by its own
 * account. -DPROBE_MAIN puts one probe into main and into each thread.
 */
#include <pthread.h>
#include <cstdio>
#include <cstdlib>

#ifdef PROBE_MAIN
#include <hybrid/hybrid.h>
#define PROBE() HYBRID_SCOPE_FUNCTION()
#else
#define PROBE()
#endif

#define DEPTH 12
#define THREADS 2

/* A function for itself, as one in another file. */
#define TINY __attribute__((noinline))

struct interval {
	double from, to;

	TINY interval(double a, double b) : from(a), to(b)
	{
	}
	TINY double length() const
	{
		return to - from;
	}
	TINY double middle() const
	{
		return (from + to) / 2;
	}
	TINY interval left() const
	{
		return interval(from, middle());
	}
	TINY interval right() const
	{
		return interval(middle(), to);
	}
};

TINY double square(double x)
{
	return x * x;
}

TINY double wave(double x)
{
	return square(x) - square(square(x)) / 2;
}

TINY double panel(const interval &i)
{
	return wave(i.middle()) * i.length();
}

TINY double integrate(const interval &i, int depth)
{
	return depth ? integrate(i.left(), depth - 1) + integrate(i.right(), depth - 1) : panel(i);
}

/* 8 calls for each of the 2^DEPTH ends of the tree, 7 for each of the others, and these two. */
#define CALLS_OF_A_ROUND (15LL * (1 << DEPTH) - 7 + 2)

TINY double round_of_work(int round)
{
	return integrate(interval(0, 1.0 / (1 + round % 10)), DEPTH);
}

static int rounds = 2000;

extern "C" void *worker(void *data)
{
	PROBE();
	double sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += round_of_work(i);
	*static_cast<double *>(data) = sum;
	return nullptr;
}

int main(int argc, char **argv)
{
	PROBE();
	pthread_t threads[THREADS];
	double sums[THREADS];

	if (argc > 1)
		rounds = atoi(argv[1]);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], nullptr, worker, &sums[i]))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], nullptr);
	printf("sum %.9g\ncalls %lld\n", sums[0] + sums[1], 1 + THREADS * (1 + rounds * CALLS_OF_A_ROUND));
	return 0;
}
