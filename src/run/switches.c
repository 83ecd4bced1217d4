#include "run/switches.h"

#include "launch/perf_event.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#define ROUNDS 8u
#define SHORTEST 100000u /* ns: no interrupt may come in a few rounds */

/*
 * How long it is to the next sample at a switch, in thousandths of the period: quantiles for intervals that
 * are even between 0 and two periods. Before the kernel's next tick a switch sets the processor's timer,
 * which costs most.
 */
static const unsigned ahead[] = {64, 197, 342, 500, 677, 882, 1134, 1500};
#define TIMES (sizeof(ahead) / sizeof(*ahead))

struct pair {
	int line; /* to the other process, which sends back what it is sent */
	clockid_t other; /* its CPU clock */
	int clock; /* this process's task clock */
	uint64_t ns[2], switches[2]; /* without and with the clock */
};

static uint64_t cpu(clockid_t clock)
{
	struct timespec t = {0, 0};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t count_switches(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? 0 : (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* Both take turns on one processor. False: the other one is gone. */
static bool take_turns(struct pair *p, bool clock)
{
	uint64_t switches = count_switches(), start = cpu(CLOCK_PROCESS_CPUTIME_ID) + cpu(p->other);
	char byte = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		if (write(p->line, &byte, 1) != 1 || read(p->line, &byte, 1) != 1)
			return false;
	p->ns[clock] += cpu(CLOCK_PROCESS_CPUTIME_ID) + cpu(p->other) - start;
	p->switches[clock] += count_switches() - switches;
	return true;
}

static bool measure(struct pair *p, uint64_t period)
{
	bool done = take_turns(p, false); /* warms up */

	p->ns[0] = p->switches[0] = 0;
	for (unsigned i = 0; i < TIMES && done; i++) {
		uint64_t next = period * ahead[i] / 1000;

		next = next < SHORTEST ? SHORTEST : next;
		done = take_turns(p, false) && !ioctl(p->clock, PERF_EVENT_IOC_PERIOD, &next) &&
		       !ioctl(p->clock, PERF_EVENT_IOC_ENABLE, 0) && take_turns(p, true) &&
		       !ioctl(p->clock, PERF_EVENT_IOC_DISABLE, 0);
	}
	return done;
}

static void answer(int line)
{
	char byte;

	while (read(line, &byte, 1) == 1 && write(line, &byte, 1) == 1)
		;
	_exit(0);
}

/* In a process of its own, as it stays on one processor. */
static unsigned price(unsigned rate)
{
	struct perf_event_attr attr = perf_event_attr(&perf_task_clock);
	struct pair p = {0};
	int ends[2];
	cpu_set_t one;
	pid_t pid;

	attr.sample_period = 1000000000u / rate;
	attr.disabled = 1;
	p.clock = perf_event_open(&attr, -1);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (p.clock < 0 || sched_setaffinity(0, sizeof(one), &one) ||
		socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 0;
	pid = fork();
	if (!pid) {
		close(ends[0]);
		answer(ends[1]);
	}
	close(ends[1]);
	p.line = ends[0];
	if (pid < 0 || clock_getcpuclockid(pid, &p.other) || !measure(&p, attr.sample_period) ||
		!p.switches[0] || !p.switches[1] || p.ns[1] <= p.ns[0])
		return 0;
	return (unsigned)((p.ns[1] - p.ns[0]) / p.switches[1]);
}

unsigned switches_measure(unsigned rate)
{
	unsigned ns = 0;
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return 0;
	pid = fork();
	if (!pid) {
		ns = price(rate);
		_exit(write(ends[1], &ns, sizeof(ns)) != sizeof(ns));
	}
	close(ends[1]);
	if (pid < 0 || read(ends[0], &ns, sizeof(ns)) != sizeof(ns))
		ns = 0;
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return ns;
}
