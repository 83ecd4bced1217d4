/*
 * A library whose constructor computes and starts a thread, as OpenBLAS does (-DLIBRARY), and a program that
 * is linked with it: `early SECONDS`. The constructor takes a tenth in fc; the thread computes fb in bursts
 * while main computes fa.
 */
#include "account.h"

int early_run(double seconds);

#ifndef LIBRARY
int main(int argc, char **argv)
{
	return argc > 1 ? early_run(strtod(argv[1], NULL)) : 2;
}
#else
static pthread_t thread;
static _Atomic uint64_t wanted;

static void *worker(void *argument)
{
	while (!wanted)
		sleep_ns(1000 * US);
	for (uint64_t done = 0; done < wanted / 2; done += 1000 * US) {
		spend(FB, 1000 * US);
		sleep_ns(1000 * US);
	}
	account_thread();
	return argument;
}

__attribute__((constructor)) static void start(void)
{
	spend(FC, 50000 * US);
	pthread_create(&thread, NULL, worker, NULL);
}

int early_run(double seconds)
{
	wanted = (uint64_t)(seconds * 1e9);
	for (uint64_t done = 0; done < wanted / 2; done += 10000 * US)
		spend(FA, 10000 * US);
	pthread_join(thread, NULL);
	account_write();
	return 0;
}
#endif
