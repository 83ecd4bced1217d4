/*
 * Regions entered and left: the region stack of a thread. The entry points for programs are the table in
 * probe_api.c and the compiler's hooks in cyg.c. Unless noted otherwise: owner thread, thread busy;
 * async-signal-safe.
 */
#ifndef HYB_PROBE_H
#define HYB_PROBE_H

#include "runtime/arch/arch.h"
#include "runtime/nodes.h"
#include "runtime/trace.h"
#include "runtime/unwind/unwind.h"

/* The snippet of the function that called the probe: this one is compiled with a frame pointer. */
#define PROBE_SNIPPET \
	((struct unwind_snippet){ARCH_CALLER_SP(), (uintptr_t)__builtin_return_address(0), \
		*(const uintptr_t *)__builtin_frame_address(0)})

/* Snippets stay in registers: handed over in memory they make a probe slower by a fifth. */
#define PROBE_INLINE inline __attribute__((always_inline))

/* The parts of push and pop that are rarely needed: see probe.c. */
bool probe_stack_grow(struct thread *t);
void probe_stack_shrink(struct thread *t);
void probe_skip(struct thread *t, struct hyb_node *child, bool demoted);
void probe_demote(struct hyb_node *node);
void probe_leave_other(struct thread *t, enum hyb_node_kind kind, uint64_t key, uint64_t now);

/* Leaves the innermost open region of this name. */
void probe_leave_name(struct thread *t, const char *name, size_t len, uint64_t now);

/*
 * Of the parameters that split the innermost region, leaves the one whose name begins like this, "key=", and
 * those inside of it.
 */
void probe_leave_parameter(struct thread *t, const char *key, size_t len, uint64_t now);

/* Enters and leaves "(paused)". */
void probe_pause(struct thread *t);
void probe_resume(struct thread *t);

static inline struct unwind_snippet probe_snippet(const struct hyb_open *open)
{
	return (struct unwind_snippet){open->sp, open->ra, open->fp};
}

/* Opens `child`, whose id is given, as the region stack's entry `open`: at the tick `at`, or now if it is 0.
 */
static PROBE_INLINE void probe_open(struct thread *t, uint32_t id, struct hyb_node *child,
	struct hyb_open *open, struct unwind_snippet snippet, uint64_t at)
{
	open->sp = snippet.sp;
	open->ra = snippet.ra;
	open->fp = snippet.fp;
	open->node = id;
	open->skipped = 0;
	if (unlikely(rt.metrics))
		metrics_enter(t, t->loc->depth);
	open->enter = at ? at : clock_tick();
	signal_barrier();
	t->loc->depth++;
	t->top = open;
	t->node = child;
	if (rt.set.trace_events)
		trace_enter(t, open->enter, id);
}

/* Enters the node `id` somewhere below the innermost open one; `at` as in probe_open(). */
static PROBE_INLINE void probe_push_at(
	struct thread *t, uint32_t id, struct unwind_snippet snippet, uint64_t at)
{
	struct hyb_node *child = node_at(id);
	struct hyb_open *open = t->top + 1;

	child->count++;
	if (unlikely(child->flags)) {
		if (child->flags & HYB_NODE_DEMOTED) {
			probe_skip(t, child, true);
			return;
		}
		for (unsigned i = 0; i < child->lift && unwind_up(&snippet); i++)
			;
	}
	if (unlikely(t->top == t->limit)) {
		if (!probe_stack_grow(t)) {
			probe_skip(t, child, false);
			return;
		}
		open = t->base;
	}
	probe_open(t, id, child, open, snippet, at);
}

static PROBE_INLINE void probe_push(struct thread *t, uint32_t id, struct unwind_snippet snippet)
{
	probe_push_at(t, id, snippet, 0);
}

/* Leaves the innermost open region. */
static PROBE_INLINE void probe_pop(struct thread *t, uint64_t now)
{
	struct hyb_open *open = t->top;
	struct hyb_node *node = t->node;

	if (unlikely(rt.metrics))
		metrics_leave(t, t->loc->depth - 1);
	if (rt.set.trace_events)
		trace_leave(t, now);
	else if (unlikely(open->skipped & HYB_OPEN_SAMPLED))
		trace_complete(t, now, open->node);
	/* Side by side: for a process that is killed between, the instance counts twice. */
	node->inclusive += now - open->enter;
	signal_barrier();
	t->loc->depth--;
	if (unlikely((node->count & 1023) == 0))
		probe_demote(node);
	if (unlikely(open == t->base))
		probe_stack_shrink(t);
	else
		t->top = open - 1;
	t->node = node_at(t->top->node);
}

/* Enters a region by key. */
static PROBE_INLINE void probe_enter(
	struct thread *t, enum hyb_node_kind kind, uint64_t key, struct unwind_snippet snippet)
{
	uint32_t id = node_probe(t, t->node, t->top->node, kind, key);

	if (likely(id))
		probe_push(t, id, snippet);
	else
		probe_skip(t, NULL, false);
}

/* Leaves a region by key; `now` was read before anything else was done. */
static PROBE_INLINE void probe_leave(struct thread *t, enum hyb_node_kind kind, uint64_t key, uint64_t now)
{
	/* One comparison checks both: nothing was skipped inside, and it is the one that was entered last. */
	if (likely(t->node->key == key && !(t->top->skipped & ~HYB_OPEN_SAMPLED) && t->node->kind == kind))
		probe_pop(t, now);
	else
		probe_leave_other(t, kind, key, now);
}

/*
 * For threads that are not ready: interrupted in a probe, paused, in a forked
 * child, or not yet begun. NULL: the probe does nothing now.
 */
struct thread *probe_begin_other(struct thread *t, bool enter);

/* The calling thread, busy, or NULL. Any thread, any time */
static inline struct thread *probe_begin(bool enter)
{
	struct thread *t = self;

	return likely(t && thread_busy(t)) ? t : probe_begin_other(t, enter);
}

static inline void probe_end(struct thread *t)
{
	if (unlikely(atomic_load_explicit(&rt.attention, memory_order_relaxed)))
		thread_attend(t);
	else
		thread_ready(t);
}

/* hybrid_pause(), hybrid_resume() and hybrid_metadata(), for calls of MPI, too. Any thread */
void api_pause(void);
void api_resume(void);
void api_metadata(const char *key, const char *value);

#endif
