#include "rest.h"

#include "nodes.h"
#include "runtime/probe/regions.h"
#include "runtime/sample/sampler.h"
#include "runtime/sample/waits.h"
#include "runtime/unwind/cache.h"

#define PATH_MOST 256u /* regions of a maker's path that are followed */
#define SHORT_NS 100000000.0 /* who lived longer has a location of its own */
#define END_NS 100000u /* what the kernel may need for a thread beside what the thread sees of it */
#define LEAST_NS 1000000u /* less is not worth a line, */
#define LEAST_PART 500u /* nor is so small a part of all */

static struct {
	_Atomic(bool) busy; /* taken, never waited for */
	_Atomic(struct thread *) thread; /* whose location it is; of no thread of the program */
	/* the last path that was looked for */
	uint32_t maker, node;
	void *(*function)(void *);
	uint64_t before; /* of the process's CPU clock: what is not counted here */
	_Atomic(uint64_t) ended; /* CPU ns of ended threads with a location of their own */
	_Atomic(uint64_t) ended_count; /* of them */
} rest;

void rest_begin(uint64_t cpu)
{
	uint64_t process = clock_ns(CLOCK_PROCESS_CPUTIME_ID), thread = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	atomic_store(&rest.busy, false);
	atomic_store(&rest.thread, NULL);
	atomic_store(&rest.ended, 0);
	atomic_store(&rest.ended_count, 0);
	rest.maker = 0;
	/* What other threads ran before is theirs if they are measured, else it was another program's. */
	rest.before = cpu ? process - thread + cpu : 0;
}

static uint64_t ticks_of(uint64_t ns)
{
	return (uint64_t)((double)ns / rt.tick_ns);
}

static uint32_t region_below(struct thread *t, uint32_t parent, const char *name)
{
	uint64_t key = region_key(name, strlen(name), "", 0, HYB_REGION_OUTSIDE);

	return key ? node_intern(t, parent, HYB_NODE_REGION, key) : 0;
}

/* Adds to the node and to all above it: times include those below. */
static void add(uint32_t id, uint64_t count, uint64_t ticks, uint64_t ns)
{
	node_at(id)->count += count;
	node_at(id)->ran += ns;
	for (; id; id = node_at(id)->parent)
		node_at(id)->inclusive += ticks;
}

void rest_outside(struct thread *t, const char *name, uint64_t ns)
{
	uint32_t id = ns ? region_below(t, t->loc->root, name) : 0;

	if (id)
		add(id, 0, ticks_of(ns), ns);
}

/* The location, made when it is needed first. NULL: there is none. `rest.busy` is ours */
static struct thread *location(void)
{
	struct thread *t = atomic_load(&rest.thread);

	if (t)
		return t;
	t = thread_new();
	if (!t || !thread_locate(t, HYB_LOCATION_REST, 0, 0)) {
		thread_free(t);
		return NULL;
	}
	t->loc->source = rt.source ? rt.source->id : HYB_SOURCE_NONE;
	t->loc->period = rt.cpu_period;
	atomic_store(&rest.thread, t);
	return t;
}

/* The node below the regions that were open where `maker` was the innermost one; 0: no room. */
static uint32_t path_to(struct thread *t, uint32_t maker)
{
	const struct hyb_node *path[PATH_MOST];
	uint32_t depth = 0, id = t->loc->root;

	for (; maker && depth < PATH_MOST; maker = node_at(maker)->parent)
		path[depth++] = node_at(maker);
	while (id && depth-- > 0)
		if (path[depth]->kind == HYB_NODE_REGION || path[depth]->kind == HYB_NODE_FUNCTION)
			id = node_intern(t, id, path[depth]->kind, path[depth]->key);
	return id;
}

/* The node of threads that were made there to run that function; 0: no room. */
static uint32_t node_of(struct thread *t, uint32_t maker, void *(*function)(void *))
{
	uint64_t code;
	uint32_t id;

	if (rest.maker == maker && rest.function == function && rest.node && maker)
		return rest.node;
	id = path_to(t, maker);
	if (id)
		id = region_below(t, id, "[short-lived threads]");
	code = function ? unwind_rule_at((uintptr_t)function).code : 0;
	if (id && code)
		id = node_intern(t, id, HYB_NODE_FUNCTION, code);
	rest.maker = maker;
	rest.function = function;
	rest.node = id;
	return id;
}

static bool all_zero(const uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i])
			return false;
	return true;
}
#define ALL_ZERO(values) all_zero(values, sizeof(values) / sizeof((values)[0]))

/* Whether the location holds nothing but how long a thread was there. */
static bool is_bare(const struct thread *t)
{
	const struct hyb_location *loc = t->loc;
	void *(*function)(void *) = t->start.function;

	return function && !rt.metrics && !rt.set.trace_events && t->node_count == 1 && !loc->taken &&
	       !loc->samples && !loc->events && !t->trace && !t->second_base && ALL_ZERO(loc->dropped) &&
	       ALL_ZERO(loc->faults) && ALL_ZERO(loc->mpi) && ALL_ZERO(loc->partial) &&
	       (double)(loc->end - loc->start) * rt.tick_ns < SHORT_NS;
}

/* Leaves the location as if it had never been used. */
static void reuse(struct thread *t)
{
	struct hyb_chunk *chunk = (struct hyb_chunk *)((char *)t->loc - sizeof(*chunk));

	t->spare =
		(struct thread_spare){.location = chunk, .nodes = t->node_chunk, .first_node = t->loc->root};
	memset(t->first_base, 0, sizeof(*t->first_base));
	memset(t->loc, 0, sizeof(*t->loc));
	t->node_chunk->used = HYB_NODES_START;
	memset((char *)t->node_chunk + HYB_NODES_START, 0, HYB_NODE_SIZE);
}

bool rest_take(struct thread *t)
{
	uint64_t life = t->loc->end - t->loc->start, ran = ticks_of(t->loc->cpu);
	struct thread *r;
	uint32_t id = 0;

	if (!is_bare(t) || atomic_exchange_explicit(&rest.busy, true, memory_order_acquire))
		return false;
	r = location();
	if (r)
		id = node_of(r, t->start.maker, t->start.function);
	if (id) {
		/* It ran before it was ours, too. */
		add(id, 1, life > ran ? life : ran, t->loc->cpu);
		r->loc->cpu += t->loc->cpu;
		r->loc->cost[HYB_COST_THREAD] += t->loc->cost[HYB_COST_THREAD];
		r->loc->threads++;
		r->loc->last = t->loc->end;
		reuse(t);
	}
	atomic_store_explicit(&rest.busy, false, memory_order_release);
	return id;
}

void rest_ended(const struct thread *t)
{
	atomic_fetch_add(&rest.ended, t->loc->cpu - t->loc->cpu_start);
	atomic_fetch_add(&rest.ended_count, 1);
}

/*
 * What the thread has run in all, with what it ran since its last sample: added to its innermost region. It
 * may run while we do; where it is inside of a probe that part is left to the rest.
 */
static uint64_t count_thread(struct thread *t)
{
	struct hyb_location *loc = t->loc;
	uint32_t ready = THREAD_READY;
	struct timespec ts;
	uint64_t cpu;

	if (!loc || loc->end || t->state == THREAD_NONE)
		return 0;
	/* The kernel's number for the CPU clock of another thread. */
	if (!clock_gettime((clockid_t)(~loc->tid << 3 | 6), &ts)) {
		cpu = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
		if (t != self && cpu > t->last_cpu &&
			__atomic_compare_exchange_n(
				&t->state, &ready, THREAD_BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			waits_ready(t);
			t->node->ran += cpu - t->last_cpu;
			loc->cpu = t->last_cpu = cpu;
			__atomic_store_n(&t->state, THREAD_READY, __ATOMIC_RELEASE);
		}
	}
	return loc->cpu > loc->cpu_start ? loc->cpu - loc->cpu_start : 0;
}

/* What a thread runs before and after it is ours is a few microseconds. */
static const char *name_rest(const struct thread *r, uint64_t ns)
{
	uint64_t ended = r->loc->threads + atomic_load(&rest.ended_count);

	return ns < ended * END_NS ? "[starts and ends of threads]" : "[threads not measured]";
}

void rest_end(void)
{
	uint64_t counted = atomic_load(&rest.ended), all;
	struct thread *r = atomic_load(&rest.thread), *t;

	for (uint32_t i = 0; (t = thread_each(&i));)
		counted += t == r ? r->loc->cpu : count_thread(t);
	all = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - rest.before;
	if (all < counted + LEAST_NS || all - counted < all / LEAST_PART ||
		atomic_exchange_explicit(&rest.busy, true, memory_order_acquire))
		return;
	r = location();
	if (r) {
		rest_outside(r, name_rest(r, all - counted), all - counted);
		r->loc->cpu += all - counted;
		r->loc->last = clock_tick();
	}
	atomic_store_explicit(&rest.busy, false, memory_order_release);
}
