/*
 * Calls that a signal can cut short, very many, in a program without handlers: none fails, none does less
 * than it was asked for, none waits shorter or much longer than it should. Then with handlers without
 * SA_RESTART of signals below and above the one that samples use: each ends the call that it finds waiting.
 */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* What _FORTIFY_SOURCE makes of read() and poll(). */
ssize_t __read_chk(int, void *, size_t, size_t);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);

#define BYTES 4096
#define WAIT_MS 3

static unsigned rounds;

/* ------------------------------------------------------------ both ends */

static struct link {
	int from, to;
} links[2];

static void move_all(int from, int to, size_t size, bool first)
{
	char bytes[BYTES] = "";

	for (int half = 0; half < 2; half++) {
		size_t done = 0;

		errno = 77; /* what succeeds leaves it alone */
		if ((half == 0) == first) {
			CHECK(write(to, bytes, size) == (ssize_t)size && errno == 77);
			continue;
		}
		while (done < size) {
			ssize_t n = size % 2 ? read(from, bytes + done, size - done)
					     : __read_chk(from, bytes + done, size - done, BYTES - done);

			CHECK(n > 0 && errno == 77);
			done += (size_t)n;
		}
	}
}

static void *answer(void *argument)
{
	for (unsigned i = 0; i < rounds; i++)
		move_all(links[0].from, links[1].to, 1 + i * 37 % BYTES, false);
	return argument;
}

static void exchange(int a[2], int b[2])
{
	pthread_t thread;

	links[0] = (struct link){a[0], a[1]};
	links[1] = (struct link){b[0], b[1]};
	CHECK(!pthread_create(&thread, NULL, answer, NULL));
	for (unsigned i = 0; i < rounds; i++)
		move_all(links[1].from, links[0].to, 1 + i * 37 % BYTES, true);
	CHECK(!pthread_join(thread, NULL));
}

static void pipes(void)
{
	int a[2], b[2];

	CHECK(!pipe(a) && !pipe(b));
	exchange(a, b);
}

static void sockets(void)
{
	struct timeval time = {5, 0};
	int a[2], b[2];

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, a) && !socketpair(AF_UNIX, SOCK_STREAM, 0, b));
	for (int i = 0; i < 2; i++) {
		CHECK(!setsockopt(a[i], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)));
		CHECK(!setsockopt(b[i], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)));
	}
	exchange(a, b);
}

static void *drain(void *argument)
{
	char bytes[64];
	int fd = *(int *)argument;

	while (read(fd, bytes, sizeof(bytes)) > 0)
		spin(1, 20000);
	return NULL;
}

/* A slow terminal takes a write in parts. */
static void terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	char bytes[BYTES];
	struct termios raw;
	pthread_t thread;

	CHECK(master >= 0 && !grantpt(master) && !unlockpt(master));
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	CHECK(slave >= 0 && !tcgetattr(slave, &raw));
	cfmakeraw(&raw);
	CHECK(!tcsetattr(slave, TCSANOW, &raw));
	memset(bytes, 'x', sizeof(bytes));
	CHECK(!pthread_create(&thread, NULL, drain, &master));
	for (unsigned i = 0; i < rounds / 40; i++)
		CHECK(write(slave, bytes, sizeof(bytes)) == sizeof(bytes));
	close(slave);
	CHECK(!pthread_join(thread, NULL));
}

/* The kernel stops at a signal. */
static void zeroes(void)
{
	static char bytes[65536];
	int fd = open("/dev/zero", O_RDONLY);

	CHECK(fd >= 0);
	for (unsigned i = 0; i < rounds * 5; i++)
		CHECK(read(fd, bytes, sizeof(bytes)) == sizeof(bytes));
	close(fd);
}

static void timeouts(void)
{
	int ends[2], epoll = epoll_create1(0);
	struct pollfd one;
	struct epoll_event event = {.events = EPOLLIN};

	CHECK(!pipe(ends) && epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event));
	one = (struct pollfd){.fd = ends[0], .events = POLLIN};
	for (unsigned i = 0; i < rounds / 20; i++) {
		uint64_t start, passed;

		spin(1, i % 7 * 10000);
		start = clock_ns(CLOCK_MONOTONIC);
		CHECK((i % 2 ? poll(&one, 1, WAIT_MS) : epoll_wait(epoll, &event, 1, WAIT_MS)) == 0);
		passed = clock_ns(CLOCK_MONOTONIC) - start;
		CHECK(passed >= WAIT_MS * 1000000u - 10000u);
		CHECK(__poll_chk(&one, 1, i % 4 ? 0 : WAIT_MS, sizeof(one)) == 0 &&
			epoll_wait(epoll, &event, 1, 0) == 0);
	}
}

/* ------------------------------------------------------------ own signals */

static volatile sig_atomic_t handled;

static void note(int number)
{
	(void)number;
	handled = 1;
}

static volatile int reader;
static volatile unsigned ended;

/* Reads what never comes; each signal ends one call. */
static void *read_nothing(void *argument)
{
	char byte;

	reader = (int)syscall(SYS_gettid);
	while (ended < rounds / 10) {
		CHECK(read(*(int *)argument, &byte, 1) == -1 && errno == EINTR);
		ended++;
	}
	return NULL;
}

static bool is_asleep(int tid)
{
	char path[64], line[256] = "", *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0 && read(fd, line, sizeof(line) - 1) > 0);
	close(fd);
	state = strrchr(line, ')');
	return state && state[2] == 'S';
}

/* A signal that finds the thread in its call and does not end it leaves it there for good. */
static void signals_end_calls(int number)
{
	struct sigaction action = {.sa_handler = note};
	pthread_t thread;
	int ends[2];

	CHECK(!pipe(ends) && !sigaction(number, &action, NULL));
	ended = 0;
	reader = 0;
	CHECK(!pthread_create(&thread, NULL, read_nothing, &ends[0]));
	while (!reader)
		usleep(100);
	for (unsigned i = 0; i < rounds / 10; i++) {
		uint64_t start = clock_ns(CLOCK_MONOTONIC);

		do { /* it is in the call, not on its way there */
			while (!is_asleep(reader))
				usleep(20);
			usleep(50);
		} while (!is_asleep(reader));
		handled = 0;
		CHECK(!syscall(SYS_tgkill, getpid(), reader, number));
		while (ended <= i && clock_ns(CLOCK_MONOTONIC) - start < 20000000000u)
			usleep(20);
		CHECK(handled && ended > i);
	}
	CHECK(!pthread_join(thread, NULL));
}

/* One that the program blocks is pending all along, and ends nothing. */
static void blocked_signal(int number)
{
	struct sigaction action = {.sa_handler = note};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	CHECK(!sigaction(number, &action, NULL) && !pthread_sigmask(SIG_BLOCK, &set, NULL));
	handled = 0;
	CHECK(!kill(getpid(), number));
	pipes();
	sockets();
	CHECK(!handled && !pthread_sigmask(SIG_UNBLOCK, &set, NULL) && handled);
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 4000;
	pipes();
	sockets();
	terminal();
	zeroes();
	timeouts();
	signals_end_calls(SIGUSR1);
	signals_end_calls(SIGRTMIN + 5);
	blocked_signal(SIGRTMIN + 6);
	printf("PASS\n");
	return 0;
}
