/*
 * Threads that wait in known calls for a known time, or want a processor that another one has. Prints for
 * each thread its name and, by the kernel's own account, how long it ran and was ready without a processor,
 * ns.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int opened, ends[2];

#define NOINLINE __attribute__((noinline))

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

NOINLINE static void burn(double s)
{
	for (double until = seconds(CLOCK_THREAD_CPUTIME_ID) + s; seconds(CLOCK_THREAD_CPUTIME_ID) < until;)
		for (int i = 0; i < 10000; i++)
			sum += i;
}

static void say(const char *name)
{
	unsigned long long ran = 0, ready = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (!f || fscanf(f, "%llu %llu", &ran, &ready) != 2)
		abort();
	fclose(f);
	printf("%s %llu %llu\n", name, ran, ready);
}

NOINLINE static void napper(void)
{
	sleep(1);
	sum += 1;
}

NOINLINE static void poller(void)
{
	for (int i = 0; i < 20; i++)
		poll(NULL, 0, 15);
	sum += 1;
}

NOINLINE static void dozer(int count)
{
	const struct timespec brief = {0, 100000};

	for (int i = 0; i < count; i++)
		nanosleep(&brief, NULL);
	sum += 1;
}

NOINLINE static void parent(void)
{
	pid_t child = fork();

	if (!child) {
		usleep(300000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	sum += 1;
}

NOINLINE static void reader(int fd, int count)
{
	char byte;

	for (int i = 0; i < count; i++)
		if (read(fd, &byte, 1) != 1)
			abort();
	sum += 1;
}

NOINLINE static void wants_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	sum += 1;
}

NOINLINE static void awaits(void)
{
	pthread_mutex_lock(&door);
	while (!opened)
		pthread_cond_wait(&changed, &door);
	pthread_mutex_unlock(&door);
	sum += 1;
}

static void *other(void *fifo)
{
	int fd = open(fifo, O_WRONLY);

	pthread_mutex_lock(&lock);
	for (int i = 0; i < 20; i++) {
		usleep(20000);
		if (write(ends[1], "x", 1) != 1)
			abort();
	}
	usleep(400000);
	pthread_mutex_unlock(&lock);
	usleep(300000);
	pthread_mutex_lock(&door);
	opened = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&door);
	usleep(300000);
	if (write(fd, "x", 1) != 1)
		abort();
	close(fd);
	usleep(200000);
	return NULL;
}

NOINLINE static void joiner(pthread_t thread)
{
	pthread_join(thread, NULL);
	sum += 1;
}

/* The C library reads by itself: nobody sees that it waits. */
NOINLINE static void listener(void)
{
	FILE *f = popen("for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; echo; done", "r");
	int null = open("/dev/null", O_WRONLY);
	char line[8];

	while (f && fgets(line, sizeof(line), f))
		if (write(null, "x", 1) != 1)
			abort();
	pclose(f);
	sum += 1;
}

/* Two of these share a processor. */
NOINLINE static void compete(void)
{
	burn(0.5);
	sum += 1;
}

static void *competitor(void *name)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
	pthread_setname_np(pthread_self(), name);
	compete();
	say(name);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t thread[2];
	int fd;

	if (!strcmp(what, "waits")) {
		napper();
		poller();
		parent();
		if (pipe(ends) || mkfifo(argv[2], 0600) || pthread_create(&thread[0], NULL, other, argv[2]))
			return 1;
		fd = open(argv[2], O_RDONLY);
		reader(ends[0], 20);
		wants_lock();
		awaits();
		reader(fd, 1);
		joiner(thread[0]);
		unlink(argv[2]);
	} else if (!strcmp(what, "stream")) {
		listener();
	} else if (!strcmp(what, "brief")) {
		burn(0.3);
		dozer(atoi(argv[2]));
	} else {
		pthread_create(&thread[0], NULL, competitor, "first");
		pthread_create(&thread[1], NULL, competitor, "second");
		pthread_join(thread[0], NULL);
		pthread_join(thread[1], NULL);
	}
	say("main");
	return 0;
}
