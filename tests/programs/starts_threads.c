/* A busy thread more each quarter of a second, for so many quarters (default: 40). */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *work(void *argument)
{
	for (volatile long x = 0;; x++)
		if (x % 1000000 == 0)
			usleep(1000);
	return argument;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 40;
	pthread_t thread;

	for (int i = 0; i < count; i++) {
		if (pthread_create(&thread, NULL, work, NULL))
			return 1;
		usleep(250000);
	}
	return 0;
}
