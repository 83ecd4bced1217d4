#include "runtime.h"

#include <pthread.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/launch.h"
#include "runtime/probe/calibrate.h"
#include "runtime/probe/cyg.h"
#include "fork.h"
#include "runtime/unwind/jit.h"
#include "runtime/unwind/jit_frames.h"
#include "runtime/unwind/modules.h"
#include "runtime/probe/probe.h"
#include "python/hooks.h"
#include "python/python.h"
#include "runtime/probe/regions.h"
#include "rest.h"
#include "runtime/sample/sampler.h"
#include "runtime/sample/waits.h"
#include "sys.h"
#include "runtime/unwind/cache.h"
#include "runtime/wrap/wrap.h"

#define HANDLER_USUAL_NS 20000.0
#define SAMPLE_SHIFT 7
#define PERIOD_LEAST 10000u /* ns: 100,000 samples a second */

struct runtime rt;

void say(const char *text)
{
	static const char start[] = "hybrid: ";
	char line[512];
	size_t len = strnlen(text, sizeof(line) - sizeof(start) - 1);
	struct pollfd out = {STDERR_FILENO, POLLOUT, 0};
	struct timespec now = {0, 0};
	ssize_t n;

	/* A broken pipe would be a signal for the program, a full one would hold it up. */
	if (syscall(SYS_ppoll, &out, 1, &now, NULL, 0) != 1 || out.revents & (POLLERR | POLLNVAL))
		return;
	memcpy(line, start, sizeof(start) - 1);
	memcpy(line + sizeof(start) - 1, text, len);
	line[sizeof(start) - 1 + len] = '\n';
	n = sys_write(STDERR_FILENO, line, sizeof(start) + len);
	(void)n; /* there is nobody left who could read it */
}

void runtime_stop(const char *why)
{
	char line[400];
	int saved = errno;

	if (!atomic_exchange(&rt.on, false))
		return;
	atomic_store(&rt.attention, true);
	/* No stdio here: this may be a handler. */
	strcpy(line, "measurement ended early, the program goes on: ");
	strncat(line, why, sizeof(line) - strlen(line) - 1);
	say(line);
	store_note(HYB_NOTE_ERROR, why);
	store.header->state = HYB_STATE_STOPPED;
	store.header->end = clock_tick();
	runtime_anchor(1);
	errno = saved;
}

uint64_t runtime_anchor(unsigned tries)
{
	struct hyb_anchor both = clock_both(tries);

	if (!atomic_exchange_explicit(&rt.anchor_busy, true, memory_order_acquire)) {
		store.header->last = both;
		atomic_store_explicit(&rt.anchor_busy, false, memory_order_release);
	}
	return both.mono;
}

void runtime_end(enum hyb_state state)
{
	struct thread *t = self;
	uint64_t now = clock_tick(), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!store.header || rt.pid != getpid() || !atomic_load(&rt.on))
		return;
	hooks_end();
	if (t && thread_busy(t)) {
		waits_ready(t);
		t->node->ran += cpu - t->last_cpu;
		t->loc->cpu = t->last_cpu = cpu;
		t->loc->last = now;
		if (rt.metrics) {
			metrics_read(t);
			metrics_publish(t);
		}
		thread_ready(t);
	}
	rest_end();
	runtime_anchor(CLOCK_TRIES);
	store.header->cpu_children = wait_cpu_children();
	store.header->cpu_end = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	store.header->cpu = cpu;
	if (store.header->state == HYB_STATE_RUNNING || store.header->state == HYB_STATE_EXEC) {
		store.header->state = state;
		store.header->end = now;
	}
}

/* The stack of the main thread: where the loader began, down to the limit. */
static void main_stack(uintptr_t *ret_lo, uintptr_t *ret_hi)
{
	extern void *__libc_stack_end;
	struct rlimit limit = {8u << 20, 8u << 20};
	const char *last = (const char *)getauxval(AT_EXECFN); /* the limit counts from behind this */
	uintptr_t hi = (uintptr_t)__libc_stack_end, end = last ? (uintptr_t)last + strlen(last) : hi;

	getrlimit(RLIMIT_STACK, &limit);
	*ret_hi = hi;
	*ret_lo = (end | (HYB_PAGE - 1)) + 1 - (limit.rlim_cur < (1u << 30) ? limit.rlim_cur : 1u << 30);
}

static void describe(const char *key, const char *value)
{
	store_metadata(key, value, strlen(value));
}

/* As what an MPI launcher started the process: the report lists those that never called MPI. */
static void describe_launch(void)
{
	struct launch_place place;
	char text[32];

	if (!launch_place(&place) || place.size == 1)
		return;
	snprintf(text, sizeof(text), "%u of %u", place.rank, place.size);
	describe("hybrid.launch", text);
}

/* One file may be many programs, by the name that it is executed by. */
static void describe_name(void)
{
	if (*rt.set.name)
		describe("hybrid.name", rt.set.name);
}

bool runtime_begin(void)
{
	rt.pid = getpid();
	atomic_store(&rt.next_location, 0);
	atomic_store(&rt.next_handle, 0);
	atomic_store(&rt.paused, false);
	atomic_store(&rt.attention, false);
	atomic_store(&rt.anchor_busy, false);
	if (!store_create())
		return false;
	atomic_store(&rt.on, true);
	rest_begin(store.cpu_before);
	regions_reset();
	jit_init();
	jit_frames_init();
	modules_init();
	rt.own_module = HYB_CODE_MODULE(unwind_rule_at((uintptr_t)runtime_begin).code);
	describe_name();
	describe_launch();
	calibrate_again();
	python_describe();
	cyg_init();
	metrics_init();
	sampler_init();
	return true;
}

void runtime_ready(void)
{
	store.header->cpu_ready = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Ticks of a nanosecond, roughly: enough for thresholds, the reader has the anchors. */
static double estimate_tick(void)
{
	uint64_t mono = clock_ns(CLOCK_MONOTONIC), tick = clock_tick(), passed;

	if (!rt.counter)
		return 1;
	do
		passed = clock_ns(CLOCK_MONOTONIC) - mono;
	while (passed < 50000);
	return (double)passed / (double)(clock_tick() - tick);
}

/* Runs after the program's own exit handlers. */
__attribute__((destructor)) static void runtime_fini(void)
{
	python_end();
	runtime_end(HYB_STATE_EXITED);
}

/* The main thread, whose CPU clock stood at `cpu` before anything of ours was done. */
static void attach_main(uint64_t cpu)
{
	uintptr_t lo, hi;
	struct thread *t = thread_new();

	main_stack(&lo, &hi);
	if (t) {
		t->start.cpu = cpu;
		sampler_install(t);
	}
	if (thread_attach(t, 0, 0, lo, hi))
		calibrate();
	else
		thread_free(t);
}

void runtime_start(void)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), process = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct timespec coarse = {0, 0};
	int saved = errno;

	/* Without an environment the C library is not initialised yet: there will be another occasion. */
	if (!environ || syscall(SYS_gettid) != getpid() || atomic_exchange(&rt.started, true))
		return;
	wrap_init();
	if (!settings_read(&rt.set))
		return;
	rt.counter = arch_counter_is_steady();
	rt.tick_ns = estimate_tick();
	clock_getres(CLOCK_MONOTONIC_COARSE, &coarse);
	rt.coarse_ns = (uint64_t)coarse.tv_nsec;
	rt.demote_ticks = (uint64_t)((double)rt.set.demote_ns / rt.tick_ns);
	/* Samples come microseconds late anyway: a tenth of one is fine enough, and a byte less in each time.
	 */
	rt.trace_shift = rt.set.trace_events ? 0 : SAMPLE_SHIFT;
	rt.handler_usual = (uint64_t)(HANDLER_USUAL_NS / rt.tick_ns);
	rt.cpu_period = rt.set.rate ? 1000000000u / rt.set.rate : 0;
	if (rt.set.rate && rt.cpu_period < PERIOD_LEAST)
		rt.cpu_period = PERIOD_LEAST; /* whatever is in the environment */
	rt.node_cells = 1;
	rt.record_max = HYB_RECORD_MAX;
	if (!runtime_begin())
		return;
	store.header->cpu_start = process;
	python_look();
	pthread_atfork(fork_prepare, fork_parent, fork_child);
	at_quick_exit(runtime_fini);
	attach_main(cpu);
	runtime_ready();
	errno = saved;
}

__attribute__((constructor)) static void runtime_init(void)
{
	runtime_start();
}
