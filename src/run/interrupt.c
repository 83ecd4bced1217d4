#include "run/interrupt.h"

#include "base/now.h"
#include "base/search.h"
#include "launch/perf_event.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define SIGNAL 16 /* SIGSTKFLT, which nothing sends */
#define PERIOD 60000 /* ns between two interrupts */
#define COUNT 15
#define LONGEST 4000000 /* ns after which it is given up */

static volatile sig_atomic_t came;

static void handler(int sig)
{
	came = 1;
}

/* The median of the gaps that signals leave between two readings of the clock; 0: there were too few. */
static unsigned find_gap(void)
{
	unsigned gaps[COUNT] = {0}, count = 0;
	uint64_t start = now(), last = start, before;

	came = 0;
	while (count < COUNT && last - start < LONGEST) {
		before = last;
		last = now();
		if (!came)
			continue;
		came = 0;
		last = now(); /* it may have come behind the first reading */
		gaps[count++] = (unsigned)(last - before);
	}
	qsort(gaps, count, sizeof(*gaps), compare_u32);
	return count > COUNT / 2 ? gaps[count / 2] : 0;
}

static unsigned measure_signal(void)
{
	unsigned times[COUNT] = {0};

	for (unsigned i = 0; i < COUNT; i++) {
		uint64_t start = now();

		raise(SIGNAL);
		times[i] = (unsigned)(now() - start);
	}
	qsort(times, COUNT, sizeof(*times), compare_u32);
	return times[COUNT / 2];
}

/* By the kernel's task clock; 0: it is forbidden. */
static unsigned measure_task_clock(void)
{
	struct perf_event_attr attr = perf_event_attr(&perf_task_clock);
	struct f_owner_ex owner = {F_OWNER_TID, (int)syscall(SYS_gettid)};
	unsigned gap = 0;
	int fd;

	attr.sample_period = PERIOD;
	attr.wakeup_events = 1;
	fd = perf_event_open(&attr, -1);
	if (fd < 0)
		return 0;
	if (!fcntl(fd, F_SETOWN_EX, &owner) && !fcntl(fd, F_SETSIG, SIGNAL) && !fcntl(fd, F_SETFL, O_ASYNC))
		gap = find_gap();
	close(fd);
	return gap;
}

static unsigned measure_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGNAL};
	struct itimerspec period = {{0, PERIOD}, {0, PERIOD}};
	unsigned gap;
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return 0;
	timer_settime(timer, 0, &period, NULL);
	gap = find_gap();
	timer_delete(timer);
	return gap;
}

void interrupt_measure(bool timer, unsigned *ret_interrupt, unsigned *ret_signal)
{
	struct sigaction action = {.sa_handler = handler}, before;
	sigset_t only, mask;
	unsigned interrupt;

	sigemptyset(&only);
	sigaddset(&only, SIGNAL);
	if (sigaction(SIGNAL, &action, &before))
		return;
	sigprocmask(SIG_UNBLOCK, &only, &mask);
	interrupt = timer ? 0 : measure_task_clock();
	if (!interrupt)
		interrupt = measure_timer();
	if (interrupt)
		*ret_interrupt = interrupt;
	*ret_signal = measure_signal();
	/* A signal may still be pending: this discards it. */
	action.sa_handler = SIG_IGN;
	sigaction(SIGNAL, &action, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGNAL, &before, NULL);
}
