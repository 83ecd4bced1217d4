#include "nodes.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fork.h"
#include "runtime/probe/probe.h"
#include "rest.h"
#include "runtime/sample/sampler.h"
#include "runtime/sample/waits.h"
#include "thread_name.h"
#include "runtime/wrap/wrap.h"

__thread struct thread *self __attribute__((tls_model("initial-exec")));

/* Its end was recorded, or it cannot be measured: destructors that run now must not begin it again. */
static __thread bool thread_ended __attribute__((tls_model("initial-exec")));

/* A new chunk, or that of a thread that left nothing in it. NULL: no room */
static struct hyb_chunk *take_location(struct thread *t)
{
	struct thread_spare spare = t->spare;
	uint32_t id;
	uint64_t at;

	t->spare = (struct thread_spare){0};
	if (spare.location) {
		t->node_chunk = spare.nodes;
		t->node_serial = 1;
		t->node_next_id = spare.first_node;
		t->node_end_id = spare.first_node + (spare.nodes->size - HYB_NODES_START) / HYB_NODE_SIZE;
		return spare.location;
	}
	id = atomic_fetch_add(&rt.next_location, 1) + 1;
	at = store_claim(HYB_CHUNK_LOCATION, HYB_LOCATION_CHUNK, id, 0);
	return at ? store_at(at) : NULL;
}

static bool location_begin(struct thread *t, enum hyb_location_kind kind)
{
	struct hyb_chunk *chunk = take_location(t);

	if (!chunk)
		return false;
	t->loc = (struct hyb_location *)(chunk + 1);
	t->loc->id = chunk->location;
	t->loc->kind = kind;
	t->loc->start = t->loc->last = clock_tick();
	t->first_base = (struct hyb_open *)((char *)chunk + HYB_LOCATION_STACK);
	chunk->used = HYB_LOCATION_CHUNK;
	if (kind == HYB_LOCATION_REST)
		return true;
	t->loc->tid = (uint32_t)syscall(SYS_gettid);
	t->loc->cpu_start = (int)t->loc->tid == rt.pid ? store.cpu_before : 0;
	t->loc->cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return true;
}

static bool root_begin(struct thread *t, uintptr_t sp, uintptr_t ra)
{
	uint32_t root;

	t->buckets = t->first_buckets;
	t->bucket_mask = sizeof(t->first_buckets) / sizeof(t->first_buckets[0]) - 1;
	root = node_intern(t, 0, HYB_NODE_ROOT, 0);
	if (!root)
		return false;
	t->node = node_at(root);
	t->node->count = 1;
	t->base = t->top = t->first_base;
	t->limit = t->base + HYB_STACK_FIRST - 1;
	*t->top = (struct hyb_open){.enter = t->loc->start, .sp = sp, .ra = ra, .node = root};
	t->loc->root = root;
	t->loc->depth = t->loc->kind == HYB_LOCATION_THREAD;
	return true;
}

bool thread_locate(struct thread *t, enum hyb_location_kind kind, uintptr_t sp, uintptr_t ra)
{
	return location_begin(t, kind) && root_begin(t, sp, ra);
}

/* What beginning or ending the thread took. Much more: another thread had the core. */
static void count_cost(struct thread *t, uint64_t since)
{
	uint64_t ticks = clock_tick() - since, most = 5 * rt.handler_usual;

	t->loc->cost[HYB_COST_THREAD] += (uint64_t)((double)(ticks < most ? ticks : most) * rt.tick_ns);
}

/*
 * What the thread ran before this moment. One that was seen starting has done nothing of its own yet; others
 * were loaded, or ran unmeasured, until we began.
 */
static void count_before(struct thread *t)
{
	uint64_t began = t->start.cpu ? t->start.cpu : t->loc->cpu;

	if (t->start.function || t->start.c11_function || began < t->loc->cpu_start) {
		t->node->ran += t->loc->cpu - t->loc->cpu_start;
		return;
	}
	rest_outside(t, "[before-measurement]", began - t->loc->cpu_start);
	rest_outside(t, "[measurement-start]", t->loc->cpu - began);
	t->loc->cost[HYB_COST_PROCESS] = t->loc->cpu - began;
}

bool thread_attach(struct thread *t, uintptr_t sp, uintptr_t ra, uintptr_t lo, uintptr_t hi)
{
	uint64_t begun = clock_tick();
	int saved = errno;

	if (!t || !atomic_load(&rt.on) || !thread_locate(t, HYB_LOCATION_THREAD, sp, ra) ||
		!metrics_begin(t)) {
		if (store.header)
			__atomic_add_fetch(&store.header->threads_lost, 1, __ATOMIC_RELAXED);
		errno = saved;
		return false;
	}
	__atomic_add_fetch(&store.header->threads, 1, __ATOMIC_RELAXED);
	t->stack_lo = lo;
	t->stack_hi = hi;
	t->perf_fd = -1;
	t->random = (uint32_t)(t->loc->start ^ t->loc->tid * 2654435761u) | 1;
	t->last_cpu = t->loc->cpu;
	t->last_mono = runtime_anchor(1);
	t->check_clock = rt.source && rt.source->id == HYB_SOURCE_WALL ? t->last_mono : t->last_cpu;
	t->trace_tick = t->loc->start;
	count_before(t);
	self = t;
	pthread_setspecific(real_functions.thread_key, t);
	t->period = rt.cpu_period;
	waits_start(t);
	t->state = THREAD_READY;
	sampler_start(t);
	count_cost(t, begun);
	errno = saved;
	return true;
}

/* Closes what is open, innermost first; the root stays open for the reader until `end` is set. */
static void close_regions(struct thread *t, uint64_t now)
{
	while (t->loc->depth > 1) {
		t->loc->faults[HYB_FAULT_NOT_LEFT]++;
		probe_pop(t, now);
	}
	if (rt.metrics)
		metrics_leave(t, 0);
	if (t->top->skipped & HYB_OPEN_SAMPLED)
		trace_complete(t, now, t->top->node);
	t->node->inclusive += now - t->top->enter;
	signal_barrier();
	if (rt.metrics)
		metrics_publish(t);
	t->loc->depth = 0;
}

/* It has a location of its own. */
static void keep(struct thread *t)
{
	thread_name_read(t);
	rest_ended(t);
}

void thread_detach(struct thread *t)
{
	uint64_t begun = clock_tick(), now, cpu;

	if (t->state == THREAD_NONE)
		return;
	sampler_stop(t);
	thread_busy(t); /* records what is pending */
	t->state = THREAD_BUSY;
	signal_barrier();
	now = clock_tick();
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	waits_stop(t);
	t->node->ran += cpu - t->last_cpu; /* what ran since the last sample */
	t->loc->cpu = cpu;
	close_regions(t, now);
	t->loc->last = t->loc->end = now;
	runtime_anchor(1);
	metrics_end(t);
	self = NULL;
	thread_ended = true;
	if (t->buckets != t->first_buckets)
		munmap(t->buckets, (t->bucket_mask + 1) * sizeof(*t->buckets));
	if (t->trace)
		madvise(t->trace, t->trace->size, MADV_DONTNEED);
	count_cost(t, begun);
	if (!rest_take(t))
		keep(t);
}

void thread_attend(struct thread *t)
{
	bool on = atomic_load(&rt.on), paused = atomic_load(&rt.paused);

	if (on && paused)
		probe_pause(t);
	signal_barrier();
	t->state = !on ? THREAD_STOPPED : paused ? THREAD_PAUSED : THREAD_READY;
}

struct thread *thread_late(void)
{
	struct thread *t = self;

	if (unlikely(!atomic_load_explicit(&rt.started, memory_order_relaxed)))
		runtime_start(); /* a probe of a library's constructor */
	if (!store.header || !atomic_load(&rt.on))
		return NULL;
	if (rt.pid != getpid()) {
		/* A vfork child borrows its parent's memory; any other finds its own wiped. */
		if (!t || t->state == THREAD_NONE)
			fork_child();
		return self;
	}
	if (t || thread_ended)
		return NULL;
	t = thread_new();
	if (!thread_attach(t, 0, 0, 0, 0)) {
		thread_ended = true;
		thread_free(t);
	}
	return self;
}
