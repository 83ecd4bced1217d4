#include "fork.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/probe/cyg.h"
#include "runtime/unwind/modules.h"
#include "runtime/probe/probe.h"
#include "runtime/probe/regions.h"
#include "runtime/sample/sampler.h"
#include "runtime/sample/waits.h"
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
	int perf_fd, schedstat_fd;
	struct metrics_thread metrics; /* its descriptors */
	uintptr_t stack_lo, stack_hi;
	uint32_t root_skipped;
	uint32_t depth;
	struct open_region open[]; /* outermost first */
};

static __thread struct forking *forking __attribute__((tls_model("initial-exec")));

static struct forking *forking_new(uint32_t depth)
{
	size_t size = sizeof(struct forking) + depth * sizeof(struct open_region);
	struct forking *f = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (f == MAP_FAILED)
		return NULL;
	f->size = size;
	f->perf_fd = f->schedstat_fd = -1;
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
	f->schedstat_fd = t->waits.every ? t->waits.fd : -1;
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

/* Of the segments those that can be mapped. */
static void copy_store(struct store *to, const struct store *from)
{
	memcpy(to, from, offsetof(struct store, segment));
	for (uint32_t i = atomic_load(&from->mapped); i-- > 0;)
		atomic_store(&to->segment[i], atomic_load(&from->segment[i]));
}

static void unmap_segments(const struct store *of)
{
	for (uint32_t i = atomic_load(&of->mapped); i-- > 0;)
		if (atomic_load(&of->segment[i]))
			munmap(atomic_load(&of->segment[i]), HYB_SEGMENT);
}

/* The child's own file and thread. False: it cannot have a file. */
static bool begin_child(const struct forking *f, uint64_t cpu)
{
	bool paused = atomic_load(&rt.paused);
	struct thread *t;

	rt.epoch++;
	if (!runtime_begin())
		return false;
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
	return true;
}

/*
 * The child's own file in place of the parent's, which stays mapped until then: what its regions are called
 * is read there, and does not change. Without one of its own it has what a child of vfork() has.
 */
static bool change_file(const struct forking *f, uint64_t cpu)
{
	struct store *parents =
		mmap(NULL, sizeof(*parents), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t parent = rt.pid;
	bool begun;

	if (parents == MAP_FAILED)
		return false;
	copy_store(parents, &store);
	store_abandon();
	begun = begin_child(f, cpu);
	if (begun) {
		unmap_segments(parents);
	} else {
		copy_store(&store, parents);
		rt.pid = parent;
	}
	munmap(parents, sizeof(*parents));
	return begun;
}

/* The parent's descriptors and memory of its thread, which is wiped. */
static void forget_thread(struct forking *f)
{
	if (f) {
		perf_forget(f->perf_fd);
		waits_forget(f->schedstat_fd);
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
	int saved = errno;

	if (!store.header || rt.pid == getpid()) {
		end_all();
		return;
	}
	forget_thread(forking);
	thread_forget_all();
	if (!atomic_load(&rt.on) || !change_file(forking, cpu)) {
		atomic_store(&rt.on, false);
		note_itself(clock_tick(), getpid(), HYB_UNMEASURED_FILE);
	}
	end_all();
	errno = saved;
}
