/*
 * Waits by syscall(), each after some work, in a program that gets no signal: none ends with EINTR, a wait
 * for io_uring not before all is done. The program may set its own action for any signal that way.
 */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define READS 4
#define BYTES (4u << 20)

static struct timespec ms = {0, 1000000};

/* Ends with ETIMEDOUT, or 0. */
static void expect(const char *call, long result)
{
	if (result >= 0 || errno == ETIMEDOUT || errno == EAGAIN)
		return;
	printf("%s: %s\n", call, strerror(errno));
	exit(1);
}

static void wait_all_ways(const char *argument)
{
	unsigned word = 0;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	for (int i = 0; i < 60; i++) {
		burn_ms(1);
#ifdef SYS_poll
		expect("poll", syscall(SYS_poll, NULL, 0, 1));
#endif
		burn_ms(1);
		expect("ppoll", syscall(SYS_ppoll, NULL, 0, &(struct timespec){0, 1000000}, NULL, 8));
		burn_ms(1);
		expect("nanosleep", syscall(SYS_nanosleep, &ms, NULL));
		burn_ms(1);
		expect("futex", syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, &ms, NULL, 0));
		burn_ms(1);
		expect("sigtimedwait", syscall(SYS_rt_sigtimedwait, &set, NULL, &ms, 8));
	}
}

static void io_uring(const char *argument)
{
	struct io_uring_params params = {0};
	struct io_uring_sqe *entries;
	int zero = open("/dev/urandom", O_RDONLY), ring = (int)syscall(SYS_io_uring_setup, READS, &params);
	size_t size = params.sq_off.array + params.sq_entries * sizeof(unsigned);
	size_t done_size = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
	char *queue, *done;

	if (ring < 0) {
		printf("no io_uring: %s\n", strerror(errno));
		exit(0);
	}
	queue = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	done = mmap(NULL, done_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	entries = mmap(NULL, params.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		IORING_OFF_SQES);
	CHECK(queue != MAP_FAILED && done != MAP_FAILED && entries != MAP_FAILED);
	for (unsigned i = 0; i < READS; i++) {
		entries[i] = (struct io_uring_sqe){.opcode = IORING_OP_READ,
			.flags = IOSQE_ASYNC,
			.fd = zero,
			.addr = (uintptr_t)malloc(BYTES),
			.len = BYTES};
		((unsigned *)(queue + params.sq_off.array))[i] = i;
	}
	__atomic_store_n((unsigned *)(queue + params.sq_off.tail), READS, __ATOMIC_RELEASE);
	CHECK(syscall(SYS_io_uring_enter, ring, READS, READS, IORING_ENTER_GETEVENTS, NULL, 0) == READS);
	printf("%u done\n", __atomic_load_n((unsigned *)(done + params.cq_off.tail), __ATOMIC_ACQUIRE));
}

struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static void actions(const char *argument)
{
	struct kernel_action ignore = {.handler = SIG_IGN}, normal = {.handler = SIG_DFL}, old;

	for (int sig = 1; sig < 32; sig++) {
		if (sig == SIGKILL || sig == SIGSTOP)
			continue;
		CHECK(!syscall(SYS_rt_sigaction, sig, &ignore, NULL, 8));
		CHECK(!syscall(SYS_rt_sigaction, sig, &normal, &old, 8));
		CHECK(old.handler == SIG_IGN);
	}
	burn_ms(200);
	printf("done\n");
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{"wait", wait_all_ways}, {"io_uring", io_uring}, {"actions", actions}};

	return RUN_CASE(cases, argc, argv);
}
