/*
 * The floor of sampling: a library to preload that interrupts each thread as
 * hybrid-run would, with a handler that only counts and returns.
 *
 *     EMPTY_HANDLER=perf:997 EMPTY_HANDLER_COUNT=FILE LD_PRELOAD=libempty_handler.so PROGRAM
 *
 * Sources: cpu, perf, timer, as in hybrid-run --source. At the end the number
 * of interrupts is appended to FILE, a line for each process.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNAL SIGSTKFLT

struct interrupts {
	bool perf, timer;
	int fd;
	int timer_id;
};

struct start {
	void *(*function)(void *);
	void *data;
};

static __thread unsigned long taken __attribute__((tls_model("initial-exec")));
static __thread struct interrupts mine __attribute__((tls_model("initial-exec")));
static atomic_ulong total;

static void handler(int sig, siginfo_t *info, void *context)
{
	taken++;
}

static int start_perf(long period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = (unsigned long)period,
		.exclude_hv = 1,
		.wakeup_events = 1,
	};
	struct f_owner_ex owner = {F_OWNER_TID, (int)syscall(SYS_gettid)};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -1;
	mine.fd = fd;
	mine.perf = true;
	return fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETSIG, SIGNAL) || fcntl(fd, F_SETFL, O_ASYNC);
}

static int start_timer(clockid_t clock, long period)
{
	struct itimerspec its = {{period / 1000000000, period % 1000000000}, {0, 1}};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL};

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	if (syscall(SYS_timer_create, clock, &event, &mine.timer_id))
		return -1;
	mine.timer = true;
	return (int)syscall(SYS_timer_settime, mine.timer_id, 0, &its, NULL);
}

static void start(void)
{
	const char *setting = getenv("EMPTY_HANDLER"), *colon = setting ? strchr(setting, ':') : NULL;
	long period = colon ? 1000000000 / atol(colon + 1) : 0;
	int error = 0;

	if (!period)
		return;
	if (!strncmp(setting, "perf:", 5))
		error = start_perf(period);
	else
		error = start_timer(*setting == 'c' ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, period);
	if (error) {
		perror("empty_handler");
		_exit(77);
	}
}

static void stop(void)
{
	if (mine.perf)
		close(mine.fd);
	if (mine.timer)
		syscall(SYS_timer_delete, mine.timer_id);
	atomic_fetch_add(&total, taken);
}

static void *run(void *data)
{
	struct start thread = *(struct start *)data;
	void *result;

	free(data);
	start();
	result = thread.function(thread.data);
	stop();
	return result;
}

__attribute__((visibility("default"))) int pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *), void *data)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(__typeof__(next))dlsym(RTLD_NEXT, "pthread_create");
	struct start *begin = malloc(sizeof(*begin));
	int error;

	if (!begin)
		return EAGAIN;
	*begin = (struct start){function, data};
	error = next(thread, attr, run, begin);
	if (error)
		free(begin);
	return error;
}

__attribute__((constructor)) static void load(void)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigaction(SIGNAL, &action, NULL);
	start();
}

__attribute__((destructor)) static void unload(void)
{
	const char *path = getenv("EMPTY_HANDLER_COUNT");
	FILE *file = path ? fopen(path, "a") : NULL;

	stop();
	if (!file)
		return;
	fprintf(file, "%lu\n", atomic_load(&total));
	fclose(file);
}
