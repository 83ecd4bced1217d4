/*
 * Calls that wait, one after the other, and how each ends: alone ("quiet"),
 * with a signal of the program's own ("signal"), and the same where handlers
 * are installed with SA_RESTART ("restart"). The list must be the same with
 * and without a measurement. signal(7) is the reference.
 */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#define WAIT_MS 40
#define SIGNAL_US 8000

static int ends[2], sockets[2], epoll;
static sem_t semaphore;
static volatile sig_atomic_t signals;

static int ended(long result)
{
	return result == -1 ? errno : 0;
}

static struct timespec in_ms(clockid_t clock, unsigned ms)
{
	uint64_t at = clock_ns(clock) + (uint64_t)ms * 1000000;

	return (struct timespec){(time_t)(at / 1000000000), (long)(at % 1000000000)};
}

static const struct timespec duration = {0, WAIT_MS * 1000000};

static int do_nanosleep(void)
{
	return ended(nanosleep(&duration, NULL));
}

static int do_clock_nanosleep(void)
{
	struct timespec at = in_ms(CLOCK_MONOTONIC, WAIT_MS);

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static int do_usleep(void)
{
	return ended(usleep(WAIT_MS * 1000));
}

static int do_thrd_sleep(void)
{
	return thrd_sleep(&duration, NULL) ? EINTR : 0;
}

static int do_poll(void)
{
	struct pollfd one = {.fd = ends[0], .events = POLLIN};

	return ended(poll(&one, 1, WAIT_MS));
}

static int do_ppoll(void)
{
	struct pollfd one = {.fd = ends[0], .events = POLLIN};
	sigset_t mask;

	sigfillset(&mask);
	sigdelset(&mask, SIGALRM);
	return ended(ppoll(&one, 1, &duration, &mask));
}

static int do_select(void)
{
	struct timeval time = {0, WAIT_MS * 1000};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	return ended(select(ends[0] + 1, &set, NULL, NULL, &time));
}

static int do_pselect(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	return ended(pselect(0, NULL, NULL, NULL, &duration, &mask));
}

static int do_epoll_wait(void)
{
	struct epoll_event event;

	return ended(epoll_wait(epoll, &event, 1, WAIT_MS));
}

static int do_epoll_pwait(void)
{
	struct epoll_event event;
	sigset_t mask;

	sigfillset(&mask);
	sigdelset(&mask, SIGALRM);
	return ended(epoll_pwait(epoll, &event, 1, WAIT_MS, &mask));
}

static int do_sem_timedwait(void)
{
	struct timespec at = in_ms(CLOCK_REALTIME, WAIT_MS);

	return ended(sem_timedwait(&semaphore, &at));
}

static int do_recv_timeout(void)
{
	char byte;

	return ended(recv(sockets[0], &byte, 1, 0));
}

static int do_recvmsg_timeout(void)
{
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	return ended(recvmsg(sockets[0], &message, 0));
}

static int do_accept_timeout(void)
{
	struct timeval time = {0, WAIT_MS * 1000};
	int fd = socket(AF_INET, SOCK_STREAM, 0), result;
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	CHECK(fd >= 0 && !bind(fd, (struct sockaddr *)&any, sizeof(any)) && !listen(fd, 1));
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)));
	result = ended(accept(fd, NULL, NULL));
	close(fd);
	return result;
}

static int do_semtimedop(void)
{
	struct sembuf down = {.sem_num = 0, .sem_op = -1};
	int id = semget(IPC_PRIVATE, 1, 0600), result;

	CHECK(id >= 0);
	result = ended(semtimedop(id, &down, 1, &duration));
	semctl(id, 0, IPC_RMID);
	return result;
}

static int do_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return ended(sigtimedwait(&set, NULL, &duration));
}

static int do_cond_timedwait(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec at = in_ms(CLOCK_REALTIME, WAIT_MS);
	int result;

	pthread_mutex_lock(&mutex);
	result = pthread_cond_timedwait(&condition, &mutex, &at);
	pthread_mutex_unlock(&mutex);
	return result;
}

static int do_mq_timedreceive(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
	struct timespec at = in_ms(CLOCK_REALTIME, WAIT_MS);
	char name[32], text[8];
	mqd_t queue;
	int result;

	snprintf(name, sizeof(name), "/hybrid-test-%d", getpid());
	queue = mq_open(name, O_RDONLY | O_CREAT, 0600, &attributes);
	if (queue == (mqd_t)-1)
		return ENOSYS;
	result = ended(mq_timedreceive(queue, text, sizeof(text), NULL, &at));
	mq_close(queue);
	mq_unlink(name);
	return result;
}

static int do_wait_child(void)
{
	int status, result;
	pid_t pid = fork();

	if (pid == 0) {
		usleep(WAIT_MS * 1000);
		_exit(0);
	}
	result = ended(waitpid(pid, &status, 0));
	while (result && waitpid(pid, &status, 0) < 0)
		CHECK(errno == EINTR);
	return result;
}

static void *writes_later(void *argument)
{
	usleep(WAIT_MS * 1000);
	CHECK(write(*(int *)argument, "x", 1) == 1);
	return NULL;
}

/* The byte comes from a thread that blocks all signals. */
static int read_later(int from, int to)
{
	sigset_t all, before;
	pthread_t thread;
	char byte;
	int result;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	CHECK(!pthread_create(&thread, NULL, writes_later, &to));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	result = ended(read(from, &byte, 1));
	CHECK(!pthread_join(thread, NULL));
	if (result)
		while (read(from, &byte, 1) < 0)
			CHECK(errno == EINTR);
	return result;
}

static int do_read_pipe(void)
{
	return read_later(ends[0], ends[1]);
}

static int do_read_socket(void)
{
	int pair[2], result;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	result = read_later(pair[0], pair[1]);
	close(pair[0]);
	close(pair[1]);
	return result;
}

static int do_flock(void)
{
	char path[] = "/tmp/hybrid-test-XXXXXX";
	int fd = mkstemp(path), to_child[2], result, status;
	char byte;
	pid_t pid;

	CHECK(fd >= 0 && !pipe(to_child));
	pid = fork();
	if (pid == 0) {
		int own = open(path, O_RDWR);

		CHECK(!flock(own, LOCK_EX) && write(to_child[1], "x", 1) == 1);
		usleep(WAIT_MS * 1000);
		_exit(0);
	}
	while (read(to_child[0], &byte, 1) < 0)
		CHECK(errno == EINTR);
	result = ended(flock(fd, LOCK_EX));
	while (waitpid(pid, &status, 0) < 0)
		CHECK(errno == EINTR);
	unlink(path);
	close(fd);
	close(to_child[0]);
	close(to_child[1]);
	return result;
}

static const struct {
	const char *name;
	int (*call)(void);
} calls[] = {
	{"nanosleep", do_nanosleep},
	{"clock_nanosleep", do_clock_nanosleep},
	{"usleep", do_usleep},
	{"thrd_sleep", do_thrd_sleep},
	{"poll", do_poll},
	{"ppoll", do_ppoll},
	{"select", do_select},
	{"pselect", do_pselect},
	{"epoll_wait", do_epoll_wait},
	{"epoll_pwait", do_epoll_pwait},
	{"sem_timedwait", do_sem_timedwait},
	{"recv SO_RCVTIMEO", do_recv_timeout},
	{"recvmsg SO_RCVTIMEO", do_recvmsg_timeout},
	{"accept SO_RCVTIMEO", do_accept_timeout},
	{"semtimedop", do_semtimedop},
	{"sigtimedwait", do_sigtimedwait},
	{"pthread_cond_timedwait", do_cond_timedwait},
	{"mq_timedreceive", do_mq_timedreceive},
	{"waitpid", do_wait_child},
	{"read pipe", do_read_pipe},
	{"read socket", do_read_socket},
	{"flock", do_flock},
};

static void note(int number)
{
	signals++;
}

static void run_calls(const char *how, int with_signal)
{
	static const struct itimerval often = {{0, SIGNAL_US}, {0, SIGNAL_US}}, none;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int result;

		if (with_signal)
			setitimer(ITIMER_REAL, &often, NULL);
		result = calls[i].call();
		setitimer(ITIMER_REAL, &none, NULL);
		printf("%s %s: %s\n", how, calls[i].name, result ? strerrorname_np(result) : "ok");
	}
}

static void set_up(void)
{
	struct timeval time = {0, WAIT_MS * 1000};
	struct epoll_event event = {.events = EPOLLIN};

	CHECK(!pipe(ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	CHECK(!setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)));
	CHECK(!sem_init(&semaphore, 0, 0));
	epoll = epoll_create1(0);
	CHECK(epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event));
}

static void *in_thread(void *argument)
{
	run_calls("thread", 0);
	return argument;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = note};
	pthread_t thread;

	set_up();
	run_calls("quiet", 0);
	CHECK(!pthread_create(&thread, NULL, in_thread, NULL));
	CHECK(!pthread_join(thread, NULL));
	CHECK(!sigaction(SIGALRM, &action, NULL));
	run_calls("signal", 1);
	action.sa_flags = SA_RESTART;
	CHECK(!sigaction(SIGALRM, &action, NULL));
	run_calls("restart", 1);
	return signals ? 0 : 1;
}
