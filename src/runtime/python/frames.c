#include "frames.h"

#include <string.h>

#include "code.h"
#include "frame.h"
#include "python.h"
#include "runtime/memory.h"
#include "runtime/thread.h"
#include "runtime/unwind/unwind.h"

#define MAX_CHAIN 100000u /* frames of a thread that are followed to find an evaluation's last */
#define COMPILE_NS 10000.0 /* a function is not compiled, made and called in less */
#define BEYOND_EVALUATION 5u /* frames that its begin and end may have called, and its own */

/* ------------------------------------------------------------- the walk */

static void lose(struct python_walk *p)
{
	p->lost = p->lost || p->frame;
	p->frame = 0;
	p->mark = UINTPTR_MAX;
}

/* What was read is a frame: not what the memory held before, or holds since. */
static bool is_frame(const struct python_frame *f)
{
	return f->owner == PYTHON_OWNED_BY_C_STACK || python_code_region(f->code);
}

/*
 * Finds the shim that ends the frames of the evaluation at p->frame: it lies in its C frame.
 * Of more frames than any path can have the evaluation is the next one outwards.
 */
static void find_shim(struct python_walk *p, const struct python_layout *l)
{
	uintptr_t at = p->frame, chunk = p->chunk, chunk_end = p->chunk_end;
	struct python_frame f;

	for (uint32_t i = 0; i < MAX_FRAMES; i++, at = f.previous) {
		if (!at || !python_frame_read(p, l, at, &f) || !is_frame(&f)) {
			lose(p);
			return;
		}
		if (f.owner == PYTHON_OWNED_BY_C_STACK) {
			p->mark = at;
			break;
		}
	}
	p->deep = p->mark == UINTPTR_MAX;
	p->chunk = chunk;
	p->chunk_end = chunk_end;
}

/* Where the evaluation outside of this _PyCFrame's is; 0: nowhere, or its frames have a shim between. */
static uintptr_t outer_frame(const struct python_walk *p, const struct python_layout *l, uintptr_t cframe)
{
	uintptr_t outer = l->chain == PYTHON_ENTRY_FLAGS ? python_word(cframe, l->cframe.previous) : 0;

	return outer > cframe && outer < p->stack_hi && outer % 8 == 0 ? python_word(outer, l->cframe.frame)
								       : 0;
}

/*
 * The evaluation whose _PyCFrame this is; passes over one that has no frame yet. What stands there
 * then may be the frame of a generator that was freed since, code and all, or at its end the frame outside.
 */
static void find_cframe(struct python_walk *p, const struct python_layout *l, uintptr_t cframe)
{
	p->frame = 0;
	p->mark = UINTPTR_MAX;
	for (uint32_t i = 0; i < MAX_CHAIN; i++) {
		struct python_frame f;
		uintptr_t first;

		if (cframe < p->stack_lo || cframe >= p->stack_hi || cframe % 8)
			return; /* the last one is in the thread state itself */
		first = python_word(cframe, l->cframe.frame);
		if (first && first != outer_frame(p, l, cframe) && python_frame_read(p, l, first, &f) &&
			(!f.copied || python_code_exists(f.code)) && is_frame(&f)) {
			p->frame = first;
			p->cframe = p->mark = cframe;
			return;
		}
		if (python_word(cframe, l->cframe.previous) <= cframe)
			return;
		cframe = python_word(cframe, l->cframe.previous);
	}
}

/* Whether the innermost evaluation is about to begin: its C frame still holds what was there before. */
static bool is_beginning(struct python_walk *p, const struct python_layout *l)
{
	struct python_frame shim, outer;

	if (p->lost || p->deep || !python_frame_read(p, l, p->mark, &shim) || !shim.previous)
		return p->lost;
	return !python_frame_read(p, l, shim.previous, &outer) || !is_frame(&outer);
}

/* Goes on to the evaluation outside of the one whose last frame was read. */
static void next_evaluation(struct python_walk *p, const struct python_layout *l, uintptr_t previous)
{
	if (l->chain == PYTHON_ENTRY_FLAGS) {
		find_cframe(p, l, python_word(p->cframe, l->cframe.previous));
		return;
	}
	p->frame = previous;
	p->mark = UINTPTR_MAX;
	if (previous)
		find_shim(p, l);
}

/* False: that was the last one; there is no more room, or it is none. */
static bool put_frame(struct python_walk *p, struct unwind *u, const struct python_frame *f)
{
	uint64_t key;

	if (u->count + 1 >= u->max) { /* one is for the gap, which native frames will find */
		p->frame = 0;
		p->mark = UINTPTR_MAX;
		return false;
	}
	key = python_code_line(f->code, f->instruction);
	if (!key) {
		lose(p);
		return false;
	}
	if (python_code_internal(f->code))
		return true;
	u->code[u->max - ++u->count] = UNWIND_PYTHON | key;
	p->placed++;
	return true;
}

static void place_frames(struct python_walk *p, struct unwind *u, uintptr_t last, bool put)
{
	const struct python_layout *l = python_layout();
	uintptr_t outer = p->cframe ? outer_frame(p, l, p->cframe) : 0;
	bool stopped = !put;
	struct python_frame f;

	for (uint32_t i = 0; i < MAX_CHAIN; i++) {
		uintptr_t at = p->frame;

		if (!python_frame_read(p, l, at, &f)) {
			lose(p);
			return;
		}
		if (f.owner == PYTHON_OWNED_BY_C_STACK) {
			next_evaluation(p, l, f.previous);
			return;
		}
		if (!stopped && !put_frame(p, u, &f))
			return;
		stopped |= at == last;
		/* An evaluation that begins has yet to mark its frame. */
		if (f.entry || (f.previous && f.previous == outer)) {
			next_evaluation(p, l, f.previous);
			return;
		}
		p->frame = f.previous;
		if (!p->frame) {
			p->mark = UINTPTR_MAX;
			return;
		}
	}
	lose(p); /* a circle */
}

/* At the innermost frame of `p->state`. */
static void begin_state(struct python_walk *p, const struct python_layout *l)
{
	if (l->thread.stack_chunk) {
		p->chunk = python_word((uintptr_t)p->state, l->thread.stack_chunk);
		p->chunk_end = python_word((uintptr_t)p->state, l->thread.stack_top);
	}
	if (l->thread.cframe)
		find_cframe(p, l, python_word((uintptr_t)p->state, l->thread.cframe));
	else
		p->frame = python_word((uintptr_t)p->state, l->thread.frame);
	if (l->chain == PYTHON_SHIMS && p->frame)
		find_shim(p, l);
}

/* Puts the frames of the evaluation into the walk (or passes over them) and goes on to the next one. */
static void place_evaluation(struct python_walk *p, struct unwind *u, uintptr_t last, bool put)
{
	place_frames(p, u, last, put);
	if (p->frame || p->lost || !p->outer)
		return;
	p->state = p->outer;
	p->outer = NULL;
	begin_state(p, python_layout());
}

bool python_walk_pass(struct python_walk *p, struct unwind *u, uintptr_t sp, uintptr_t reach, uintptr_t last)
{
	/* What lies below this frame was left behind: a stack was switched, or another one is walked. */
	while (p->mark < sp && sp < p->stack_hi && sp >= p->stack_lo) {
		p->unmatched = true;
		place_evaluation(p, u, 0, false);
	}
	if (p->mark < sp || p->mark >= reach)
		return false;
	place_evaluation(p, u, last, true);
	return true;
}

/* Of the calling thread, at no frame yet. False: it runs no Python. */
static bool find_state(
	struct python_walk *p, const struct python_layout *l, uintptr_t stack_lo, uintptr_t stack_hi)
{
	*p = (struct python_walk){
		.mark = UINTPTR_MAX, .stack_lo = stack_lo, .stack_hi = stack_hi, .inside = UINT32_MAX};
	p->state = l ? python_own_state(&p->has_gil) : NULL;
	if (!p->state)
		return false;
	p->counted = l->chain == PYTHON_FRAME_OBJECTS;
	return true;
}

void python_walk_begin(struct python_walk *p, uintptr_t stack_lo, uintptr_t stack_hi)
{
	const struct python_layout *l = python_layout();

	if (!find_state(p, l, stack_lo, stack_hi))
		return;
	p->evaluation = python.evaluation;
	p->outer = python_outer_state(p->state);
	p->inner = p->counted && !p->has_gil ? (const char *)python.current_state() : NULL;
	begin_state(p, l);
	if (l->chain == PYTHON_SHIMS && p->cframe && is_beginning(p, l)) {
		p->lost = false;
		find_cframe(p, l, python_word(p->cframe, l->cframe.previous));
		if (p->frame)
			find_shim(p, l);
	}
}

static uintptr_t innermost(const struct python_layout *l, const char *state)
{
	uintptr_t cframe;

	if (l->thread.frame)
		return python_word((uintptr_t)state, l->thread.frame);
	cframe = python_word((uintptr_t)state, l->thread.cframe);
	return cframe ? python_word(cframe, l->cframe.frame) : 0;
}

uintptr_t python_frame(void)
{
	const struct python_layout *l = python_layout();
	bool has_gil;
	const char *state = l ? python_own_state(&has_gil) : NULL;

	return state ? innermost(l, state) : 0;
}

/* The same, where evaluations leave no address: only a region that a frame entered shows where it is. */
static void path_of_objects(struct python_walk *p, struct unwind *u, const struct hyb_open *top, bool is_root)
{
	const struct python_layout *l = python_layout();
	uintptr_t last = top->ra == UNWIND_IN_PYTHON ? top->fp : 0, at;
	struct python_frame f;

	for (at = is_root || last ? p->frame : 0; at; at = at == last ? 0 : f.previous)
		if (!python_frame_read(p, l, at, &f) || !put_frame(p, u, &f))
			break;
}

void python_path(struct unwind *u, const struct hyb_open *top, bool is_root)
{
	bool in_python = top->ra == UNWIND_IN_PYTHON, inside = true;
	struct python_walk p;

	python_walk_begin(&p, u->thread_lo, u->thread_hi);
	if (p.counted) {
		path_of_objects(&p, u, top, is_root);
		return;
	}
	while (p.frame && inside) {
		inside = is_root || p.mark < top->sp;
		if (!inside && !in_python)
			break;
		place_evaluation(&p, u, inside ? 0 : top->fp, true);
	}
}

/* ------------------------------------------------ a chain that is known again */

/* Whether `key` is the next of the walk's Python frames, outwards; *at then stands behind it. */
static bool is_next(const struct unwind *u, size_t *at, uint64_t key)
{
	while (*at > u->max - u->count && !(u->code[*at - 1] & UNWIND_PYTHON))
		--*at;
	return *at > u->max - u->count && u->code[--*at] == (UNWIND_PYTHON | key);
}

static bool has_more(const struct unwind *u, size_t at)
{
	while (at > u->max - u->count)
		if (u->code[--at] & UNWIND_PYTHON)
			return true;
	return false;
}

/* The instruction of a frame, and of which code: an address has that in it. */
static inline uint64_t instruction_of(const struct python_layout *l, uintptr_t frame)
{
	uint64_t code;

	if (likely(l->instruction == PYTHON_POINTER))
		return python_word(frame, l->frame.instruction);
	code = python_word(frame, l->frame.code);
	return (code << 32 | code >> 32) ^ *(const uint32_t *)(frame + l->frame.instruction);
}

int python_keep(const struct python_walk *walked, const struct unwind *u, const struct hyb_open *top,
	struct python_place *places, uint32_t max)
{
	const struct python_layout *l = python_layout();
	uintptr_t last = top->ra == UNWIND_IN_PYTHON ? top->fp : 0, at;
	size_t next = u->max;
	struct python_walk p;
	struct python_frame f;
	uint32_t n = 0;

	if (walked->lost || walked->unmatched || walked->deep ||
		!find_state(&p, l, walked->stack_lo, walked->stack_hi))
		return -1;
	p.calling = true;
	for (at = has_more(u, next) ? innermost(l, p.state) : 0; at && at != walked->frame; n++) {
		uint64_t key = 0;

		if (n == max || !python_frame_read(&p, l, at, &f))
			return -1;
		if (f.owner != PYTHON_OWNED_BY_C_STACK) {
			key = python_code_line(f.code, f.instruction);
			if (!key || (!python_code_internal(f.code) && !is_next(u, &next, key)))
				return -1;
		}
		places[n] = (struct python_place){at, instruction_of(l, at), key};
		at = at == last ? 0 : f.previous;
	}
	return has_more(u, next) ? -1 : (int)n;
}

uint64_t python_here(struct python_walk *p, uintptr_t stack_lo, uintptr_t stack_hi)
{
	const struct python_layout *l = python_layout();
	uintptr_t at;

	if (!find_state(p, l, stack_lo, stack_hi))
		return 0;
	p->calling = true;
	p->frame = at = innermost(l, p->state);
	if (at && at % 8 == 0 && python_frame_mapped(p, l, at))
		at ^= instruction_of(l, at) << 16;
	return at;
}

/* Whether the frame at the place is where it was: code that was freed may have made room for other code. */
static bool is_line_of(struct python_walk *p, const struct python_layout *l, const struct python_place *place)
{
	struct python_frame f;

	return !place->key || (python_frame_read(p, l, place->frame, &f) &&
				      python_code_line(f.code, f.instruction) == place->key);
}

/*
 * What code is made of costs ten times as much to compare as its address. So that is done for the innermost
 * frame, and for all when so much time has passed that code could be compiled, and called.
 */
bool python_same(struct python_walk *p, const struct python_place *places, uint32_t count, uint64_t *checked,
	uint64_t *ret_now)
{
	const struct python_layout *l = python_layout();
	uint64_t now;

	if (p->frame != places[0].frame)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uintptr_t at = places[i].frame; /* not what was read: so no load waits for another one */

		if (instruction_of(l, at) != places[i].instruction ||
			(i + 1 < count && python_word(at, l->frame.previous) != places[i + 1].frame))
			return false;
	}
	if (!is_line_of(p, l, &places[0]))
		return false;
	now = clock_tick();
	if ((double)(now - *checked) * rt.tick_ns < COMPILE_NS) {
		*ret_now = now;
		return true;
	}
	for (uint32_t i = 1; i < count; i++)
		if (!is_line_of(p, l, &places[i]))
			return false;
	*checked = now;
	return true;
}

/* ------------------------------------------- one evaluation, one frame */

/* The frame outside of one whose `previous` is given. */
static uintptr_t outwards(uintptr_t previous, uintptr_t *beyond)
{
	uintptr_t next = previous ? previous : *beyond;

	if (!previous)
		*beyond = 0;
	return next;
}

/* How many frames the thread has. */
static uint32_t count_frames(const struct python_walk *p, const struct python_layout *l)
{
	uintptr_t beyond = p->beyond;
	uint32_t n = 0;

	for (uintptr_t at = p->frame; at && n < MAX_CHAIN; n++)
		at = outwards(python_word(at, l->frame.previous), &beyond);
	return n;
}

/*
 * More evaluations are on the stack than the thread's own state has frames: if the state that the interpreter
 * runs now has the others, this thread runs it, a sub-interpreter called from here. Else it is another
 * thread's, which may change it meanwhile.
 */
static void enter_inner(struct python_walk *p, const struct python_layout *l)
{
	uint32_t more = p->evaluations - count_frames(p, l), n = 0;
	uintptr_t first = 0, at;

	if (!p->inner || more < 2 || more > p->evaluations ||
		!memory_copy(&first, (uintptr_t)p->inner + l->thread.frame, sizeof(first)))
		return;
	for (at = first; at && n < more; n++)
		if (at % 8 || !memory_copy(&at, at + l->frame.previous, sizeof(at)))
			return;
	if (at || n + 1 < more)
		return;
	p->beyond = p->frame;
	p->frame = first;
	p->has_gil = true;
}

/*
 * Puts frames, innermost first at the start of code[], between the native ones
 * that are marked as evaluations: all move outwards to make room.
 */
static void weave(struct unwind *u, uint32_t frames)
{
	size_t first = u->max - u->count, to = first - frames;

	for (size_t i = first; i < u->max; i++) {
		uint64_t native = u->code[i];

		if (native & UNWIND_EVALUATION && frames)
			u->code[to++] = u->code[--frames];
		u->code[to++] = native & ~UNWIND_EVALUATION;
	}
}

/* The place of a frame in the chain, from 1; 0: it is not there any more. */
static uint32_t place_in_chain(const struct python_walk *p, const struct python_layout *l, uintptr_t frame)
{
	uintptr_t at = p->frame, beyond = p->beyond;
	uint32_t n = 0;

	for (; at && n < MAX_CHAIN; at = outwards(python_word(at, l->frame.previous), &beyond)) {
		n++;
		if (at == frame)
			return n;
	}
	return 0;
}

/* Leaves out what is outside of the evaluation of this number, the innermost being 1. */
static void cut_outside(struct unwind *u, uint32_t evaluation)
{
	for (size_t i = u->max; i-- > u->max - u->count;)
		if (u->code[i] & UNWIND_EVALUATION && !--evaluation)
			u->count = u->max - i;
}

/* Leaves out outer frames until as many Python frames fit in, twice, and a gap. */
static void make_room(struct unwind *u, uint32_t *frames)
{
	while (u->count + 2 * (size_t)*frames >= u->max) {
		*frames -= u->code[u->max - u->count] & UNWIND_EVALUATION ? 1 : 0;
		u->count--;
		u->end = UNWIND_TOO_DEEP;
	}
}

static void forget_evaluations(struct unwind *u)
{
	for (size_t i = u->max - u->count; i < u->max; i++)
		u->code[i] &= ~UNWIND_EVALUATION;
}

/* Whether an evaluation was interrupted, or what it calls at its begin and end. */
static bool is_innermost(const struct unwind *u)
{
	for (size_t i = 1; i <= BEYOND_EVALUATION && i <= u->count; i++)
		if (u->code[u->max - i] & UNWIND_EVALUATION)
			return true;
	return false;
}

/*
 * Before it links its frame, and after it unlinked it, an evaluation has none: the
 * innermost may be at that point. Any other difference was not understood.
 */
void python_walk_weave(struct python_walk *p, struct unwind *u, bool whole)
{
	const struct python_layout *l = python_layout();
	uint32_t inside = p->inside < p->evaluations ? p->inside : p->evaluations, frames, unlinked;
	uintptr_t at;

	if (whole)
		enter_inner(p, l);
	at = p->frame;
	if (!at) {
		forget_evaluations(u);
		return;
	}
	frames = whole ? count_frames(p, l) : p->evaluations;
	unlinked = p->evaluations - frames;
	inside = inside > unlinked ? inside - unlinked : 0;
	if (p->last && unlinked <= 1 && place_in_chain(p, l, p->last)) {
		inside = place_in_chain(p, l, p->last);
		cut_outside(u, inside + unlinked);
	}
	p->unmatched = unlinked > 1 || (unlinked && !is_innermost(u));
	make_room(u, &inside);
	for (uint32_t i = 0; !p->unmatched && i < inside; i++) {
		struct python_frame f;
		uint64_t key =
			at && python_frame_read(p, l, at, &f) ? python_code_line(f.code, f.instruction) : 0;

		if (!key) {
			p->lost = true;
			break;
		}
		u->code[i] = UNWIND_PYTHON | key;
		at = outwards(f.previous, &p->beyond);
		p->placed++;
	}
	if (p->unmatched || p->lost) {
		p->placed = 0;
		forget_evaluations(u);
		return;
	}
	weave(u, inside);
	u->count += inside;
	p->frame = at;
}

void python_walk_rest(struct python_walk *p, struct unwind *u)
{
	while (p->frame && !p->unmatched && (p->counted || p->mark != UINTPTR_MAX))
		place_evaluation(p, u, 0, true);
}
