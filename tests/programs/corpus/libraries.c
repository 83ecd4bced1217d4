/* Code of others: the C library, the kernel's page, objects that come and go, threads, children. */
#include "corpus.h"
#include "plugin.h"

#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void case_plt(void)
{
	volatile uint64_t sum = 0;

	for (unsigned i = 0; i < 50000; i++)
		sum += plugin_one(i) + plugin_two(sum);
}

void case_vdso(void)
{
	struct timespec t;

	for (unsigned i = 0; i < 20000; i++)
		clock_gettime(CLOCK_MONOTONIC, &t);
}

void case_strings(void)
{
	static char from[4096], to[4096];
	volatile size_t sum = 0;

	memset(from, 'x', sizeof(from) - 1);
	for (unsigned i = 0; i < 3000; i++) {
		memcpy(to, from, sizeof(to) - i % 64);
		sum += strlen(to) + (strchr(to, 'y') != NULL) + (size_t)memcmp(from, to, i);
	}
}

void case_malloc(void)
{
	static void *held[256];

	for (unsigned i = 0; i < 20000; i++) {
		unsigned slot = i * 7919 % 256;

		free(held[slot]);
		held[slot] = malloc(16 + i * 13 % 5000);
	}
}

void case_stdio(void)
{
	FILE *out = fopen("/dev/null", "w");
	char text[128];

	CHECK(out);
	for (unsigned i = 0; i < 3000; i++) {
		fprintf(out, "%u %s %g\n", i, "text", i * 0.5);
		snprintf(text, sizeof(text), "%08x %-10s", i, "abc");
	}
	fclose(out);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void case_qsort(void)
{
	static uint64_t numbers[5000];

	for (unsigned i = 0; i < 5000; i++)
		numbers[i] = i * 2654435761u % 100003;
	qsort(numbers, 5000, sizeof(numbers[0]), compare);
}

static void *loads(void *running)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 32);

	CHECK(length > 0);
	path[length] = 0;
	strcpy(strrchr(path, '/'), "/libloaded.so");
	while (atomic_load((atomic_int *)running)) {
		void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		uint64_t (*f)(uint64_t);

		CHECK(object);
		f = (uint64_t(*)(uint64_t))dlsym(object, "loaded_work");
		CHECK(f);
		f(1);
		CHECK(!dlclose(object));
	}
	return NULL;
}

/* A second thread loads and unloads a library without end. */
void case_dlopen(void)
{
	atomic_int running = 1;
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, loads, &running));
	for (unsigned i = 0; i < 2000; i++)
		corpus_work(i);
	atomic_store(&running, 0);
	pthread_join(thread, NULL);
}

void case_spawn(void)
{
	char *argv[] = {(char *)"true", NULL};
	pid_t pid;
	int status;

	CHECK(!posix_spawnp(&pid, "true", NULL, NULL, argv, environ));
	for (unsigned i = 0; i < 200; i++)
		corpus_work(i);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	pid = vfork();
	if (pid == 0)
		_exit(3);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
}

static void *thread_work(void *argument)
{
	for (unsigned i = 0; i < 100; i++)
		corpus_work(i);
	return argument;
}

void case_threads(void)
{
	pthread_t threads[3];
	sigset_t all, before;

	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&threads[i], NULL, thread_work, NULL));
	/* Signals to the process then find one of the others. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
