#include "guess.h"

#include <stdatomic.h>

#include "runtime/memory.h"
#include "cache.h"

#define SCAN_WORDS 128 /* how far from the stack pointer a return address is looked for */
#define MAYBE_WORDS 16 /* the same for calls whose target cannot be checked */
#define MAX_CODE 0x100000 /* bytes from a function's start to code of it */
#define NEAR_CODE 0x1000000 /* code made at run time calls code made at run time so far away */
#define MAX_FRAME 0x10000 /* bytes from the stack pointer to the frame pointer */
#define SITES 2048u

enum credit { NOT_A_CALL = 0, SOME_CALL, CALL_OF_FRAME };

/* ------------------------------------------------------------- call sites */

/* A call in front of an address, as a number. */
#define SITE(kind, target) ((uint64_t)(target) << 3 | (kind))
#define SITE_KIND(site) ((enum arch_call)((site)&7))
#define SITE_TARGET(site) ((uintptr_t)((site) >> 3))

/* Two words that hold together if their difference is the address: written by anybody, without a lock. */
static struct {
	_Atomic(uint64_t) word, site;
} sites[SITES];

void guess_forget(void)
{
	for (unsigned i = 0; i < SITES; i++)
		atomic_store_explicit(&sites[i].word, 0, memory_order_relaxed);
}

/* Where a PLT stub at `at` jumps to; `at` itself if it is none. */
static uintptr_t through_plt(uintptr_t at)
{
	uint8_t code[16];
	uintptr_t slot = memory_copy(code, at, sizeof(code)) ? arch_plt_slot(code, at) : 0, target;

	return slot && memory_copy(&target, slot, sizeof(target)) ? target : at;
}

/* Reads the instruction in front of `word`, which is in memory that can be code. */
static uint64_t read_site(uintptr_t word)
{
	uint8_t code[8];
	uintptr_t target = 0;
	enum arch_call call = memory_copy(code, word - sizeof(code), sizeof(code))
				      ? arch_call_before(code, word, &target)
				      : ARCH_NO_CALL;

	return SITE(call, target);
}

/* The call in front of `word`, where there is code of a module, or code made at run time. */
static uint64_t site_of(uintptr_t word, uintptr_t pc)
{
	uint64_t mixed = word * 0x9e3779b97f4a7c15u, site;
	unsigned i = (unsigned)(mixed >> 53) & (SITES - 1);
	struct module_map map;

	if (word < 0x1000 || word >> ARCH_ADDRESS_BITS)
		return SITE(ARCH_NO_CALL, 0);

	site = atomic_load_explicit(&sites[i].site, memory_order_relaxed);
	if (site && atomic_load_explicit(&sites[i].word, memory_order_relaxed) == (word ^ site))
		return site;
	if (!modules_find(word - 1, &map)) /* perhaps it was mapped just now */
		return word - pc + NEAR_CODE < 2 * (uintptr_t)NEAR_CODE ? read_site(word)
									: SITE(ARCH_NO_CALL, 0);
	site = word - 8 >= map.start ? read_site(word) : SITE(ARCH_NO_CALL, 0);
	atomic_store_explicit(&sites[i].site, site, memory_order_relaxed);
	atomic_store_explicit(&sites[i].word, word ^ site, memory_order_relaxed);
	return site;
}

bool guess_is_behind_call(uintptr_t pc)
{
	return SITE_KIND(site_of(pc, pc)) != ARCH_NO_CALL;
}

/* Whether a function that starts at `target` can hold `pc`: no unwind information begins between. */
static bool leads_to(uintptr_t target, uintptr_t pc)
{
	return target <= pc && pc - target < MAX_CODE && unwind_rule_at(target).kind <= RULE_UNMAPPED;
}

/*
 * How far a word of the stack is to be believed as the return address of a call to the code at `pc`;
 * *ret_target: where it leads.
 */
static enum credit judge_call(uintptr_t word, uintptr_t pc, uintptr_t *ret_target)
{
	uint64_t site = site_of(word, pc);

	*ret_target = SITE_TARGET(site);
	switch (SITE_KIND(site)) {
	case ARCH_CALL_REGISTER:
		return SOME_CALL;
	case ARCH_CALL_DIRECT:
		if (leads_to(*ret_target, pc))
			return CALL_OF_FRAME;
		*ret_target = through_plt(*ret_target);
		break;
	case ARCH_CALL_SLOT:
		if (!memory_copy(ret_target, *ret_target, sizeof(*ret_target)))
			return NOT_A_CALL;
		break;
	default:
		return NOT_A_CALL;
	}
	return leads_to(*ret_target, pc) ? CALL_OF_FRAME : NOT_A_CALL;
}

static enum credit judge(uintptr_t word, uintptr_t pc)
{
	uintptr_t target;

	return judge_call(word, pc, &target);
}

/* ---------------------------------------------------------------- callers */

static bool is_code(uintptr_t at)
{
	struct module_map map;

	return modules_find(at, &map);
}

/*
 * Whether a frame pointer and a return address that stand at `at` lead on to another such pair. Interpreters
 * push where to go on, without a call: the chain is all that there is to be checked.
 */
static bool is_chained(struct cfi_stack *stack, uintptr_t at)
{
	uint64_t fp, ra, next;

	return cfi_read(stack, at, &fp) && fp > at + 8 && !(fp & 7) && fp - at <= MAX_FRAME &&
	       cfi_read(stack, at + 8, &ra) && is_code(ra) && cfi_read(stack, fp + 8, &next) && is_code(next);
}

/*
 * Whether `ra` can be where the frame of f->fp returns to. Any call will do, since what was called may have
 * jumped on; but where it is not sure that there is code, there must be one that leads to it.
 */
static bool is_return(const struct guess_frame *f, struct cfi_stack *stack, uint64_t ra)
{
	if (f->unsure)
		return judge(ra, f->pc) != NOT_A_CALL;
	return SITE_KIND(site_of(ra, f->pc)) != ARCH_NO_CALL || is_chained(stack, f->fp);
}

/* The frame pointer chain, if it looks like one: the way of most code made at run time. */
static bool by_frame_pointer(struct guess_frame *f, struct cfi_stack *stack)
{
	uint64_t fp, ra;

	if (f->fp < f->sp || f->fp & 7 || f->fp - f->sp > MAX_FRAME || !cfi_read(stack, f->fp, &fp) ||
		!cfi_read(stack, f->fp + 8, &ra) || !is_return(f, stack, arch_address(ra)))
		return false;
	f->sp = f->fp + 16;
	f->fp = fp;
	f->pc = arch_address(ra);
	f->how = GUESS_BY_FRAME_POINTER;
	return true;
}

/* Goes to the caller whose address stands at `at`. */
static void accept(struct guess_frame *f, struct cfi_stack *stack, uintptr_t at, uintptr_t ra)
{
	uint64_t saved;
	int32_t flags = f->how > 0 ? f->how & GUESS_FLAGS : 0;

	/* A frame pointer below is the frame's own: the caller's was pushed first. */
	if (!(flags & GUESS_FP_KEPT) && (flags || f->fp < at) && cfi_read(stack, at - 8, &saved) &&
		(flags || saved > at || f->fp == at - 8))
		f->fp = saved;
	f->how = (int32_t)(at + 8 - (f->sp & ~7ul)) | flags;
	f->pc = ra;
	f->sp = at + 8;
}

/*
 * If the next instructions are those that end a function (what the sample interrupted, or where a
 * trampoline goes on), they tell where the return address is, and whether fp was saved. 0: they are not.
 */
static int32_t read_epilogue(uintptr_t pc)
{
	uint8_t code[ARCH_EPILOGUE];
	bool popped;
	int32_t end = memory_copy(code, pc, sizeof(code)) ? arch_epilogue(code, &popped) : 0;

	return end > 0 && end < MAX_FRAME && !(end & 7) ? end | (popped ? GUESS_FP_PUSHED : GUESS_FP_KEPT)
							: 0;
}

/* The way that is known for this code, as long as there is a call in front of what it leads to. */
static bool by_known_way(struct guess_frame *f, struct cfi_stack *stack)
{
	uintptr_t at = (f->sp & ~7ul) + (uintptr_t)(f->how & ~GUESS_FLAGS) - 8;
	uint64_t word;

	if (!f->how)
		return false;
	if (f->how == GUESS_BY_FRAME_POINTER)
		return by_frame_pointer(f, stack);
	if (!cfi_read(stack, at, &word) ||
		(f->how & GUESS_CHAINED ? !is_chained(stack, at - 8)
					: judge(word, f->pc - !f->exact) == NOT_A_CALL))
		return false;
	accept(f, stack, at, word);
	return true;
}

/* Looks for the place where a frame pointer chain begins: code that has none was called by code that has. */
static bool by_chain(struct guess_frame *f, struct cfi_stack *stack)
{
	uintptr_t base = f->sp & ~7ul;
	uint64_t word;

	for (unsigned i = 0; i < SCAN_WORDS; i++) {
		uintptr_t at = base + 8 * i;

		if (!is_chained(stack, at))
			continue;
		if (!cfi_read(stack, at + 8, &word))
			break;
		f->how = GUESS_CHAINED;
		accept(f, stack, at + 8, word);
		return true;
	}
	return false;
}

/*
 * Whether a call that was seen leads to code between the two: a function begins there, and the code at `pc`
 * is not that at `target`.
 */
static bool begins_between(uintptr_t target, uintptr_t pc)
{
	for (unsigned i = 0; i < SITES; i++) {
		uint64_t site = atomic_load_explicit(&sites[i].site, memory_order_relaxed);

		if (SITE_KIND(site) == ARCH_CALL_DIRECT && SITE_TARGET(site) > target &&
			SITE_TARGET(site) <= pc)
			return true;
	}
	return false;
}

/* A frame pointer chain ends in zero: there is no caller. */
static bool is_outermost(struct guess_frame *f, struct cfi_stack *stack)
{
	uint64_t fp;

	if (f->fp < f->sp || f->fp & 7 || f->fp - f->sp > MAX_FRAME || !cfi_read(stack, f->fp, &fp) || fp)
		return false;
	f->sp = f->fp + 16;
	f->pc = 0;
	return true;
}

/* Looks for the return address on the stack. */
static bool by_scan(struct guess_frame *f, struct cfi_stack *stack)
{
	uintptr_t maybe = 0, best = 0, best_target = 0, base = f->sp & ~7ul, end = base + 8 * SCAN_WORDS;
	uintptr_t pc = f->pc - !f->exact;
	uint64_t word, maybe_word = 0, best_word = 0;
	struct guess_frame chained = *f;

	/* Behind the frame pointer are other frames. */
	if (by_frame_pointer(&chained, stack) && chained.sp < end)
		end = chained.sp;
	for (uintptr_t at = base; at < end && cfi_read(stack, at, &word); at += 8) {
		uintptr_t target;
		enum credit credit = judge_call(word, pc, &target);

		/* No function begins inside of another: what is left of older calls leads to earlier ones. */
		if (credit == CALL_OF_FRAME && target > best_target) {
			best = at;
			best_word = word;
			best_target = target;
		}
		if (credit == SOME_CALL && !maybe && at < base + 8 * MAYBE_WORDS) {
			maybe = at;
			maybe_word = word;
		}
	}
	if (best && !begins_between(best_target, pc)) {
		accept(f, stack, best, best_word);
		return true;
	}
	if ((!maybe || f->fp < maybe) && by_frame_pointer(f, stack))
		return true;
	if (!maybe)
		return !f->unsure && (by_chain(f, stack) || is_outermost(f, stack));
	accept(f, stack, maybe, maybe_word);
	return true;
}

/* The register that a call leaves the return address in, until the function makes a call of its own. */
static bool by_link_register(struct guess_frame *f, bool surely)
{
	enum credit credit = f->link ? judge(f->link, f->pc) : NOT_A_CALL;

	if (credit == NOT_A_CALL || (surely && credit != CALL_OF_FRAME))
		return false;
	f->pc = f->link;
	return true;
}

bool guess_caller(struct guess_frame *f, struct cfi_stack *stack)
{
	if (ARCH_LINK_REGISTER) /* where on the stack functions put it is their affair */
		return by_link_register(f, true) || by_frame_pointer(f, stack) ||
		       by_link_register(f, false) || (!f->unsure && is_outermost(f, stack));
	if (by_known_way(f, stack))
		return true;
	f->how = read_epilogue(f->pc);
	if (by_known_way(f, stack))
		return true;
	f->how = 0;
	return by_scan(f, stack);
}
