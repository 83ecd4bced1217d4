#include "frames.h"

#include <string.h>

#include "code.h"
#include "python.h"
#include "runtime/memory.h"
#include "runtime/thread.h"
#include "runtime/unwind.h"

#define FRAME_MAX 128u /* bytes of a frame that are looked at */
#define MAX_CHAIN 100000u /* frames of a thread that are followed to find an evaluation's last */
#define FEW_CHUNKS 8u
#define COMPILE_NS 10000.0 /* a function is not compiled, made and called in less */
#define BEYOND_EVALUATION 5u /* frames that its begin and end may have called, and its own */

struct frame {
	uintptr_t code, previous;
	uint32_t instruction; /* byte offset / 2 + 1; 0: not begun */
	uint8_t owner;
	bool entry;
	bool copied; /* from anywhere */
};

/*
 * Whether an address is in the part of the thread's data stack that is in use. A walk goes to
 * older chunks, so it is looked for from the last one on, but not far: a generator's frame is in none.
 */
static bool in_data_stack(struct python_walk *p, const struct python_layout *l, uintptr_t address)
{
	uintptr_t chunk = p->chunk, end = p->chunk_end;

	for (uint32_t i = 0; chunk && i < FEW_CHUNKS; i++) {
		if (address >= chunk + l->chunk.data && address + l->frame.size <= end) {
			p->chunk = chunk;
			p->chunk_end = end;
			return true;
		}
		chunk = python_word(chunk, l->chunk.previous);
		end = chunk ? chunk + python_word(chunk, l->chunk.size) : 0;
	}
	return false;
}

static bool is_mapped(struct python_walk *p, const struct python_layout *l, uintptr_t address)
{
	return p->calling || l->chain == PYTHON_FRAME_OBJECTS || /* linked only while whole */
	       in_data_stack(p, l, address) ||
	       (address >= p->stack_lo && address + l->frame.size <= p->stack_hi);
}

/* The bytes of a frame: in place where they must be readable, else copied. NULL: there is no frame. */
static const char *frame_bytes(
	struct python_walk *p, const struct python_layout *l, uintptr_t address, char *copy)
{
	if (!address || address % 8)
		return NULL;
	if (is_mapped(p, l, address))
		return (const char *)address;
	return memory_copy(copy, address, l->frame.size) ? copy : NULL; /* in a generator */
}

static uint32_t instruction_of(const struct python_layout *l, const char *bytes, uintptr_t code)
{
	int64_t offset; /* in bytes */
	int32_t number;

	if (l->instruction == PYTHON_POINTER) {
		offset = (int64_t)(python_word((uintptr_t)bytes, l->frame.instruction) - code -
				   l->code.instructions);
	} else {
		memcpy(&number, bytes + l->frame.instruction, sizeof(number));
		offset = l->instruction == PYTHON_OFFSET_UNITS ? (int64_t)number * 2 : number;
	}
	offset = offset < 0 ? 0 : offset / 2 + 1;
	return offset < 0xffffff ? (uint32_t)offset : 0;
}

static bool read_frame(
	struct python_walk *p, const struct python_layout *l, uintptr_t address, struct frame *ret)
{
	char copy[FRAME_MAX];
	const char *bytes = frame_bytes(p, l, address, copy);

	if (!bytes)
		return false;
	ret->code = python_word((uintptr_t)bytes, l->frame.code);
	ret->previous = python_word((uintptr_t)bytes, l->frame.previous);
	ret->instruction = instruction_of(l, bytes, ret->code);
	ret->owner = l->frame.owner ? (uint8_t)bytes[l->frame.owner] : 0;
	ret->entry = l->frame.is_entry && bytes[l->frame.is_entry];
	ret->copied = bytes == copy;
	return true;
}

/* ------------------------------------------------------------- the walk */

static void lose(struct python_walk *p)
{
	p->lost = p->lost || p->frame;
	p->frame = 0;
	p->mark = UINTPTR_MAX;
}

/* What was read is a frame: not what the memory held before, or holds since. */
static bool is_frame(const struct frame *f)
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
	struct frame f;

	for (uint32_t i = 0; i < MAX_FRAMES; i++, at = f.previous) {
		if (!at || !read_frame(p, l, at, &f) || !is_frame(&f)) {
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
		struct frame f;
		uintptr_t first;

		if (cframe < p->stack_lo || cframe >= p->stack_hi || cframe % 8)
			return; /* the last one is in the thread state itself */
		first = python_word(cframe, l->cframe.frame);
		if (first && first != outer_frame(p, l, cframe) && read_frame(p, l, first, &f) &&
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
	struct frame shim, outer;

	if (p->lost || p->deep || !read_frame(p, l, p->mark, &shim) || !shim.previous)
		return p->lost;
	return !read_frame(p, l, shim.previous, &outer) || !is_frame(&outer);
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
static bool put_frame(struct python_walk *p, struct unwind *u, const struct frame *f)
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

/* Puts the frames of the evaluation into the walk (or passes over them) and goes on to the next one. */
static void place_evaluation(struct python_walk *p, struct unwind *u, uintptr_t last, bool put)
{
	const struct python_layout *l = python_layout();
	uintptr_t outer = p->cframe ? outer_frame(p, l, p->cframe) : 0;
	bool stopped = !put;
	struct frame f;

	for (uint32_t i = 0; i < MAX_CHAIN; i++) {
		uintptr_t at = p->frame;

		if (!read_frame(p, l, at, &f)) {
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
	if (l->thread.stack_chunk) {
		p->chunk = python_word((uintptr_t)p->state, l->thread.stack_chunk);
		p->chunk_end = python_word((uintptr_t)p->state, l->thread.stack_top);
	}
	return true;
}

void python_walk_begin(struct python_walk *p, uintptr_t stack_lo, uintptr_t stack_hi)
{
	const struct python_layout *l = python_layout();

	if (!find_state(p, l, stack_lo, stack_hi))
		return;
	p->evaluation = python.evaluation;
	if (l->thread.cframe)
		find_cframe(p, l, python_word((uintptr_t)p->state, l->thread.cframe));
	else
		p->frame = python_word((uintptr_t)p->state, l->thread.frame);
	if (l->chain == PYTHON_SHIMS && p->frame)
		find_shim(p, l);
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

/* The same, where evaluations leave no address: only a region that a frame entered says where it is. */
static void path_of_objects(struct python_walk *p, struct unwind *u, const struct hyb_open *top, bool is_root)
{
	const struct python_layout *l = python_layout();
	uintptr_t last = top->ra == UNWIND_IN_PYTHON ? top->fp : 0, at;
	struct frame f;

	for (at = is_root || last ? p->frame : 0; at; at = at == last ? 0 : f.previous)
		if (!read_frame(p, l, at, &f) || !put_frame(p, u, &f))
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

/* What the frame has of its instruction: the lower half of an address tells two of the same code apart. */
static uint32_t instruction_word(const struct python_layout *l, uintptr_t frame)
{
	return *(const uint32_t *)(frame + l->frame.instruction);
}

int python_keep(const struct python_walk *walked, const struct unwind *u, const struct hyb_open *top,
	struct python_place *places, uint32_t max)
{
	const struct python_layout *l = python_layout();
	uintptr_t last = top->ra == UNWIND_IN_PYTHON ? top->fp : 0, at;
	size_t next = u->max;
	struct python_walk p;
	struct frame f;
	uint32_t n = 0;

	if (walked->lost || walked->unmatched || walked->deep ||
		!find_state(&p, l, walked->stack_lo, walked->stack_hi))
		return -1;
	p.calling = true;
	for (at = has_more(u, next) ? innermost(l, p.state) : 0; at && at != walked->frame; n++) {
		uint64_t key = 0;

		if (n == max || !read_frame(&p, l, at, &f))
			return -1;
		if (f.owner != PYTHON_OWNED_BY_C_STACK) {
			key = python_code_line(f.code, f.instruction);
			if (!key || (!python_code_internal(f.code) && !is_next(u, &next, key)))
				return -1;
		}
		places[n] = (struct python_place){at, f.code, key, instruction_word(l, at)};
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
	if (at && at % 8 == 0 && is_mapped(p, l, at))
		at ^= (uintptr_t)instruction_word(l, at) << 16;
	return at;
}

/* Whether the code at the place is what it was: code that was freed may have made room for other code. */
static bool is_code_of(const struct python_place *place)
{
	uint32_t instruction = instruction_of(python_layout(), (const char *)place->frame, place->code);

	return !place->key || python_code_line(place->code, instruction) == place->key;
}

/*
 * What code is made of costs ten times as much to compare as its address. So that is done for the innermost
 * frame, and for all when so much time has passed that code could be compiled, and called.
 */
bool python_same(struct python_walk *p, const struct python_place *places, uint32_t count, uint64_t *checked)
{
	const struct python_layout *l = python_layout();
	const size_t code = l->frame.code, previous = l->frame.previous, instruction = l->frame.instruction;
	uint64_t now = clock_tick();
	uint32_t whole = (double)(now - *checked) * rt.tick_ns < COMPILE_NS ? 1 : count;

	if (p->frame != places[0].frame)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uintptr_t at = places[i].frame; /* not what was read: so no load waits for another one */

		if (python_word(at, code) != places[i].code ||
			*(const uint32_t *)(at + instruction) != places[i].word ||
			(i + 1 < count && python_word(at, previous) != places[i + 1].frame))
			return false;
	}
	for (uint32_t i = 0; i < whole; i++)
		if (!is_code_of(&places[i]))
			return false;
	if (whole == count)
		*checked = now;
	return true;
}

/* ------------------------------------------- one evaluation, one frame */

/* How many frames the thread has. */
static uint32_t count_frames(const struct python_walk *p, const struct python_layout *l)
{
	uint32_t n = 0;

	for (uintptr_t at = p->frame; at && n < MAX_CHAIN; n++)
		at = python_word(at, l->frame.previous);
	return n;
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
	uint32_t n = 0;

	for (uintptr_t at = p->frame; at && n < MAX_CHAIN; at = python_word(at, l->frame.previous)) {
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
	uint32_t inside = p->inside < p->evaluations ? p->inside : p->evaluations;
	uint32_t frames = whole ? count_frames(p, l) : p->evaluations, unlinked = p->evaluations - frames;
	uintptr_t at = p->frame;

	if (!at) {
		forget_evaluations(u);
		return;
	}
	inside = inside > unlinked ? inside - unlinked : 0;
	if (p->last && unlinked <= 1 && place_in_chain(p, l, p->last)) {
		inside = place_in_chain(p, l, p->last);
		cut_outside(u, inside + unlinked);
	}
	p->unmatched = unlinked > 1 || (unlinked && !is_innermost(u));
	make_room(u, &inside);
	for (uint32_t i = 0; !p->unmatched && i < inside; i++) {
		struct frame f;
		uint64_t key = at && read_frame(p, l, at, &f) ? python_code_line(f.code, f.instruction) : 0;

		if (!key) {
			p->lost = true;
			break;
		}
		u->code[i] = UNWIND_PYTHON | key;
		at = f.previous;
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
