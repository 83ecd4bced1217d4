/*
 * Programs of known loads: `loads MODE SECONDS [NUMBERS]` computes for about SECONDS of CPU time in fa, fb,
 * fc and fd, in the pattern that the mode has. Numbers are microseconds where nothing else is said;
 * tests/truth/programs.py has those that are measured.
 */
#include "account.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

extern char **environ;

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno)); \
			_exit(1); \
		} \
	} while (0)

static int numbers; /* after SECONDS */
static uint64_t number[32], wanted;
static char **words; /* argv */

static unsigned long cycles(uint64_t us)
{
	return wanted / (us * US) + 1;
}

/* COUNT B SLEEP A AFTER: COUNT times (fb, sleep), then fa, and a sleep after it. */
static void bursts(void)
{
	uint64_t *n = number;

	for (unsigned long i = cycles(n[0] * n[1] + n[3]); i--;) {
		for (uint64_t j = n[0]; j--;) {
			spend(FB, n[1] * US);
			sleep_ns(n[2] * US);
		}
		spend(FA, n[3] * US);
		sleep_ns(n[4] * US);
	}
}

/* A B C: one after the other, without a sleep. */
static void turns(void)
{
	for (unsigned long i = cycles(number[0] + number[1] + number[2]); i--;)
		for (int f = 0; f < numbers; f++)
			spend(f, number[f] * US);
}

/* Bursts and sleeps of 0.1 to 20 ms by chance. */
static void at_random(void)
{
	uint64_t done = 0, state = (uint64_t)getpid() * 2654435761u + 1;

	for (; done < wanted;) {
		uint64_t r, burst, pause;

		state = state * 6364136223846793005u + 1442695040888963407u;
		r = state >> 33;
		burst = (100 << (r % 8)) * US; /* 0.1 to 12.8 ms */
		pause = (100 << (r / 8 % 8)) * US;
		spend((int)(r / 64 % 3), burst);
		done += burst;
		if (r / 256 % 2)
			sleep_ns(pause);
	}
}

/* --------------------------------------------------------------- threads */

static void run_threads(void *(*run)(void *), int count)
{
	pthread_t threads[64];

	for (intptr_t i = 0; i < count; i++)
		CHECK(!pthread_create(&threads[i], NULL, run, (void *)i));
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void *burst_thread(void *argument)
{
	intptr_t i = (intptr_t)argument;
	uint64_t burst = number[2 * i], pause = number[2 * i + 1];

	for (unsigned long n = cycles(burst); n--;) {
		spend(i % FUNCTIONS, burst * US);
		sleep_ns(pause * US);
	}
	account_thread();
	return NULL;
}

/* BURST SLEEP of each thread: each computes SECONDS, in a function of its own. */
static void threads(void)
{
	run_threads(burst_thread, numbers / 2);
}

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	unsigned long length, left; /* items in it, items still to be made */
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static void *producer(void *argument)
{
	(void)argument;
	for (;;) {
		pthread_mutex_lock(&queue.lock);
		while (queue.left && queue.length >= 4)
			pthread_cond_wait(&queue.emptied, &queue.lock);
		if (!queue.left)
			break;
		queue.left--;
		pthread_mutex_unlock(&queue.lock);
		spend(FA, number[1] * US);
		pthread_mutex_lock(&queue.lock);
		queue.length++;
		pthread_cond_signal(&queue.filled);
		pthread_mutex_unlock(&queue.lock);
	}
	pthread_cond_broadcast(&queue.emptied);
	pthread_mutex_unlock(&queue.lock);
	account_thread();
	return NULL;
}

static void *consumer(void *argument)
{
	unsigned long items = (unsigned long)(uintptr_t)argument;

	while (items--) {
		pthread_mutex_lock(&queue.lock);
		while (!queue.length)
			pthread_cond_wait(&queue.filled, &queue.lock);
		queue.length--;
		pthread_cond_signal(&queue.emptied);
		pthread_mutex_unlock(&queue.lock);
		spend(FB, number[2] * US);
	}
	account_thread();
	return NULL;
}

/* CONSUMERS A B: one thread makes items in fa, so many take them in fb. */
static void producers(void)
{
	unsigned long each = cycles(number[1] + number[2]) / number[0] + 1;
	pthread_t maker, taker[16];

	queue.left = each * number[0];
	pthread_create(&maker, NULL, producer, NULL);
	for (uint64_t i = 0; i < number[0]; i++)
		pthread_create(&taker[i], NULL, consumer, (void *)each);
	pthread_join(maker, NULL);
	for (uint64_t i = 0; i < number[0]; i++)
		pthread_join(taker[i], NULL);
}

static void *short_thread(void *argument)
{
	loads[FB](number[0] * US);
	mine.cpu[FB] = cpu_ns(); /* with its begin: most have no sample, and are known as a whole */
	account_thread();
	return argument;
}

/* B A: a thread of fb, then fa in the main thread, again and again. */
static void short_threads(void)
{
	for (unsigned long i = cycles(number[0] + number[1]); i--;) {
		run_threads(short_thread, 1);
		if (number[1])
			spend(FA, number[1] * US);
	}
}

/* ---------------------------------------------------------------- timers */

/* PERIOD B COUNT A: at each signal of a timer fb, and each COUNT times fa. */
static void itimer(void)
{
	struct itimerval every = {{0, (suseconds_t)number[0]}, {0, (suseconds_t)number[0]}};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (unsigned long i = 0; i < cycles(number[1] * number[2] + number[3]) * number[2]; i++) {
		CHECK(sigwaitinfo(&set, NULL) == SIGALRM);
		spend(FB, number[1] * US);
		if (i % number[2] == 0)
			spend(FA, number[3] * US);
	}
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
}

/* The same with a file descriptor in an epoll set. */
static void timerfd(void)
{
	struct itimerspec every = {{0, (long)(number[0] * US)}, {0, (long)(number[0] * US)}};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), set = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN};
	uint64_t count;

	CHECK(!epoll_ctl(set, EPOLL_CTL_ADD, timer, &event));
	CHECK(!timerfd_settime(timer, 0, &every, NULL));
	for (unsigned long i = 0; i < cycles(number[1] * number[2] + number[3]) * number[2]; i++) {
		CHECK(epoll_wait(set, &event, 1, -1) == 1);
		CHECK(read(timer, &count, sizeof(count)) == sizeof(count));
		spend(FB, number[1] * US);
		if (i % number[2] == 0)
			spend(FA, number[3] * US);
	}
	close(timer);
	close(set);
}

/* ------------------------------------------------- files and connections */

static char buffer[1 << 20];

/* In fc and fd the kernel computes: their account is that of the calls. */
static NOINLINE void write_file(int file)
{
	uint64_t start = cpu_ns();

	CHECK(pwrite(file, buffer, sizeof(buffer) / 4, 0) == sizeof(buffer) / 4);
	CHECK(!fsync(file));
	mine.cpu[FC] += cpu_ns() - start;
}

static NOINLINE void read_file(int file)
{
	uint64_t start = cpu_ns();

	CHECK(pread(file, buffer, sizeof(buffer) / 4, 0) == sizeof(buffer) / 4);
	mine.cpu[FD] += cpu_ns() - start;
}

/* A B: fa, a file is written and synchronised, fb, it is read again. */
static void files(void)
{
	char name[] = "/var/tmp/truth-XXXXXX";
	int file = mkstemp(name);

	CHECK(file >= 0);
	unlink(name);
	for (unsigned long i = cycles(number[0] + number[1]); i--;) {
		spend(FA, number[0] * US);
		write_file(file);
		spend(FB, number[1] * US);
		read_file(file);
	}
	close(file);
}

/* A B: fa, then B MiB of memory by one system call, whose samples all come as it ends. */
static NOINLINE void map_memory(size_t size)
{
	uint64_t start = cpu_ns();
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	CHECK(memory != MAP_FAILED);
	CHECK(!munmap(memory, size));
	mine.cpu[FC] += cpu_ns() - start;
}

static void kernel(void)
{
	for (uint64_t start = cpu_ns(); cpu_ns() - start < wanted;) {
		spend(FA, number[0] * US);
		map_memory(number[1] << 20);
	}
}

/* Waits for a byte, answers with one: fb in between. */
static void answer(int in, int out, int function, uint64_t ns)
{
	char byte;

	while (read(in, &byte, 1) == 1) {
		spend(function, ns);
		if (write(out, &byte, 1) != 1)
			break;
	}
}

static void ask(int in, int out, int function, uint64_t ns, unsigned long times)
{
	char byte = 0;

	while (times--) {
		spend(function, ns);
		CHECK(write(out, &byte, 1) == 1);
		CHECK(read(in, &byte, 1) == 1);
	}
}

/* A B: two processes take turns by pipes. */
static void pipes(void)
{
	int there[2], back[2];
	pid_t pid;

	CHECK(!pipe(there) && !pipe(back));
	pid = fork();
	if (!pid) {
		account_fresh();
		close(there[1]);
		answer(there[0], back[1], FB, number[1] * US);
		account_write();
		_exit(0);
	}
	close(there[0]);
	ask(back[0], there[1], FA, number[0] * US, cycles(number[0] + number[1]));
	close(there[1]);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

static int sockets_pair[2];

static void *socket_thread(void *argument)
{
	answer(sockets_pair[1], sockets_pair[1], FB, number[1] * US);
	account_thread();
	return argument;
}

/* A B: two threads take turns by a socket. */
static void sockets(void)
{
	pthread_t thread;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_pair));
	pthread_create(&thread, NULL, socket_thread, NULL);
	ask(sockets_pair[0], sockets_pair[0], FA, number[0] * US, cycles(number[0] + number[1]));
	close(sockets_pair[0]);
	pthread_join(thread, NULL);
}

/* ------------------------------------------------------------- processes */

/* B A: a child of fb, then fa in the parent, again and again. */
static void children(void)
{
	for (unsigned long i = cycles(number[0] + number[1]); i--;) {
		pid_t pid = fork();

		if (!pid) {
			account_fresh();
			spend(FB, number[0] * US);
			account_write();
			_exit(0);
		}
		CHECK(waitpid(pid, NULL, 0) == pid);
		spend(FA, number[1] * US);
	}
}

static void grow_tree(int depth, uint64_t us)
{
	pid_t pid[2];

	for (int i = 0; i < 2 && depth; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			account_fresh();
			grow_tree(depth - 1, us);
			account_write();
			_exit(0);
		}
	}
	spend(depth % 3, us * US);
	for (int i = 0; i < 2 && depth; i++)
		CHECK(waitpid(pid[i], NULL, 0) == pid[i]);
}

/* DEPTH: each process has two children; a level of the tree has a function. */
static void tree(void)
{
	grow_tree((int)number[0], wanted / US / ((2u << number[0]) - 1));
}

/* COUNT: the program executes itself so often, fa and fb by turns. */
static void chain(void)
{
	char left[32], *next[] = {words[0], words[1], words[2], left, NULL};

	spend(number[0] % 2 ? FB : FA, number[0] % 2 ? wanted / 10 : wanted / 5);
	if (!number[0])
		return;
	snprintf(left, sizeof(left), "%d", (int)number[0] - 1);
	account_write();
	execv("/proc/self/exe", next);
	CHECK(!"execv");
}

static const struct {
	const char *name;
	int least; /* numbers that it needs */
	void (*run)(void);
} modes[] = {
	{"bursts", 5, bursts},
	{"turns", 3, turns},
	{"random", 0, at_random},
	{"threads", 2, threads},
	{"producers", 3, producers},
	{"short_threads", 2, short_threads},
	{"itimer", 4, itimer},
	{"timerfd", 4, timerfd},
	{"files", 2, files},
	{"kernel", 2, kernel},
	{"pipes", 2, pipes},
	{"sockets", 2, sockets},
	{"children", 2, children},
	{"tree", 1, tree},
	{"chain", 1, chain},
};

int main(int argc, char **argv)
{
	words = argv;
	numbers = argc - 3;
	for (int i = 0; i < numbers && i < 32; i++)
		number[i] = strtoull(argv[i + 3], NULL, 10);
	for (size_t i = 0; argc > 2 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, argv[1]) && numbers >= modes[i].least) {
			wanted = (uint64_t)(strtod(argv[2], NULL) * 1e9);
			modes[i].run();
			account_write();
			return 0;
		}
	fprintf(stderr, "usage: loads MODE SECONDS [NUMBERS]; see the comments of loads.c\n");
	return 2;
}
