#include "unwind.h"

#include <string.h>

#include "cfi.h"
#include "jit_frames.h"
#include "runtime/memory.h"
#include "runtime/python/frames.h"
#include "cache.h"
#include "guess.h"

#define HELPER_STACK 0x100000u /* bytes that helpers of a probe may have used */
#define MAX_EFFORT 1024u /* guesses of some us each: ten samples a second have to be affordable */
#define SEARCH_EFFORT 8u /* where the way that was learned does not lead to the caller */
#define FUNCTION_ALIGNMENT 16u /* at least, of those in the C library */
#define MAX_EVALUATIONS 100000u /* that are counted on a stack */

/* The frame that the walk stands at. */
struct walk {
	struct unwind *u;
	struct cfi_stack stack;
	struct unwind_snippet snippet;
	uintptr_t pc; /* interrupted instruction, or return address */
	uintptr_t sp, fp;
	uintptr_t slot; /* where pc was read, if it is a return address */
	bool exact; /* pc was interrupted, no call is in front of it */
	unsigned effort; /* of guesses so far */
	bool beyond; /* outside of the snippet: evaluations are counted, nothing else */
	bool full; /* all steps by the interpreter: some frame needs other registers */
	bool regs_hold; /* `regs` are this frame's */
	struct cfi_regs regs;
};

enum step { STEP_ON, STEP_STOP, STEP_RESTART };

/* Continues from the registers of an interrupted context. */
static void load_context(struct walk *w, const ucontext_t *context)
{
	arch_registers(context, w->regs.value);
	w->regs.known = UINT32_MAX >> (32 - ARCH_REGISTERS);
	w->regs_hold = true;
	w->pc = arch_pc(context);
	w->sp = w->regs.value[ARCH_SP];
	w->fp = w->regs.value[ARCH_FP];
	w->slot = w->sp - 8;
	w->exact = true;
}

static enum step stop(struct walk *w, enum unwind_end end)
{
	w->u->end = end;
	return STEP_STOP;
}

/* Below a handler's frame lies the context that it interrupted. */
static enum step step_signal(struct walk *w)
{
	const ucontext_t *context = arch_signal_context(w->sp);
	uint64_t first, last;

	if (!cfi_read(&w->stack, (uintptr_t)context, &first) ||
		!cfi_read(&w->stack, arch_context_end(context), &last))
		return stop(w, UNWIND_BAD_STACK);
	load_context(w, context);
	return STEP_ON;
}

static enum step step_to(struct walk *w, uintptr_t cfa, uintptr_t slot, uintptr_t ra, uintptr_t fp)
{
	/* Only a frame that was interrupted may have no more on the stack: its return address is in a
	 * register. */
	if (cfa < w->sp + !w->exact)
		return stop(w, UNWIND_BAD_STACK);
	if (!ra)
		return stop(w, UNWIND_OUTERMOST);
	w->pc = ra;
	w->slot = slot;
	w->sp = cfa;
	w->fp = fp;
	w->exact = false;
	return STEP_ON;
}

static enum step step_rule(struct walk *w, const struct unwind_rule *rule)
{
	uint64_t cfa = (rule->kind == RULE_SP ? w->sp : w->fp) + (uint64_t)(int64_t)rule->cfa, slot, ra,
		 fp = w->fp;

	if (rule->kind == RULE_FP_DEREF && !cfi_read(&w->stack, cfa, &cfa))
		return stop(w, UNWIND_BAD_STACK);
	slot = cfa + (uint64_t)(int64_t)rule->ra_offset;
	if (ARCH_LINK_REGISTER && !rule->ra_offset && w->exact)
		ra = w->regs.value[ARCH_RA];
	else if (!rule->ra_offset || !cfi_read(&w->stack, slot, &ra))
		return stop(w, UNWIND_BAD_STACK);
	if (rule->fp_at_fp) {
		if (!cfi_read(&w->stack, w->fp + (uint64_t)(int64_t)rule->fp_offset, &fp))
			return stop(w, UNWIND_BAD_STACK);
	} else if (rule->fp_offset && !cfi_read(&w->stack, cfa + (uint64_t)(int64_t)rule->fp_offset, &fp))
		return stop(w, UNWIND_BAD_STACK);
	w->regs_hold = false;
	return step_to(w, cfa, slot, arch_address(ra), fp);
}

static enum step step_full(struct walk *w)
{
	struct module_map map;
	struct cfi_row row;
	uintptr_t pc = w->pc - !w->exact, cfa, slot;

	if (!w->regs_hold) {
		w->full = true;
		return STEP_RESTART;
	}
	if (!modules_find(pc, &map) || !(map.made ? jit_frames_find(pc, &row) : cfi_find(&map, pc, &row)))
		return stop(w, UNWIND_NO_RULE);
	cfa = cfi_step(&row, &w->regs, &w->stack);
	if (!cfa)
		return stop(w, UNWIND_BAD_STACK);
	if (!(w->regs.known >> ARCH_RA & 1))
		return stop(w, UNWIND_OUTERMOST);
	slot = cfa + (row.reg[ARCH_RA].kind == CFI_OFFSET ? (uintptr_t)row.reg[ARCH_RA].offset : -8ul);
	return step_to(w, w->regs.value[ARCH_SP], slot, w->regs.value[ARCH_RA], w->regs.value[ARCH_FP]);
}

static enum step step_guess(struct walk *w, const struct unwind_rule *rule)
{
	struct guess_frame frame = {.pc = w->pc,
		.sp = w->sp,
		.fp = w->fp,
		.unsure = rule->kind == RULE_UNMAPPED,
		.exact = w->exact,
		.link = ARCH_LINK_REGISTER && w->exact ? arch_address(w->regs.value[ARCH_RA]) : 0,
		.how = rule->cfa};
	uintptr_t pc = w->pc - !w->exact;

	if (w->stack.hi && w->sp >= w->stack.hi) /* the loader's first instructions */
		return stop(w, UNWIND_OUTERMOST);
	if (w->effort >= MAX_EFFORT)
		return stop(w, UNWIND_TOO_DEEP);
	if (!guess_caller(&frame, &w->stack))
		return stop(w, UNWIND_NO_RULE);
	if (frame.how != rule->cfa)
		unwind_cache_learn(pc, frame.how);
	w->effort += frame.how && frame.how == rule->cfa ? 1 : SEARCH_EFFORT;
	w->u->guessed++;
	w->regs_hold = false;
	return step_to(w, frame.sp, frame.sp - 8, frame.pc, frame.fp);
}

static enum step step(struct walk *w, const struct unwind_rule *rule)
{
	switch (rule->kind) {
	case RULE_END:
		return stop(w, UNWIND_OUTERMOST);
	case RULE_SIGNAL:
		return step_signal(w);
	case RULE_NONE:
	case RULE_UNKNOWN:
	case RULE_UNMAPPED:
		return step_guess(w, rule);
	case RULE_FULL:
		return step_full(w);
	default:
		return w->full && w->regs_hold ? step_full(w) : step_rule(w, rule);
	}
}

/* Where the frame of a snippet's function ended, by its rule alone; 0 if the rule asks for more. */
static uintptr_t snippet_reach(const struct unwind_snippet *s)
{
	struct unwind_rule rule = unwind_rule_at(s->ra - 1);

	return rule.kind == RULE_SP   ? s->sp + (uintptr_t)(intptr_t)rule.cfa
	       : rule.kind == RULE_FP ? s->fp + (uintptr_t)(intptr_t)rule.cfa
				      : 0;
}

bool unwind_up(struct unwind_snippet *s)
{
	struct unwind_rule rule = unwind_rule_at(s->ra - 1);
	uintptr_t cfa = snippet_reach(s);

	if (cfa <= s->sp || rule.fp_at_fp || !rule.ra_offset)
		return false;
	if (rule.fp_offset)
		s->fp = *(const uintptr_t *)(cfa + (uintptr_t)(intptr_t)rule.fp_offset);
	s->ra = arch_address(*(const uintptr_t *)(cfa + (uintptr_t)(intptr_t)rule.ra_offset));
	s->sp = cfa;
	return s->ra != 0;
}

/* Whether a snippet's frame, that ended at `reach`, was on the stack that is walked. */
static bool same_stack(const struct unwind *u, const struct unwind_snippet *s, uintptr_t reach)
{
	return reach > s->sp && reach <= u->stack_hi && s->sp + HELPER_STACK >= u->stack_lo;
}

/*
 * Whether the frame whose rule and CFA (`reach`) these are entered an open probe. If
 * the frame that did is gone, its caller is taken for it. Probes that were
 * entered on another stack are passed over for the next one outwards.
 */
static bool at_snippet(struct walk *w, const struct unwind_rule *rule, uintptr_t reach, bool evaluation)
{
	const struct unwind *u = w->u;
	struct unwind_snippet *s = &w->snippet;

	while (s->sp && reach > s->sp) {
		uintptr_t gone;

		if (s->ra == UNWIND_IN_PYTHON && u->python->counted) {
			u->python->last = s->fp; /* which evaluation is its shows when all are counted */
			return false;
		}
		if (s->ra == UNWIND_IN_PYTHON)
			return evaluation;
		if (!s->ra || (rule->function && rule->function == unwind_rule_at(s->ra - 1).function))
			return true;
		gone = snippet_reach(s);
		if (gone == reach)
			return true; /* another part of the same function, split off by the compiler */
		if (same_stack(u, s, gone)) {
			u->gone(u->data, gone);
			s->sp = gone;
			s->ra = 0;
		} else
			*s = u->next_snippet(u->data);
	}
	return false;
}

/*
 * Nobody calls from here: a function begins at the return address, behind no call. makecontext() has
 * coroutines return to such a one.
 */
static bool is_planted(const struct walk *w)
{
	struct unwind_rule rule;

	if (w->exact || w->pc % FUNCTION_ALIGNMENT)
		return false;
	rule = unwind_rule_at(w->pc);
	return rule.function == w->pc && rule.kind != RULE_SIGNAL && !guess_is_behind_call(w->pc);
}

/* Code that is not known can be read, and is not on the stack. */
static bool can_be_code(const struct walk *w)
{
	return w->pc - w->stack.lo >= w->stack.hi - w->stack.lo && memory_readable(w->pc);
}

/* Puts the frame that the walk stands at. False: no room. */
static bool put(struct walk *w, const struct unwind_rule *rule)
{
	struct unwind *u = w->u;
	struct python_walk *p = u->python;
	uint64_t code = rule->code + !w->exact + (w->exact ? UNWIND_EXACT : 0);

	if (rule->kind == RULE_SIGNAL) /* the trampoline is no frame of anybody's */
		return true;
	if (w->sp < u->from)
		return true;
	if (p && p->counted && rule->function == p->evaluation) {
		p->evaluations++;
		code |= UNWIND_EVALUATION;
	}
	if (w->beyond)
		return p->evaluations < MAX_EVALUATIONS;
	if (u->count + 1 >= u->max) /* one is for the gap */
		return false;
	u->code[u->max - ++u->count] = code;
	if (u->slot)
		u->slot[u->natives++] = w->slot;
	return true;
}

/* Whether the frame from `sp` to where the walk stands now ran Python frames; those are put. */
static bool pass_python(struct walk *w, const struct unwind_rule *rule, uintptr_t sp)
{
	struct python_walk *p = w->u->python;
	const struct unwind_snippet *s = &w->snippet;

	if (!p)
		return false;
	if (p->counted)
		return rule->function == p->evaluation;
	if (p->deep && rule->function == p->evaluation)
		p->mark = sp;
	return w->sp > p->mark &&
	       python_walk_pass(p, w->u, sp, w->sp, s->ra == UNWIND_IN_PYTHON && w->sp > s->sp ? s->fp : 0);
}

/* At a snippet. Counted evaluations are counted to the end of the stack. */
static enum step end_at_snippet(struct walk *w)
{
	struct python_walk *p = w->u->python;

	if (!p || !p->counted || !p->frame)
		return stop(w, UNWIND_SNIPPET);
	p->inside = p->evaluations;
	w->beyond = true;
	return STEP_ON;
}

static void begin(struct walk *w)
{
	struct unwind *u = w->u;
	bool full = w->full;

	load_context(w, u->context);
	u->count = u->natives = u->guessed = 0;
	w->effort = 0;
	w->beyond = false;
	if (u->python)
		python_walk_begin(u->python, u->thread_lo, u->thread_hi);
	w->full = full;
	if (!full)
		w->snippet = u->next_snippet(u->data);
}

static void end(struct walk *w)
{
	struct unwind *u = w->u;
	struct python_walk *p = u->python;
	bool whole = u->end == UNWIND_OUTERMOST;

	if (w->beyond)
		u->end = UNWIND_SNIPPET;
	if (p && p->counted)
		python_walk_weave(p, u, whole); /* may have to cut */
	if (u->end == UNWIND_OUTERMOST && p && !p->counted)
		p->unmatched |= p->frame != 0;
	if (u->end <= UNWIND_OUTERMOST)
		return;
	u->code[u->max - ++u->count] = HYB_CODE(UNWIND_GAP, u->end);
	if (p && !w->beyond && !p->last) /* what is outside of a region is not asked for */
		python_walk_rest(p, u);
}

void unwind_walk(struct unwind *u)
{
	struct walk w = {.u = u, .stack = {.lo = u->stack_lo, .hi = u->stack_hi}};
	enum step next = STEP_RESTART;

	while (next != STEP_STOP) {
		struct unwind_rule rule;
		uintptr_t sp;

		if (next == STEP_RESTART) /* at most twice */
			begin(&w);
		rule = unwind_rule_at(w.pc - !w.exact);
		if (rule.kind != RULE_SIGNAL && is_planted(&w)) {
			stop(&w, UNWIND_OUTERMOST);
			break;
		}
		if (rule.kind == RULE_UNMAPPED && u->count && !can_be_code(&w)) {
			stop(&w, UNWIND_BAD_STACK);
			break;
		}
		if (!put(&w, &rule)) {
			stop(&w, UNWIND_TOO_DEEP);
			break;
		}
		sp = w.sp;
		next = step(&w, &rule);
		if (next == STEP_ON && rule.kind != RULE_SIGNAL && w.sp >= sp && !w.beyond) {
			bool evaluation = pass_python(&w, &rule, sp);

			if (at_snippet(&w, &rule, w.sp, evaluation))
				next = end_at_snippet(&w);
		}
	}
	unwind_cache_check(u->code + u->max - u->count, u->count);
	end(&w);
}
