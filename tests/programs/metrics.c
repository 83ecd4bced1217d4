/*
 * What metrics count, done so often as is known: metrics WHAT [N]. Lines "NAME NUMBER" tell what the program
 * itself knows of it.
 */
#include <hybrid/hybrid.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif

static volatile char *fresh_pages(size_t pages)
{
	void *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, pages * PAGE, MADV_NOHUGEPAGE)) {
		perror("metrics");
		exit(1);
	}
	return memory;
}

KEEP static void touch(volatile char *p, long pages)
{
	for (long i = 0; i < pages; i++)
		p[i * PAGE] = 1; /* once */
}

static void tell(const char *name, long long number)
{
	printf("%s %lld\n", name, number);
}

/* ------------------------------------------------------------------- pages */

KEEP static void once(long n)
{
	volatile char *p = fresh_pages((size_t)n);

	HYBRID_ENTER("once");
	touch(p, n);
	HYBRID_LEAVE("once");
}

KEEP static void twice(long n)
{
	volatile char *p = fresh_pages(2 * (size_t)n), *q = fresh_pages((size_t)n);

	HYBRID_ENTER("twice");
	touch(p, 2 * n);
	HYBRID_ENTER("inside");
	touch(q, n);
	HYBRID_LEAVE("inside");
	HYBRID_LEAVE("twice");
}

static void pages(long n)
{
	HYBRID_ENTER("all");
	once(n);
	twice(n);
	HYBRID_LEAVE("all");
}

/* One line touches a page, the other two of them. */
KEEP static void lines(long n)
{
	volatile char *p = fresh_pages(3 * (size_t)n);

	HYBRID_ENTER("lines");
	for (long i = 0; i < n; i++, p += 3 * PAGE) {
		p[0] = 1; /* one */
		p[PAGE] = p[2 * PAGE] = 1; /* two */
	}
	HYBRID_LEAVE("lines");
}

static void *thread_pages(void *data)
{
	long n = *(long *)data;
	volatile char *p = fresh_pages((size_t)n);

	HYBRID_ENTER("thread");
	touch(p, n);
	HYBRID_LEAVE("thread");
	return NULL;
}

/* The first thread N pages, the second 2 N ... */
static void threads(long n)
{
	pthread_t thread[4];
	long count[4];

	for (int i = 0; i < 4; i++) {
		count[i] = n * (i + 1);
		if (pthread_create(&thread[i], NULL, thread_pages, &count[i]))
			exit(1);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

static void forks(long n)
{
	pid_t child = fork();

	once(child ? n : 2 * n);
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

/* What was counted before stays there; the new program counts from 0. */
static void execs(long n, char **argv)
{
	char number[32];
	char *next[] = {argv[0], "pages", number, NULL};

	snprintf(number, sizeof(number), "%ld", n);
	once(n);
	execv("/proc/self/exe", next);
	exit(1);
}

/* Dies within a region. */
static void killed(long n)
{
	volatile char *p = fresh_pages((size_t)n), *q = fresh_pages((size_t)n);

	HYBRID_ENTER("killed");
	touch(p, n);
	HYBRID_ENTER("inside");
	touch(q, n);
	HYBRID_LEAVE("inside");
	kill(getpid(), SIGKILL);
}

/* ----------------------------------------------------------- what waits, I/O */

static void sleeps(long n)
{
	struct timespec t = {0, 200000};
	struct rusage before, after;

	HYBRID_ENTER("sleeps");
	getrusage(RUSAGE_THREAD, &before);
	for (long i = 0; i < n; i++)
		nanosleep(&t, NULL);
	getrusage(RUSAGE_THREAD, &after);
	HYBRID_LEAVE("sleeps");
	tell("voluntary", after.ru_nvcsw - before.ru_nvcsw);
}

static void bytes(long n)
{
	static char buffer[1000];
	int in = open("/dev/zero", O_RDONLY), out = open("/dev/null", O_WRONLY);
	long long got = 0, given = 0;

	HYBRID_ENTER("reads");
	for (long i = 0; i < n; i++)
		got += read(in, buffer, 1000);
	HYBRID_LEAVE("reads");
	HYBRID_ENTER("writes");
	for (long i = 0; i < n; i++)
		given += write(out, buffer, 500);
	HYBRID_LEAVE("writes");
	tell("read_chars", got);
	tell("write_chars", given);
	close(in);
	close(out);
}

static void memory(long n)
{
	volatile char *p = fresh_pages((size_t)n);

	HYBRID_ENTER("grows");
	touch(p, n);
	HYBRID_LEAVE("grows");
	HYBRID_ENTER("shrinks");
	munmap((void *)p, (size_t)n * PAGE);
	HYBRID_LEAVE("shrinks");
}

/* -------------------------------------------------------------------- rusage */

static long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long us(struct timeval t)
{
	return t.tv_sec * 1000000LL + t.tv_usec;
}

KEEP static double compute(long n)
{
	double x = 0;

	for (long i = 0; i < n * 1000; i++)
		x += 1.0 / (double)(1 + i);
	return x;
}

static void usage(long n)
{
	struct rusage before, after;
	long long cpu;
	struct timespec t = {0, 100000};

	HYBRID_ENTER("usage");
	getrusage(RUSAGE_THREAD, &before);
	cpu = cpu_ns();
	if (compute(n * 100) < 0)
		return;
	touch(fresh_pages((size_t)n), n);
	for (long i = 0; i < n; i++)
		nanosleep(&t, NULL);
	cpu = cpu_ns() - cpu;
	getrusage(RUSAGE_THREAD, &after);
	HYBRID_LEAVE("usage");
	tell("user_time", us(after.ru_utime) - us(before.ru_utime));
	tell("system_time", us(after.ru_stime) - us(before.ru_stime));
	tell("minor_faults", after.ru_minflt - before.ru_minflt);
	tell("major_faults", after.ru_majflt - before.ru_majflt);
	tell("voluntary_switches", after.ru_nvcsw - before.ru_nvcsw);
	tell("cpu", cpu);
}

static void computes(long n)
{
	long long cpu;

	HYBRID_ENTER("computes");
	cpu = cpu_ns();
	if (compute(n * 100) < 0)
		return;
	cpu = cpu_ns() - cpu;
	HYBRID_LEAVE("computes");
	tell("cpu", cpu);
}

/* -------------------------------------------------------------- own counters */

static struct hybrid_counter apples = HYBRID_COUNTER_INIT("apples", "");
static struct hybrid_counter pears = HYBRID_COUNTER_INIT("pears", "kg");

/* Apples: N in picks, 2 N in its two insides; pears only in the insides, backwards, too. */
static void counters(long n)
{
	HYBRID_ENTER("picks");
	for (long i = 1; i <= n; i++)
		hybrid_count(&apples, i);
	for (int i = 1; i <= 2; i++) {
		HYBRID_ENTER("inside");
		hybrid_count(&apples, n * (1 + i));
		hybrid_count(&pears, -7 * i);
		HYBRID_LEAVE("inside");
	}
	HYBRID_LEAVE("picks");
}

/* ---------------------------------------------- what a program sees of it all */

static volatile sig_atomic_t handled;

static void handler(int sig)
{
	handled++;
}

static void own(long n)
{
	struct sigaction action = {.sa_handler = handler}, old;
	sigset_t mask;
	int low = 0;

	sigaction(SIGSTKFLT, &action, &old);
	tell("handler before", old.sa_handler != SIG_DFL);
	for (long i = 0; i < n; i++)
		raise(SIGSTKFLT);
	tell("handled", handled);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	tell("blocked", sigismember(&mask, SIGSTKFLT));
	errno = 4711;
	for (long i = 0; i < n; i++)
		once(3);
	tell("errno", errno);
	for (int fd = 0; fd < 100; fd++)
		low += fcntl(fd, F_GETFD) >= 0;
	tell("descriptors", low);
	tell("next descriptor", dup(0));
	compute(n * 10);
}

static void maps(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[4096];
	int papi = 0;

	while (file && fgets(line, sizeof(line), file))
		papi |= strstr(line, "libpapi") || strstr(line, "hybrid-papi");
	tell("papi", papi);
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 1000;
	static const struct {
		const char *name;
		void (*function)(long n);
	} all[] = {{"pages", pages}, {"lines", lines}, {"threads", threads}, {"forks", forks},
		{"killed", killed}, {"sleeps", sleeps}, {"bytes", bytes}, {"memory", memory},
		{"usage", usage}, {"computes", computes}, {"counters", counters}, {"own", own}};

	if (!strcmp(what, "exec"))
		execs(n, argv);
	if (!strcmp(what, "maps"))
		maps();
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(what, all[i].name))
			all[i].function(n);
	return 0;
}
