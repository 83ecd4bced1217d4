/*
 * Samples: where the interrupts come from, and what is done at each.
 *
 * A source delivers rt.set.signal to its own thread. The handler takes the
 * sample if the thread is ready, else drops it and counts why. It restores
 * errno, waits for nothing and allocates nothing from the program's heap.
 */
#ifndef HYB_SAMPLER_H
#define HYB_SAMPLER_H

#include <signal.h>

#include "runtime/thread.h"

/* What the handler was given, and the thread's CPU clock there. */
struct interrupt {
	const siginfo_t *info;
	const ucontext_t *context;
	uint64_t cpu; /* ns */
};

/*
 * A way to be interrupted. start() returns 0 or a negative errno. One that only notes that there is no clock
 * has no functions. Owner thread
 */
struct source {
	enum hyb_source id;
	int (*start)(struct thread *t, uint64_t period);
	void (*stop)(struct thread *t);
	/* Another period from now on. In the handler */
	void (*set_period)(struct thread *t, uint64_t period);
	/* How many periods an interrupt stands for; 0: it is no sample. In the handler */
	uint64_t (*weigh)(struct thread *t, const struct interrupt *i);
	/* An interrupt of a timer may have been dropped, where each sets the next; else NULL. Owner thread */
	void (*missed)(struct thread *t);
	bool jitter; /* periods are varied by set_period(), too */
};

extern const struct source source_auto, source_cpu_timer, source_task_clock, source_timer, source_wall,
	source_event;

/* The source that this thread really uses. */
static inline const struct source *rt_source(const struct thread *t)
{
	return t->loc->source == rt.source->id ? rt.source : &source_timer;
}

/* Installs a handler in the kernel, past our own wrappers. */
void raw_sigaction(int sig, const struct sigaction *action);

/* Begins source_timer, because the kernel gave the thread no task clock. 0 or a negative errno. Owner thread
 */
int sampler_fall_back(struct thread *t, int error);

/* Chooses rt.source; and installs the handler, on the first thread. start */
void sampler_init(void);
void sampler_install(struct thread *t);

/*
 * Timers of the kernel's that send rt.set.signal to the calling thread. timer_open() returns 0 or a negative
 * errno; timer_set() makes it expire after `first` ns (0: never), then every `period` ns (0: once).
 * Owner thread
 */
int timer_open(const struct thread *t, clockid_t clock, uint32_t *ret_timer);
void timer_set(uint32_t timer, uint64_t first, uint64_t period);
void timer_close(uint32_t timer);

/* Random numbers of the thread's: whole ones, and intervals (ns) of a process without memory. Owner thread */
uint32_t sampler_random(struct thread *t);
uint64_t sampler_interval(struct thread *t, uint64_t mean);

/*
 * Whether an interrupt that comes by wall time found the thread waiting: at or behind a system call that was
 * cut short, or in one during which it was held back. In the handler
 */
bool sampler_was_waiting(const struct thread *t, const ucontext_t *context);

/*
 * The task clock of the thread's, t->perf_fd. Its intervals are random, evenly from half to three halves of
 * the period, and four at a time the same: a loop in the program that takes about a period, or several, does
 * not beat with it, as all multiples of the interval are random, too. 0 or a negative errno. Owner thread
 */
int task_clock_start(struct thread *t, uint64_t period);
void task_clock_stop(struct thread *t);
void task_clock_set(struct thread *t, uint64_t period);

/*
 * How many periods an interrupt stands for at `cpu` ns: the kernel makes one signal of those that come while
 * it works for the thread. Begins the next interval. In the handler
 */
uint64_t task_clock_count(struct thread *t, uint64_t period, uint64_t cpu);

/* Whether a walk still fits the thread's stack; one of the program's own making is trusted. Owner thread */
bool sampler_has_room(const struct thread *t);

/* The node of the path to the wrapper in which this is called; 0: no room. Busy owner thread */
uint32_t sampler_walk_here(struct thread *t);

/* Begins and ends sampling the calling thread. Owner thread */
void sampler_start(struct thread *t);
void sampler_stop(struct thread *t);

/*
 * Perf descriptors that send rt.set.signal to the calling thread each time that the counter has grown by
 * `period`: perf_open_signal() returns one or a negative errno; `kernel`: it has to count also what the
 * kernel does for the thread. The others do nothing if the program has closed it.
 */
int perf_open_signal(const struct metric_part *part, uint64_t period, bool kernel);
void perf_close(int fd);
void perf_set_period(int fd, uint64_t period);
void perf_enable(int fd, bool on);

/*
 * How often the thread was switched since the last time, or since the start of its task clock. What that
 * took, one switch in 2^t->clock.shift being with the clock on, is a cost. Owner thread
 */
uint64_t task_clock_switches(struct thread *t);

#define LOOK_NS 20000000u /* CPU time between two looks at a thread's switches */

/*
 * The overflow of metrics, beside the source. Numbers are those of metrics_event(). events_start() returns 0
 * or a negative errno, and starts what it can; events_find() the number of a descriptor's event, or -1;
 * events_weight() how many periods have passed since it was last asked; events_slow() doubles the period.
 * Owner thread
 */
int events_start(struct thread *t);
void events_stop(struct thread *t);
int events_find(const struct thread *t, int fd);
uint64_t events_weight(struct thread *t, unsigned event);
void events_slow(struct thread *t, unsigned event);

/* Closes a perf descriptor that a fork's child inherited, if it still is one. */
void perf_forget(int fd);

/* Whether one of our sources sent this signal. In the handler */
bool sampler_sent(const siginfo_t *info);

/* Installs our handler, keeping what was there as the program's. start */
void signal_take_over(struct thread *t, const struct sigaction *handler);

/* The thread's part of giving the signal to the program. In the handler */
void signal_yield_thread(struct thread *t, void *context);

/*
 * Whether a signal of the program's that comes when our handler ends makes calls fail with EINTR; `blocked`:
 * what was blocked where ours came, which stays pending. In the handler
 */
bool signal_ends_calls(const sigset_t *blocked);

/* What the program thinks is installed for our signal; see wrap/signal.c. In the handler */
void foreign_signal(int sig, siginfo_t *info, void *context);

#endif
