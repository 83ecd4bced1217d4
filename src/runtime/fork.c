#include "fork.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cyg.h"
#include "modules.h"
#include "probe.h"
#include "regions.h"
#include "sampler.h"
#include "wrap.h"

/* The region stack at the fork; the struct thread itself is wiped in the child. */
static __thread struct {
	struct thread *t;
	struct hyb_open *first_base, *second_base;
	uint32_t depth;
	uintptr_t stack_lo, stack_hi;
	int perf_fd;
	struct metrics_thread metrics; /* its descriptors */
	bool busy, blocks_signal;
} at_fork __attribute__((tls_model("initial-exec")));

/* What the child needs of the parent's file until it has its own. */
struct legacy {
	uint8_t *segment[MAX_SEGMENTS];
	uint32_t segments; /* of them; some are NULL */
	struct hyb_open open[HYB_STACK_FIRST + HYB_STACK_SECOND];
	const void *name[HYB_STACK_FIRST + HYB_STACK_SECOND]; /* struct hyb_def_region, or a code address */
	uint8_t kind[HYB_STACK_FIRST + HYB_STACK_SECOND];
	uint32_t root_skipped;
	uint32_t depth;
};

void fork_prepare(void)
{
	struct thread *t = self;

	at_fork.t = t;
	at_fork.perf_fd = -1;
	at_fork.depth = 0;
	at_fork.busy = t && thread_busy(t); /* no probe in between may write into what is shared */
	if (!t || t->state == THREAD_NONE)
		return;
	at_fork.first_base = t->first_base;
	at_fork.second_base = t->second_base;
	at_fork.depth = t->loc->depth;
	at_fork.stack_lo = t->stack_lo;
	at_fork.stack_hi = t->stack_hi;
	at_fork.blocks_signal = t->blocks_signal;
	at_fork.perf_fd = t->armed ? t->perf_fd : -1;
	if (rt.metrics)
		at_fork.metrics = t->metrics;
}

void fork_parent(void)
{
	if (at_fork.busy)
		thread_ready(at_fork.t);
	at_fork.depth = 0;
}

/* Notes what is open and where the parent's segments are. */
static void collect(struct legacy *old)
{
	old->segments = atomic_load(&store.mapped);
	for (uint32_t i = 0; i < old->segments; i++)
		old->segment[i] = atomic_load(&store.segment[i]);
	old->root_skipped = at_fork.depth ? at_fork.first_base->skipped & ~HYB_OPEN_SAMPLED : 0;
	for (uint32_t level = 1; level < at_fork.depth; level++) {
		const struct hyb_open *open = level < HYB_STACK_FIRST
						      ? &at_fork.first_base[level]
						      : &at_fork.second_base[level - HYB_STACK_FIRST];
		const struct hyb_node *node = node_at(open->node);

		const struct hyb_def_region *def =
			node->kind == HYB_NODE_REGION ? region_def(node->key) : NULL;

		if (def && def->kind == HYB_REGION_PAUSED)
			continue; /* the child pauses by itself */
		old->open[old->depth] = *open;
		old->kind[old->depth] = node->kind;
		old->name[old->depth++] = node->kind == HYB_NODE_REGION
						  ? (const void *)def
						  : (const void *)modules_address(node->key);
	}
}

/* Opens in the child what was open in the parent. */
static void reopen(struct thread *t, const struct legacy *old)
{
	t->top->skipped = old->root_skipped;
	for (uint32_t i = 0; i < old->depth; i++) {
		const struct hyb_def_region *def = old->name[i];
		uint64_t key;

		if (old->kind[i] == HYB_NODE_REGION)
			key = region_key((const char *)(def + 1), def->name_len,
				(const char *)(def + 1) + def->name_len + 1, def->line, def->kind);
		else
			key = cyg_key((uintptr_t)old->name[i]);
		if (key && thread_busy(t)) {
			probe_enter(t, old->kind[i], key, probe_snippet(&old->open[i]));
			t->top->skipped = old->open[i].skipped & ~HYB_OPEN_SAMPLED;
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

void fork_child(void)
{
	struct legacy *old;
	struct thread *t;
	bool paused = atomic_load(&rt.paused);
	int saved = errno;

	if (!store.header || rt.pid == getpid())
		return;
	perf_forget(at_fork.perf_fd);
	metrics_forget(&at_fork.metrics);
	thread_free(self); /* the parent's, wiped */
	self = NULL;
	pthread_setspecific(real_functions.thread_key, NULL);
	old = mmap(NULL, sizeof(*old), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!atomic_load(&rt.on) || old == MAP_FAILED) {
		atomic_store(&rt.on, false);
		store.header = NULL;
		if (old != MAP_FAILED)
			munmap(old, sizeof(*old));
		errno = saved;
		return;
	}
	collect(old);
	store_abandon();
	rt.epoch++;
	if (runtime_begin()) {
		t = thread_new();
		if (t)
			t->blocks_signal = at_fork.blocks_signal;
		if (thread_attach(t, 0, 0, at_fork.stack_lo, at_fork.stack_hi))
			reopen(t, old);
		else
			thread_free(t);
		atomic_store(&rt.paused, paused);
		atomic_store(&rt.attention, paused);
	}
	release(old);
	errno = saved;
}
