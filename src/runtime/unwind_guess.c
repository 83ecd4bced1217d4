#include "unwind_guess.h"

#include <string.h>

#include "memory.h"
#include "unwind_cache.h"

#define SCAN_WORDS 128 /* how far from the stack pointer a return address is looked for */
#define MAYBE_WORDS 16 /* the same for calls whose target cannot be checked */
#define MAX_CODE 0x100000 /* bytes from a function's start to code of it */
#define NEAR_CODE 0x1000000 /* code made at run time calls code made at run time so far away */

enum credit { NOT_A_CALL = 0, SOME_CALL, CALL_OF_FRAME };

/* Copies `size` bytes of code in front of `at`, if they are in a module or near the frame's own. */
static bool code_before(uintptr_t at, size_t size, uintptr_t pc, uint8_t *to)
{
	struct module_map map;

	if (modules_find(at - 1, &map)) {
		if (at - size < map.start)
			return false;
		return memory_copy(to, at - size, size);
	}
	return at - pc + NEAR_CODE < 2 * (uintptr_t)NEAR_CODE && memory_copy(to, at - size, size);
}

/* Where a PLT stub at `at` jumps to; `at` itself if it is none. */
static uintptr_t through_plt(uintptr_t at)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t code[16];
	size_t i = 0;
	int32_t displacement;
	uintptr_t target;

	if (!memory_copy(code, at, sizeof(code)))
		return at;
	if (!memcmp(code, endbr, sizeof(endbr)))
		i = sizeof(endbr);
	if (code[i] == 0xf2) /* bnd */
		i++;
	if (code[i] != 0xff || code[i + 1] != 0x25)
		return at;
	memcpy(&displacement, code + i + 2, sizeof(displacement));
	at += i + 6;
	return memory_copy(&target, at + (uintptr_t)(intptr_t)displacement, sizeof(target)) ? target : at;
}

/* Whether a function that starts at `target` can hold `pc`: no unwind information begins between. */
static bool leads_to(uintptr_t target, uintptr_t pc)
{
	return target <= pc && pc - target < MAX_CODE && unwind_rule_at(target).kind <= RULE_UNKNOWN;
}

/* How far a word of the stack is to be believed as the return address of a call to the code at `pc`. */
static enum credit judge(uintptr_t word, uintptr_t pc)
{
	uint8_t code[8];
	int32_t displacement;
	uint64_t target;

	if (word < 0x1000 || !code_before(word, sizeof(code), pc, code))
		return NOT_A_CALL;
	if (code[3] == 0xe8) {
		memcpy(&displacement, code + 4, sizeof(displacement));
		target = word + (uintptr_t)(intptr_t)displacement;
		if (leads_to(target, pc) || leads_to(through_plt(target), pc))
			return CALL_OF_FRAME;
	}
	if (code[2] == 0xff && code[3] == 0x15) { /* call *slot(%rip) */
		memcpy(&displacement, code + 4, sizeof(displacement));
		if (memory_copy(&target, word + (uintptr_t)(intptr_t)displacement, sizeof(target)) &&
			leads_to(target, pc))
			return CALL_OF_FRAME;
	}
	if (code[6] == 0xff && (code[7] & 0xf8) == 0xd0) /* call *%reg */
		return SOME_CALL;
	if (code[5] == 0xff && (code[6] & 0xf8) == 0x50) /* call *disp8(%reg) */
		return SOME_CALL;
	if (code[2] == 0xff && (code[3] & 0xf8) == 0x90) /* call *disp32(%reg) */
		return SOME_CALL;
	if (code[6] == 0xff && (code[7] & 0xf8) == 0x10) /* call *(%reg) */
		return SOME_CALL;
	return NOT_A_CALL;
}

/* The frame pointer chain, if it looks like one: the way of most code made at run time. */
static bool by_frame_pointer(struct guess_frame *f, struct cfi_stack *stack, uintptr_t below)
{
	uint64_t rbp, ra;

	if (f->rbp < f->sp || f->rbp & 7 || f->rbp - f->sp > 65536 || f->rbp >= below ||
		!cfi_read(stack, f->rbp, &rbp) || !cfi_read(stack, f->rbp + 8, &ra) ||
		judge(ra, f->pc) == NOT_A_CALL)
		return false;
	f->sp = f->rbp + 16;
	f->rbp = rbp;
	f->pc = ra;
	return true;
}

/* Goes to the caller whose address stands at `at`. */
static void accept(struct guess_frame *f, struct cfi_stack *stack, uintptr_t at, uintptr_t ra)
{
	uint64_t saved;

	/* A frame pointer below is the frame's own: the caller's was pushed first. */
	if (f->rbp < at && cfi_read(stack, at - 8, &saved) && (saved > at || f->rbp == at - 8))
		f->rbp = saved;
	f->pc = ra;
	f->sp = at + 8;
}

bool guess_caller(struct guess_frame *f, struct cfi_stack *stack)
{
	uintptr_t maybe = 0, base = f->sp & ~7ul;
	uintptr_t pc = f->pc - !f->exact;
	uint64_t word, maybe_word = 0;

	for (unsigned i = 0; i < SCAN_WORDS; i++) {
		uintptr_t at = base + 8 * i;
		enum credit credit;

		if (!cfi_read(stack, at, &word))
			break;
		credit = judge(word, pc);
		if (credit == CALL_OF_FRAME) {
			accept(f, stack, at, word);
			return true;
		}
		if (credit == SOME_CALL && !maybe && i < MAYBE_WORDS) {
			maybe = at;
			maybe_word = word;
		}
	}
	if (by_frame_pointer(f, stack, maybe ? maybe : UINTPTR_MAX))
		return true;
	if (!maybe)
		return false;
	accept(f, stack, maybe, maybe_word);
	return true;
}
