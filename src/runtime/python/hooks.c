#include "hooks.h"

#include <errno.h>

#include "awaits.h"
#include "code.h"
#include "recursion.h"
#include "runtime/probe/filter.h"
#include "runtime/probe/probe.h"
#include "runtime/probe/regions.h"
#include "runtime/thread_name.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline))
#define OUTERMOST 3 /* depth of regions at which a thread of Python begins its own work */

/* A code object's word of ours: its region's key, whose lower three bits are free. 0: not seen yet. */
#define CODE_EXCLUDED 1u
#define CODE_GENERATOR 2u /* its first evaluation, by the caller, only makes the generator: from 3.11 on */
#define CODE_AWAITS 4u /* coroutine or asynchronous generator */
#define CODE_FLAGS 7u

/* co_flags */
#define GENERATORS 0x2a0u /* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR */
#define COROUTINES 0x380u /* the last two, CO_ITERABLE_COROUTINE */

/* What an interpreter hands to the evaluation of a frame. */
enum kind {
	WITHOUT_STATE, /* 3.8 */
	WITH_STATE,
	C_COUNTED, /* from 3.12 on: each evaluation counts against a limit of C recursion */
};

struct call {
	char *state; /* PyThreadState */
	char *frame;
	int throwing;
};

/* Which of our functions calls the next evaluation: each has a frame of its own size. */
enum way {
	COUNTED,
	TIMED,
	OTHER,
	DEEP,
};

typedef void *(*evaluate_without_state)(void *frame, int throwing);
typedef void *(*evaluate_with_state)(void *state, void *frame, int throwing);

struct hooks hooks;

/* ---------------------------------------------------------- code objects */

static uint64_t flags_of(const struct python_layout *l, uintptr_t code)
{
	uint32_t flags = *(const uint32_t *)(code + l->code.flags);

	return (l->frame.owner && flags & GENERATORS ? CODE_GENERATOR : 0) |
	       (flags & COROUTINES ? CODE_AWAITS : 0);
}

static bool is_excluded(uint64_t key)
{
	const struct hyb_def_region *def = region_def(key);
	const char *name = (const char *)(def + 1), *file = name + def->name_len + 1;

	/* The import machinery would stand six times between any two modules. */
	return filter_active() ? filter_excludes_python(file, name)
			       : !strncmp(file, "<frozen importlib", strlen("<frozen importlib"));
}

/*
 * Code that is part of the interpreter's object belongs to all interpreters, and those may have memory of
 * their own, which ends with them.
 */
static bool is_shared(uintptr_t code)
{
	return hooks.several && code >= hooks.image.image_lo && code < hooks.image.image_hi;
}

/*
 * The interpreter would make room for the words of all tools, and call their
 * functions that free a word for each code object that has room for it.
 */
static void set_word(uintptr_t code, uint64_t word)
{
	int64_t **extra = (int64_t **)(code + hooks.code_extra), count = hooks.index + 1;

	if (!*extra) {
		if (is_shared(code))
			return;
		*extra = hooks.allocate(sizeof(**extra) * (size_t)(1 + count));
		if (!*extra)
			return;
		memset(*extra, 0, sizeof(**extra) * (size_t)(1 + count));
		**extra = count;
	}
	if (**extra >= count)
		(*extra)[count] = (int64_t)word;
	else
		hooks.set_word((void *)code, hooks.index, (void *)word);
}

/* The first time that it is seen in this process. 0: no room. */
static NEVER_INLINE uint64_t make_word(uintptr_t code)
{
	int saved = errno;
	uint64_t word = python_code_region(code);

	if (word) {
		word |= is_excluded(word) ? CODE_EXCLUDED : flags_of(python_layout(), code);
		set_word(code, word);
	}
	errno = saved;
	return word;
}

static ALWAYS_INLINE uint64_t word_of(uintptr_t code)
{
	const int64_t *extra = *(const int64_t *const *)(code + hooks.code_extra);

	if (likely(extra && extra[0] > hooks.index)) {
		uint64_t word = (uint64_t)extra[1 + hooks.index];

		if (likely(word >> 48 == rt.epoch && word))
			return word;
	}
	return make_word(code);
}

/* ---------------------------------------------------------------- frames */

static ALWAYS_INLINE void *evaluate(struct call c, enum kind kind, enum way way)
{
	evaluate_with_state next = (evaluate_with_state)hooks.next;
	void *result;
	int32_t spare;

	if (kind == WITHOUT_STATE)
		return ((evaluate_without_state)hooks.next)(c.frame, c.throwing);
	if (kind == WITH_STATE)
		return next(c.state, c.frame, c.throwing);
	spare = recursion_spare(c.state, way, arch_stack_pointer());
	*recursion_left(c.state) += spare;
	result = next(c.state, c.frame, c.throwing);
	*recursion_left(c.state) -= spare;
	return result;
}

static void *interpreter_of(struct call c)
{
	return *(void **)(c.state + python_layout()->thread.interp);
}

static void say_too_deep(void)
{
	if (hooks.too_deep)
		return;
	hooks.too_deep = true;
	store_note(HYB_NOTE_INFO,
		"Python functions that were called when half of the C stack was in use were "
		"not measured: the stack would not have held as many as without measurement");
}

/*
 * Half of the C stack is in use. From 3.11 on calls need no C stack as long as
 * no hook is set, so it is taken away until this one returns. The limit of C
 * recursion is that of a whole stack: not more than half of it is left.
 */
static NEVER_INLINE void *evaluate_deep(struct call c, enum kind kind)
{
	void *interpreter = kind == WITHOUT_STATE ? NULL : interpreter_of(c), *result;
	int32_t less = 0;

	say_too_deep();
	if (!hooks.frame_owner || hooks.get(interpreter) != hooks.own)
		return evaluate(c, kind, DEEP);
	if (kind == C_COUNTED && *recursion_left(c.state) > recursion.most / 2)
		less = *recursion_left(c.state) - recursion.most / 2;
	if (kind == C_COUNTED)
		*recursion_left(c.state) -= less;
	hooks.set(interpreter, hooks.next);
	result = evaluate(c, kind, DEEP);
	if (hooks.get(interpreter) == hooks.next)
		hooks.set(interpreter, hooks.own);
	if (kind == C_COUNTED)
		*recursion_left(c.state) += less;
	return result;
}

/* The measurement is over: the interpreter runs as without us from the next call on. */
static NEVER_INLINE void unhook(struct call c, enum kind kind)
{
	if (kind != WITHOUT_STATE && hooks.get(interpreter_of(c)) == hooks.own)
		hooks.set(interpreter_of(c), hooks.next);
}

static bool is_deep(const struct thread *t)
{
	return (arch_stack_pointer() - t->stack_lo) * 2 < t->stack_hi - t->stack_lo;
}

static NEVER_INLINE void say_switched(void)
{
	if (hooks.switched)
		return;
	hooks.switched = true;
	store_note(HYB_NOTE_WARNING, "stacks are switched inside of Python functions (greenlets): these "
				     "functions are measured up to the switch only");
}

static bool is_python(const struct hyb_node *node)
{
	return node->kind == HYB_NODE_REGION && region_is_python(node->key);
}

/*
 * A region whose frame lay deeper than we are now is not around us: its stack was taken
 * away (greenlets share the thread's stack and swap what is on it). It is left here.
 */
static void leave_behind(struct thread *t, uintptr_t sp)
{
	while (t->top->sp && t->top->sp <= sp && t->loc->depth > 1 && sp < t->stack_hi &&
		t->top->sp >= t->stack_lo && is_python(t->node)) {
		t->loc->faults[HYB_FAULT_NOT_LEFT]++;
		say_switched();
		probe_pop(t, clock_tick());
	}
}

/* Counts the time for which a coroutine was suspended, below its region. */
static NEVER_INLINE void resume(struct thread *t, uint32_t region, struct call c)
{
	uint64_t since = await_end(python_layout(), (uintptr_t)c.frame, c.throwing);
	uint32_t id = since && region ? node_intern(t, region, HYB_NODE_AWAIT, 0) : 0;

	if (id) {
		node_at(id)->count++;
		node_at(id)->inclusive += clock_tick() - since;
	}
}

/* The frame that is called next ends where our stack does: walks stop there, before us. */
static ALWAYS_INLINE struct unwind_snippet snippet(void)
{
	return (struct unwind_snippet){arch_stack_pointer() - 8, 0, 0};
}

/* True if the region is open then, and has to be timed. */
static ALWAYS_INLINE bool enter(struct thread *t, uint64_t key)
{
	const struct hyb_open *top = t->top;

	probe_enter(t, HYB_NODE_REGION, key, snippet());
	return t->top != top;
}

static ALWAYS_INLINE void leave(uint64_t key, bool timed, uint64_t now)
{
	struct thread *t = probe_begin(false);

	if (unlikely(!t))
		return;
	if (unlikely(key >> 48 != rt.epoch)) /* forked inside; its code object may be gone */
		key = t->node->key;
	if (!timed && t->top->skipped & ~HYB_OPEN_SAMPLED) {
		t->top->skipped--;
	} else {
		/* Calls of functions end in order, on one stack. */
		if (unlikely(t->node->key != key) && is_python(t->node))
			say_switched();
		probe_leave(t, HYB_NODE_REGION, key, timed ? now : clock_tick());
	}
	probe_end(t);
}

/* Leaves the region of a call that was only counted. */
static NEVER_INLINE void leave_counted(uint64_t key)
{
	leave(key, false, 0);
}

/* Leaves the region of a call that was timed, in a thread that is not as it was. */
static NEVER_INLINE void leave_opened(uint64_t key, uint64_t now)
{
	leave(key, true, now);
}

static ALWAYS_INLINE bool is_ready(const struct thread *t)
{
	return t && t->state == THREAD_READY && !atomic_load_explicit(&rt.attention, memory_order_relaxed);
}

/*
 * A call that is only counted. The thread need not be busy for it: what a sample
 * that is taken between reads was not changed, or by one instruction.
 */
static ALWAYS_INLINE void *evaluate_counted(
	struct thread *t, struct hyb_node *node, struct call c, enum kind kind, uint64_t key)
{
	void *result;

	node->count++;
	node->skipped++;
	t->top->skipped++;
	result = evaluate(c, kind, COUNTED);
	t = self; /* another one after a fork */
	if (likely(is_ready(t) && t->top->skipped & ~HYB_OPEN_SAMPLED))
		t->top->skipped--;
	else
		leave_counted(key);
	return result;
}

/* All that is not a call of a plain function in a thread that is ready. */
static ALWAYS_INLINE void *evaluate_other(struct call c, enum kind kind, uint64_t word)
{
	uint64_t key = word & ~(uint64_t)CODE_FLAGS, now;
	struct thread *t = self;
	bool timed = false;
	void *result;

	if (t && is_deep(t))
		return evaluate_deep(c, kind);
	if (!word || word & CODE_EXCLUDED) {
		if (t && t->state != THREAD_NONE)
			t->loc->python_left_out++;
		return evaluate(c, kind, OTHER);
	}
	if (word & CODE_GENERATOR && c.frame[hooks.frame_owner] != PYTHON_OWNED_BY_GENERATOR)
		return evaluate(c, kind, OTHER);
	t = probe_begin(true);
	if (t) {
		leave_behind(t, arch_stack_pointer());
		if (t->loc->depth <= OUTERMOST)
			thread_name_look(t, clock_tick());
		timed = enter(t, key);
		if (word & CODE_AWAITS)
			resume(t, timed ? t->top->node : t->node->hot, c);
		probe_end(t);
	} else if (!atomic_load(&rt.on))
		unhook(c, kind);
	result = evaluate(c, kind, OTHER);
	now = clock_tick();
	if (word & CODE_AWAITS)
		await_begin(python_layout(), (uintptr_t)c.frame, result, now);
	leave(key, timed, now);
	return result;
}

/* A plain function that was called from here before; the thread is ready. */
static ALWAYS_INLINE void *evaluate_timed(struct call c, enum kind kind, struct hyb_node *node)
{
	struct thread *t = self;
	struct hyb_open *open = t->top + 1;
	uint64_t key = node->key, now;
	void *result;

	thread_busy(t);
	node->count++;
	probe_open(t, t->node->hot, node, open, snippet(), 0);
	thread_ready(t);
	result = evaluate(c, kind, TIMED);
	now = clock_tick();
	t = self; /* another one after a fork */
	if (unlikely(!is_ready(t) || t->top != open || open->skipped & ~HYB_OPEN_SAMPLED)) {
		leave_opened(key, now);
		return result;
	}
	thread_busy(t);
	probe_pop(t, now);
	thread_ready(t);
	return result;
}

typedef void *(*evaluate_timed_function)(void *state, void *frame, int throwing, struct hyb_node *node);
typedef void *(*evaluate_function)(void *state, void *frame, int throwing, uint64_t word);

/* The short way through takes little of the C stack: the longer ones are functions of their own. */
static ALWAYS_INLINE void *hook(
	struct call c, enum kind kind, evaluate_timed_function timed, evaluate_function other)
{
	uint64_t word = word_of(python_word((uintptr_t)c.frame, hooks.frame_code));
	struct thread *t = self;
	struct hyb_node *node;

	if (unlikely(!word || word & CODE_FLAGS || !is_ready(t) || is_deep(t) ||
		     t->top->sp - 1 < arch_stack_pointer()))
		return other(c.state, c.frame, c.throwing, word);
	node = node_at(t->node->hot);
	if (unlikely(node->key != word || node->kind != HYB_NODE_REGION || t->top == t->limit))
		return other(c.state, c.frame, c.throwing, word);
	if (node->flags & HYB_NODE_DEMOTED)
		return evaluate_counted(t, node, c, kind, word);
	return timed(c.state, c.frame, c.throwing, node);
}

/* The same for each kind. The profile knows these functions by their names: what was sampled there is our
 * cost. */
#define HOOK(name, kind, state, ...) \
	static NEVER_INLINE void *python_hook_timed_##name( \
		void *s, void *frame, int throwing, struct hyb_node *node) \
	{ \
		return evaluate_timed((struct call){s, frame, throwing}, kind, node); \
	} \
	static NEVER_INLINE void *python_hook_other_##name( \
		void *s, void *frame, int throwing, uint64_t word) \
	{ \
		return evaluate_other((struct call){s, frame, throwing}, kind, word); \
	} \
	static void *python_hook_##name(__VA_ARGS__) \
	{ \
		return hook((struct call){state, frame, throwing}, kind, python_hook_timed_##name, \
			python_hook_other_##name); \
	}

HOOK(without_state, WITHOUT_STATE, NULL, void *frame, int throwing)
HOOK(with_state, WITH_STATE, state, void *state, void *frame, int throwing)
HOOK(c_counted, C_COUNTED, state, void *state, void *frame, int throwing)

void *hooks_function(const struct python_layout *l)
{
	return l->interp_eval_frame    ? (void *)python_hook_without_state
	       : l->thread.c_recursion ? (void *)python_hook_c_counted
				       : (void *)python_hook_with_state;
}
