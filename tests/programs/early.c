/* A library whose constructor works, and starts a thread: before anything of the program's, or of ours. */
#include "work.h"

#include <pthread.h>

static pthread_t thread;

static void *work_early(void *argument)
{
	burn_ms(200);
	return argument;
}

__attribute__((constructor)) static void begin(void)
{
	burn_ms(100);
	CHECK(!pthread_create(&thread, NULL, work_early, NULL));
}

void early_join(void);

__attribute__((visibility("default"))) void early_join(void)
{
	pthread_join(thread, NULL);
}
