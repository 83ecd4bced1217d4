#include "path.h"

#include "runtime/arch/arch.h"
#include "runtime/probe/probe.h"

#define MAX_LIFT 4u /* helpers inside one another */

/* Where the walk looks for the next snippet outwards. */
struct snippets {
	const struct thread *t;
	uint32_t level; /* above the next one */
};

static struct unwind_snippet next_snippet(void *data)
{
	struct snippets *s = data;
	const struct hyb_open *open = s->level ? thread_open(s->t, --s->level) : NULL;

	return open ? probe_snippet(open) : (struct unwind_snippet){0, 0, 0};
}

/*
 * The probe was entered by a helper (a timer library, a wrapper in another
 * language) that has returned. From now on its snippet is taken one frame
 * further out where it is entered; this instance makes do with the frame's end.
 */
static void snippet_gone(void *data, uintptr_t sp)
{
	const struct snippets *s = data;
	struct hyb_open *open = thread_open(s->t, s->level);
	struct hyb_node *node = node_at(open->node);

	open->sp = sp;
	open->ra = 0;
	if (node->lift < MAX_LIFT && node->kind != HYB_NODE_ROOT) {
		node->lift++;
		node->flags |= HYB_NODE_LIFTED;
	}
}

enum hyb_partial path_partial(uint64_t end)
{
	return end == UNWIND_NO_RULE     ? HYB_PARTIAL_NO_RULE
	       : end == UNWIND_BAD_STACK ? HYB_PARTIAL_BAD_STACK
					 : HYB_PARTIAL_TOO_DEEP;
}

/* The node of an entry of a walk. */
static uint32_t intern_entry(struct thread *t, uint32_t parent, uint64_t entry)
{
	if (entry & UNWIND_PYTHON)
		return node_intern(t, parent, HYB_NODE_PYTHON, entry & ~UNWIND_PYTHON);
	if (HYB_CODE_MODULE(entry) == UNWIND_GAP)
		return node_intern(t, parent, HYB_NODE_PARTIAL, path_partial(HYB_CODE_VADDR(entry)));
	if (entry & UNWIND_EXACT)
		return node_intern(t, parent, HYB_NODE_LEAF, entry & ~UNWIND_EXACT);
	return node_intern(t, parent, HYB_NODE_CALL, entry);
}

uint32_t path_intern(struct thread *t, const struct unwind *u)
{
	const uint64_t *code = u->code + u->max - u->count; /* outermost first */
	uint32_t node = t->top->node, same = 0;

	/* Consecutive samples share most of their path. */
	if (node == t->last_base)
		while (same < u->count && same < t->last_count && code[same] == t->keys[same])
			same++;
	t->last_base = node;
	if (same)
		node = t->path[same - 1];
	for (t->last_count = same; t->last_count < u->count && node; t->last_count++) {
		node = intern_entry(t, node, code[t->last_count]);
		t->keys[t->last_count] = code[t->last_count];
		t->path[t->last_count] = node;
	}
	if (!node)
		t->last_base = t->last_count = 0;
	return node;
}

void path_walk(struct thread *t, struct unwind *u)
{
	struct snippets snippets = {t, t->loc->depth};
	uintptr_t sp = arch_sp(u->context);

	u->next_snippet = next_snippet;
	u->gone = snippet_gone;
	u->data = &snippets;
	u->thread_lo = t->stack_lo;
	u->thread_hi = t->stack_hi;
	u->code = t->new_keys;
	u->max = MAX_FRAMES;
	if (sp >= t->stack_lo && sp < t->stack_hi) { /* not on a stack of the program's own making */
		u->stack_lo = u->thread_lo = sp;
		u->stack_hi = t->stack_hi;
	}
	unwind_walk(u);
	u->data = NULL; /* was of this function */
	/* The wrapper that entered a call of MPI is no part of it. */
	if (t->mpi.open == t->top && u->end == UNWIND_SNIPPET && u->count)
		u->count--;
}
