/* Threads of all kinds; each case prints PASS if everything went as POSIX says. */
#include "work.h"

#include <errno.h>
#include <hybrid/hybrid.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static atomic_long done, cleaned;

static void *little_work(void *argument)
{
	HYBRID_ENTER("little work");
	spin(1, 20000);
	HYBRID_LEAVE("little work");
	atomic_fetch_add(&done, 1);
	return argument;
}

static void many(const char *argument)
{
	long count = *argument ? atol(argument) : 3000;
	pthread_t threads[50];
	void *result;

	for (long i = 0; i < count; i += 50) {
		for (long j = 0; j < 50; j++)
			CHECK(!pthread_create(&threads[j], NULL, little_work, (void *)j));
		for (long j = 0; j < 50; j++) {
			CHECK(!pthread_join(threads[j], &result));
			CHECK(result == (void *)j);
		}
	}
	CHECK(atomic_load(&done) == count);
	puts("PASS");
}

static void await_done(long count)
{
	for (int i = 0; i < 10000 && atomic_load(&done) < count; i++)
		usleep(1000);
	CHECK(atomic_load(&done) == count);
}

/* Detached, on the smallest stacks there are. */
static void detached(const char *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;
	size_t size;

	CHECK(!pthread_attr_init(&attributes));
	CHECK(!pthread_attr_setstacksize(&attributes, 16384));
	CHECK(!pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED));
	for (int i = 0; i < 1000; i++) {
		int error = pthread_create(&thread, &attributes, little_work, NULL);

		CHECK(!error);
		if (i % 100 == 99)
			await_done(i + 1);
	}
	CHECK(!pthread_attr_getstacksize(&attributes, &size) && size == 16384);
	puts("PASS");
}

static void *long_work(void *argument)
{
	burn_ms(50);
	return argument;
}

/* Samples on 16 KB of stack. */
static void small_stacks(const char *argument)
{
	pthread_attr_t attributes;
	pthread_t threads[8];

	CHECK(!pthread_attr_init(&attributes));
	CHECK(!pthread_attr_setstacksize(&attributes, 16384));
	for (int i = 0; i < 8; i++)
		CHECK(!pthread_create(&threads[i], &attributes, long_work, NULL));
	for (int i = 0; i < 8; i++)
		CHECK(!pthread_join(threads[i], NULL));
	puts("PASS");
}

/* A stack that the program brings: the thread must run on it and on nothing else. */
static void *on_own_stack(void *stack)
{
	char here;

	burn_ms(20);
	return (void *)(intptr_t)(&here > (char *)stack && &here < (char *)stack + 65536);
}

static void own_stack(const char *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;
	void *result, *address;
	size_t size;
	void *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(stack != MAP_FAILED);
	CHECK(!pthread_attr_init(&attributes));
	CHECK(!pthread_attr_setstack(&attributes, stack, 65536));
	CHECK(!pthread_create(&thread, &attributes, on_own_stack, stack));
	CHECK(!pthread_join(thread, &result) && result);
	CHECK(!pthread_attr_getstack(&attributes, &address, &size) && address == stack && size == 65536);
	CHECK(!munmap(stack, 65536));
	puts("PASS");
}

static void *outlives(void *argument)
{
	usleep(50000);
	burn_ms(100);
	if (atomic_fetch_add(&done, 1) == 2)
		puts("PASS");
	return NULL;
}

static void outlive(const char *argument)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&thread, NULL, outlives, NULL));
	pthread_exit(NULL);
}

static int c11_work(void *argument)
{
	spin(1, 1000000);
	if (argument)
		thrd_exit(17);
	return 18;
}

static void c11(const char *argument)
{
	thrd_t threads[2];
	int result;

	CHECK(thrd_create(&threads[0], c11_work, NULL) == thrd_success);
	CHECK(thrd_create(&threads[1], c11_work, threads) == thrd_success);
	CHECK(thrd_join(threads[0], &result) == thrd_success && result == 18);
	CHECK(thrd_join(threads[1], &result) == thrd_success && result == 17);
	puts("PASS");
}

static void clean(void *argument)
{
	atomic_fetch_add(&cleaned, 1);
}

static void *waits_for_cancel(void *asynchronous)
{
	pthread_cleanup_push(clean, NULL);
	HYBRID_ENTER("to be cancelled");
	if (asynchronous)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	atomic_fetch_add(&done, 1);
	for (;;)
		if (asynchronous)
			spin(1, 1000);
		else
			usleep(100000);
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel(const char *argument)
{
	void *result;

	for (intptr_t i = 0; i < 200; i++) {
		pthread_t thread;

		CHECK(!pthread_create(&thread, NULL, waits_for_cancel, (void *)(i % 2)));
		while (atomic_load(&done) <= i)
			sched_yield();
		CHECK(!pthread_cancel(thread));
		CHECK(!pthread_join(thread, &result) && result == PTHREAD_CANCELED);
	}
	CHECK(atomic_load(&cleaned) == 200);
	puts("PASS");
}

static atomic_int running;

static void *probes_on(void *argument)
{
	while (atomic_load(&running)) {
		HYBRID_ENTER("running on");
		spin(1, 100);
		HYBRID_LEAVE("running on");
	}
	return NULL;
}

/* Four threads run probes while main forks; each child runs probes and a thread of its own. */
static void fork_busy(const char *argument)
{
	pthread_t threads[4], other;
	int status;

	atomic_store(&running, 1);
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, probes_on, NULL));
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			atomic_store(&done, 0);
			little_work(NULL);
			CHECK(!pthread_create(&other, NULL, little_work, NULL));
			CHECK(!pthread_join(other, NULL));
			_exit(atomic_load(&done) == 2 ? 7 : 1);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	}
	atomic_store(&running, 0);
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_join(threads[i], NULL));
	puts("PASS");
}

static void *forks(void *argument)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		burn_ms(20);
		exit(9);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 9);
	return NULL;
}

/* The child's only thread is not the main one. */
static void fork_in_thread(const char *argument)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, forks, NULL));
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_join(threads[i], NULL));
	puts("PASS");
}

static void *exits(void *argument)
{
	burn_ms(10);
	puts("PASS");
	exit(5);
}

static void exit_in_thread(const char *argument)
{
	pthread_t threads[4], last;

	atomic_store(&running, 1);
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, probes_on, NULL));
	CHECK(!pthread_create(&last, NULL, exits, NULL));
	pthread_join(last, NULL);
}

/* A thread that cannot be made must fail as it does by itself. */
static void too_large(const char *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	CHECK(!pthread_attr_init(&attributes));
	CHECK(!pthread_attr_setstacksize(&attributes, (size_t)1 << 50));
	CHECK(pthread_create(&thread, &attributes, little_work, NULL) == EAGAIN);
	puts("PASS");
}

static pthread_key_t key;

static void destroy(void *value)
{
	HYBRID_ENTER("destructor");
	spin(1, 200000);
	HYBRID_LEAVE("destructor");
	if (value == (void *)1)
		pthread_setspecific(key, (void *)2); /* once more */
	atomic_fetch_add(&cleaned, 1);
}

static void *keeps_key(void *argument)
{
	pthread_setspecific(key, (void *)1);
	return NULL;
}

/* Probes and samples after the thread's function has returned. */
static void destructors(const char *argument)
{
	pthread_t thread;

	CHECK(!pthread_key_create(&key, destroy));
	for (int i = 0; i < 100; i++) {
		CHECK(!pthread_create(&thread, NULL, keeps_key, NULL));
		CHECK(!pthread_join(thread, NULL));
	}
	CHECK(atomic_load(&cleaned) == 200);
	puts("PASS");
}

static void *leaves_open(void *argument)
{
	HYBRID_ENTER("open one");
	HYBRID_ENTER("open two");
	burn_ms(5);
	if (argument)
		pthread_exit(NULL);
	return NULL;
}

static void open_regions(const char *argument)
{
	pthread_t thread;

	for (intptr_t i = 0; i < 20; i++) {
		CHECK(!pthread_create(&thread, NULL, leaves_open, (void *)(i % 2)));
		CHECK(!pthread_join(thread, NULL));
	}
	puts("PASS");
}

/* Two threads that burn 1 : 3; prints what each used by its own clock. */
static void *burns(void *share)
{
	uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	hybrid_thread_name(share == (void *)1 ? "one" : "three");
	burn_ms(200 * (unsigned)(intptr_t)share);
	printf("%s %llu\n", share == (void *)1 ? "one" : "three",
		(unsigned long long)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before));
	return NULL;
}

static void unequal(const char *argument)
{
	pthread_t threads[2];

	CHECK(!pthread_create(&threads[0], NULL, burns, (void *)1));
	CHECK(!pthread_create(&threads[1], NULL, burns, (void *)3));
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{"many", many},
		{"detached", detached},
		{"small_stacks", small_stacks},
		{"own_stack", own_stack},
		{"outlive", outlive},
		{"c11", c11},
		{"cancel", cancel},
		{"fork_busy", fork_busy},
		{"fork_in_thread", fork_in_thread},
		{"exit_in_thread", exit_in_thread},
		{"too_large", too_large},
		{"destructors", destructors},
		{"open_regions", open_regions},
		{"unequal", unequal},
	};

	return RUN_CASE(cases, argc, argv);
}
