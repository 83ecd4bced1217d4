/* CPU time in places that are easily missed; each case prints that of the process, as the kernel has it, in
 * ns. */
#include "work.h"

#include <hybrid/hybrid.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static void *tiny(void *argument)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 50000;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
	return argument;
}

static void short_threads(const char *argument)
{
	pthread_t thread;

	HYBRID_ENTER("making threads");
	for (int i = 0; i < 3000; i++) {
		CHECK(!pthread_create(&thread, NULL, tiny, NULL));
		CHECK(!pthread_join(thread, NULL));
	}
	HYBRID_LEAVE("making threads");
}

static void *wait_at_end(void *argument)
{
	burn_ms(30);
	*(volatile int *)argument = 1;
	for (;;)
		pause();
	return NULL;
}

/* Threads that are still there when the process ends, and whose last sample is long ago. */
static void still_there(const char *argument)
{
	static volatile int done[8];
	pthread_t thread;

	for (int i = 0; i < 8; i++)
		CHECK(!pthread_create(&thread, NULL, wait_at_end, (void *)&done[i]));
	for (int i = 0; i < 8; i++)
		while (!done[i])
			usleep(1000);
}

static volatile int raw_done;

static int raw_thread(void *argument)
{
	burn_ms(200);
	raw_done = 1;
	return 0;
}

/* A thread that the C library does not know. */
static void raw(const char *argument)
{
	static char stack[1 << 18] __attribute__((aligned(16)));

	CHECK(clone(raw_thread, stack + sizeof(stack),
		      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
		      NULL) > 0);
	while (!raw_done)
		usleep(1000);
	usleep(10000);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{"short_threads", short_threads}, {"still_there", still_there}, {"raw", raw}};
	int status = RUN_CASE(cases, argc, argv);

	printf("%llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	return status;
}
