#include "probe.h"

#include "regions.h"
#include "runtime/sample/waits.h"

bool probe_stack_grow(struct thread *t)
{
	if (t->base != t->first_base)
		return false;
	if (rt.metrics && !metrics_grow(t))
		return false;
	if (!t->second_base) {
		uint64_t at = store_claim(HYB_CHUNK_STACK, HYB_STACK_CHUNK, t->loc->id, 0);

		if (!at)
			return false;
		((struct hyb_chunk *)store_at(at))->used = HYB_STACK_CHUNK;
		t->second_base = (struct hyb_open *)((char *)store_at(at) + sizeof(struct hyb_chunk));
	}
	t->base = t->second_base;
	t->limit = t->base + HYB_STACK_SECOND - 1;
	return true;
}

void probe_stack_shrink(struct thread *t)
{
	t->base = t->first_base;
	t->limit = t->base + HYB_STACK_FIRST - 1;
	t->top = t->limit;
}

/* Counts an enter that is not followed; the region stack's top remembers to ignore its leave. */
void probe_skip(struct thread *t, struct hyb_node *child, bool demoted)
{
	enum hyb_fault fault = child                                  ? HYB_FAULT_TOO_DEEP
			       : t->node_count >= HYB_PROBE_NODES_MAX ? HYB_FAULT_TOO_MANY
								      : HYB_FAULT_NO_SPACE;

	t->top->skipped++;
	if (demoted)
		child->skipped++;
	else if (!t->loc->faults[fault]++ && fault == HYB_FAULT_TOO_MANY)
		store_note(HYB_NOTE_WARNING,
			"a thread has made more than a million call paths: probes on new ones are only "
			"counted, as faults; leave functions out (--filter), or let samples show them");
}

void probe_demote(struct hyb_node *node)
{
	const struct hyb_def_region *def = node->kind == HYB_NODE_REGION ? region_def(node->key) : NULL;

	/* Each message counts, and nobody leaves a parameter: a region around it does. */
	if (def && (def->kind == HYB_REGION_MPI || def->kind == HYB_REGION_PARAMETER))
		return;
	if (node->count >= rt.set.demote_calls && rt.set.demote_calls &&
		node->inclusive / node->count < rt.demote_ticks && node->kind != HYB_NODE_ROOT)
		node->flags |= HYB_NODE_DEMOTED;
}

/* The entry `up` levels below the top; NULL at the root. */
static struct hyb_open *entry_below(const struct thread *t, uint32_t up)
{
	uint32_t depth = t->loc->depth;

	return up + 1 < depth ? thread_open(t, depth - up - 1) : NULL;
}

static bool is_parameter(const struct hyb_node *node)
{
	const struct hyb_def_region *def = node->kind == HYB_NODE_REGION ? region_def(node->key) : NULL;

	return def && def->kind == HYB_REGION_PARAMETER;
}

void probe_leave_parameter(struct thread *t, const char *key, size_t len, uint64_t now)
{
	uint32_t up = 0;
	struct hyb_open *open;

	for (; (open = entry_below(t, up)) && is_parameter(node_at(open->node)); up++) {
		const struct hyb_def_region *def = region_def(node_at(open->node)->key);

		if (def->name_len < len || memcmp(def + 1, key, len) != 0)
			continue;
		for (up++; up--;)
			probe_pop(t, now);
		return;
	}
}

void probe_leave_other(struct thread *t, enum hyb_node_kind kind, uint64_t key, uint64_t now)
{
	uint32_t up = 0;
	struct hyb_open *open;

	if (t->top->skipped & ~HYB_OPEN_SAMPLED) {
		t->top->skipped--;
		return;
	}
	for (; (open = entry_below(t, up)); up++) {
		const struct hyb_node *node = node_at(open->node);

		if (node->key == key && node->kind == kind)
			break;
	}
	if (!open) {
		t->loc->faults[HYB_FAULT_NOT_ENTERED]++;
		return;
	}
	while (up--) {
		if (!is_parameter(t->node))
			t->loc->faults[HYB_FAULT_NOT_LEFT]++;
		if (t->top == t->mpi.open) /* it was left by a jump */
			t->mpi.open = NULL;
		probe_pop(t, now);
	}
	probe_pop(t, now);
}

void probe_leave_name(struct thread *t, const char *name, size_t len, uint64_t now)
{
	struct hyb_open *open;

	if (t->top->skipped & ~HYB_OPEN_SAMPLED) {
		t->top->skipped--;
		return;
	}
	for (uint32_t up = 0; (open = entry_below(t, up)); up++) {
		const struct hyb_node *node = node_at(open->node);

		if (node->kind == HYB_NODE_REGION && region_is(node->key, name, len)) {
			probe_leave(t, HYB_NODE_REGION, node->key, now);
			return;
		}
	}
	t->loc->faults[HYB_FAULT_NOT_ENTERED]++;
}

/* The time of a pause stands in the tree as a region of its own. */
void probe_pause(struct thread *t)
{
	static const char name[] = "(paused)";
	uint64_t key = region_key(name, sizeof(name) - 1, "", 0, HYB_REGION_PAUSED);

	if (key)
		probe_enter(t, HYB_NODE_REGION, key, probe_snippet(t->top));
}

void probe_resume(struct thread *t)
{
	/* Regions entered during the pause and still open will be left later: ignore that too. */
	uint32_t skipped = t->top->skipped & ~HYB_OPEN_SAMPLED;
	const struct hyb_def_region *def = t->node->kind == HYB_NODE_REGION ? region_def(t->node->key) : NULL;

	if (!def || def->kind != HYB_REGION_PAUSED)
		return;
	probe_pop(t, clock_tick());
	t->top->skipped += skipped;
	waits_resume(t);
}

struct thread *probe_begin_other(struct thread *t, bool enter)
{
	if (t && t->state == THREAD_BUSY) {
		t->loc->faults[HYB_FAULT_NESTED]++;
		return NULL;
	}
	if (t && t->state == THREAD_PAUSED) {
		if (atomic_load(&rt.paused) && (enter || t->top->skipped & ~HYB_OPEN_SAMPLED)) {
			t->top->skipped += enter ? 1 : -1u;
			return NULL;
		}
		/* The pause is over, or a region is left that was entered before it. */
		t->state = THREAD_BUSY;
		signal_barrier();
		probe_resume(t);
		return t;
	}
	if (t && t->state == THREAD_STOPPED)
		return NULL;
	t = thread_late();
	return t && thread_busy(t) ? t : NULL;
}
