#include "fork.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/probe/cyg.h"
#include "runtime/unwind/modules.h"
#include "runtime/probe/probe.h"
#include "runtime/probe/regions.h"
#include "runtime/sample/sampler.h"
#include "runtime/wrap/wrap.h"

struct open_region {
	struct unwind_snippet snippet;
	const void *name; /* struct hyb_def_region, or a code address */
	uint32_t skipped;
	uint8_t kind;
};

/*
 * What the child needs of the thread that forks, in memory of the process's own. It is copied before: the
 * region stack is shared with the parent, who goes on, and its struct thread is wiped in the child.
 */
struct forking {
	struct forking *outer; /* the fork that a handler of the program interrupted by this one */
	size_t size;
	struct thread *t;
	bool busy, blocks_signal;
	int perf_fd;
	struct metrics_thread metrics; /* its descriptors */
	uintptr_t stack_lo, stack_hi;
	uint32_t root_skipped;
	uint32_t depth;
	struct open_region open[]; /* outermost first */
};

static __thread struct forking *forking __attribute__((tls_model("initial-exec")));

/* Where the parent's segments are: what its regions are called is read there, and does not change. */
struct legacy {
	uint32_t segments; /* of them; some are NULL */
	uint8_t *segment[MAX_SEGMENTS];
};

static struct forking *forking_new(uint32_t depth)
{
	size_t size = sizeof(struct forking) + depth * sizeof(struct open_region);
	struct forking *f = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (f == MAP_FAILED)
		return NULL;
	f->size = size;
	f->perf_fd = -1;
	f->outer = forking;
	forking = f;
	return f;
}

/* Forgets the innermost one. */
static void forking_end(void)
{
	struct forking *f = forking;

	forking = f->outer;
	munmap(f, f->size);
}

static void copy_regions(struct forking *f, const struct thread *t)
{
	f->root_skipped = t->first_base->skipped & ~HYB_OPEN_SAMPLED;
	for (uint32_t level = 1; level < t->loc->depth; level++) {
		const struct hyb_open *open = thread_open(t, level);
		const struct hyb_node *node = node_at(open->node);
		bool region = node->kind == HYB_NODE_REGION;
		const struct hyb_def_region *def = region ? region_def(node->key) : NULL;

		if (def && def->kind == HYB_REGION_PAUSED)
			continue; /* the child pauses by itself */
		f->open[f->depth++] = (struct open_region){
			.snippet = probe_snippet(open),
			.name = region ? (const void *)def : (const void *)modules_address(node->key),
			.skipped = open->skipped & ~HYB_OPEN_SAMPLED,
			.kind = node->kind,
		};
	}
}

void fork_prepare(void)
{
	struct thread *t = self;
	bool attached = t && t->state != THREAD_NONE, busy = t && thread_busy(t);
	int saved = errno;
	struct forking *f = forking_new(attached ? t->loc->depth : 0);

	errno = saved;
	if (!f) { /* the child begins without what is open here */
		if (busy)
			thread_ready(t);
		return;
	}
	f->t = t;
	f->busy = busy; /* until fork_parent(): no probe in between may write into what is shared */
	if (!attached)
		return;
	f->stack_lo = t->stack_lo;
	f->stack_hi = t->stack_hi;
	f->blocks_signal = t->blocks_signal;
	f->perf_fd = t->armed ? t->perf_fd : -1;
	if (rt.metrics)
		f->metrics = t->metrics;
	copy_regions(f, t);
}

void fork_parent(void)
{
	int saved = errno;

	if (!forking)
		return;
	if (forking->busy)
		thread_ready(forking->t);
	forking_end();
	errno = saved;
}

/* Notes where the parent's segments are. */
static void collect(struct legacy *old)
{
	old->segments = atomic_load(&store.mapped);
	for (uint32_t i = 0; i < old->segments; i++)
		old->segment[i] = atomic_load(&store.segment[i]);
}

/* Opens in the child what was open in the parent. */
static void reopen(struct thread *t, const struct forking *f)
{
	t->top->skipped = f->root_skipped;
	for (uint32_t i = 0; i < f->depth; i++) {
		const struct open_region *open = &f->open[i];
		const struct hyb_def_region *def = open->name;
		uint64_t key;

		if (open->kind != HYB_NODE_REGION)
			key = cyg_key((uintptr_t)open->name);
		else if (def)
			key = region_key((const char *)(def + 1), def->name_len,
				(const char *)(def + 1) + def->name_len + 1, def->line, def->kind);
		else /* the parent itself had it from its own parent */
			key = 0;
		if (key && thread_busy(t)) {
			probe_enter(t, open->kind, key, open->snippet);
			node_at(t->top->node)->count--; /* the parent's call */
			t->top->skipped = open->skipped;
			thread_ready(t);
		}
	}
}

static void release(struct legacy *old)
{
	for (uint32_t i = 0; i < old->segments; i++)
		if (old->segment[i])
			munmap(old->segment[i], HYB_SEGMENT);
	munmap(old, sizeof(*old));
}

/* The child's own file and thread. */
static void begin_child(const struct forking *f, uint64_t cpu)
{
	bool paused = atomic_load(&rt.paused);
	struct thread *t;

	rt.epoch++;
	if (!runtime_begin())
		return;
	t = thread_new();
	if (t)
		t->start.cpu = cpu;
	if (t && f)
		t->blocks_signal = f->blocks_signal;
	if (!thread_attach(t, 0, 0, f ? f->stack_lo : 0, f ? f->stack_hi : 0))
		thread_free(t);
	else if (f)
		reopen(t, f);
	atomic_store(&rt.paused, paused);
	atomic_store(&rt.attention, paused);
	runtime_ready();
}

/* The parent's descriptors and memory of its thread, which is wiped. */
static void forget_thread(struct forking *f)
{
	if (f) {
		perf_forget(f->perf_fd);
		metrics_forget(&f->metrics);
	}
	thread_free(self);
	self = NULL;
	pthread_setspecific(real_functions.thread_key, NULL);
}

static void end_all(void)
{
	while (forking)
		forking_end();
}

void fork_child(void)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct legacy *old;
	int saved = errno;

	if (!store.header || rt.pid == getpid()) {
		end_all();
		return;
	}
	forget_thread(forking);
	thread_forget_all();
	old = mmap(NULL, sizeof(*old), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!atomic_load(&rt.on) || old == MAP_FAILED) {
		atomic_store(&rt.on, false);
		store.header = NULL;
		if (old != MAP_FAILED)
			munmap(old, sizeof(*old));
	} else {
		collect(old);
		store_abandon();
		begin_child(forking, cpu);
		release(old);
	}
	end_all();
	errno = saved;
}
