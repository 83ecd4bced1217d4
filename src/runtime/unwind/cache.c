#include "cache.h"

#include <dwarf.h>
#include <string.h>
#include <sys/mman.h>

#include "cfi.h"
#include "format/format.h"
#include "jit.h"
#include "jit_frames.h"
#include "runtime/memory.h"
#include "runtime/runtime.h"
#include "unwind.h"
#include "guess.h"

#define ENTRIES 8192u
#define BLOCK 32u /* bytes of code that are compared; an aligned block is in one page */
#define BLOCK_OF(pc) ((pc) & ~(uintptr_t)(BLOCK - 1))
#define BATCH 24u /* this stands on the handler's stack */

struct entry {
	_Atomic(uint32_t) sequence; /* odd while it is written; pairs with lookup() */
	uint32_t print; /* of the code around, if it is made at run time; 0: it is not */
	_Atomic(uintptr_t) pc;
	struct unwind_rule rule;
};

static struct entry cache[ENTRIES] __attribute__((aligned(HYB_PAGE)));

static struct entry *entry_for(uintptr_t pc)
{
	return &cache[(pc * 0x9e3779b97f4a7c15u) >> 51 & (ENTRIES - 1)];
}

static inline bool lookup(struct entry *e, uintptr_t pc, struct unwind_rule *ret_rule, uint32_t *ret_print)
{
	uint32_t sequence = atomic_load_explicit(&e->sequence, memory_order_acquire);

	if (atomic_load_explicit(&e->pc, memory_order_relaxed) != pc || sequence & 1)
		return false;
	*ret_rule = e->rule;
	*ret_print = e->print;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&e->sequence, memory_order_relaxed) == sequence;
}

static void insert(struct entry *e, uintptr_t pc, const struct unwind_rule *rule, uint32_t print)
{
	uint32_t sequence = atomic_load_explicit(&e->sequence, memory_order_relaxed);

	if (sequence & 1 || !atomic_compare_exchange_strong(&e->sequence, &sequence, sequence + 1))
		return;
	atomic_thread_fence(memory_order_release); /* the odd number is seen before what follows */
	atomic_store_explicit(&e->pc, pc, memory_order_release);
	e->rule = *rule;
	e->print = print;
	atomic_store_explicit(&e->sequence, sequence + 2, memory_order_release);
}

void unwind_cache_clear(void)
{
	const struct unwind_rule none = {0};

	for (unsigned i = 0; i < ENTRIES; i++)
		insert(&cache[i], 0, &none, 0);
	guess_forget();
}

void unwind_cache_forget(uintptr_t start, uintptr_t end)
{
	const struct unwind_rule none = {0};

	for (unsigned i = 0; i < ENTRIES; i++)
		if (atomic_load_explicit(&cache[i].pc, memory_order_relaxed) - start < end - start)
			insert(&cache[i], 0, &none, 0);
}

void unwind_cache_reset(void)
{
	madvise(cache, sizeof(cache), MADV_DONTNEED);
}

/*
 * The offset d if the expression gives sp + d without looking at memory: what
 * PLT stubs say, whose rule depends on the place in the stub only.
 */
static bool sp_plus_constant(const struct cfi_rule *cfa, uintptr_t pc, int64_t *ret_d)
{
	struct cfi_regs regs = {.known = 1u << ARCH_SP | (ARCH_LINK_REGISTER ? 0 : 1u << ARCH_RA)};
	struct cfi_stack nothing = {0};
	uint64_t a, b;

	if (memchr(cfa->expression, DW_OP_deref, cfa->length))
		return false;
	regs.value[ARCH_RA] = pc;
	regs.value[ARCH_SP] = 0x10000;
	if (!cfi_evaluate(cfa->expression, cfa->length, &regs, &nothing, NULL, &a))
		return false;
	regs.value[ARCH_SP] = 0x20000;
	if (!cfi_evaluate(cfa->expression, cfa->length, &regs, &nothing, NULL, &b) || b - a != 0x10000)
		return false;
	*ret_d = (int64_t)a - 0x10000;
	return true;
}

/* The offset d if the expression is *(fp + d), with d in one byte. */
static bool fp_deref(const struct cfi_rule *cfa, int64_t *ret_d)
{
	if (cfa->length != 3 || cfa->expression[0] != DW_OP_breg0 + ARCH_FP ||
		cfa->expression[2] != DW_OP_deref || cfa->expression[1] & 0x80)
		return false;
	*ret_d = (int8_t)(cfa->expression[1] << 1) >> 1;
	return true;
}

/* False if the row has more than the rule can hold. */
static bool condense_cfa(const struct cfi_row *row, uintptr_t pc, struct unwind_rule *rule)
{
	int64_t cfa = row->cfa.offset;

	if (row->cfa.kind == CFI_EXPRESSION) {
		if (sp_plus_constant(&row->cfa, pc, &cfa))
			rule->kind = RULE_SP;
		else if (fp_deref(&row->cfa, &cfa))
			rule->kind = RULE_FP_DEREF;
		else
			return false;
	} else if (row->cfa_register == ARCH_SP)
		rule->kind = RULE_SP;
	else if (row->cfa_register == ARCH_FP)
		rule->kind = RULE_FP;
	else
		return false;
	rule->cfa = (int32_t)cfa;
	return rule->cfa == cfa;
}

static bool condense_fp(const struct cfi_rule *fp, struct unwind_rule *rule)
{
	int64_t offset = 0;

	if (fp->kind == CFI_OFFSET)
		offset = fp->offset;
	else if (fp->kind == CFI_EXPRESSION && fp->length == 2 &&
		 fp->expression[0] == DW_OP_breg0 + ARCH_FP && !(fp->expression[1] & 0x80)) {
		offset = (int8_t)(fp->expression[1] << 1) >> 1;
		rule->fp_at_fp = true;
	} else if (fp->kind != CFI_SAME)
		return false;
	rule->fp_offset = (int16_t)offset;
	return rule->fp_offset == offset;
}

static bool condense_ra(const struct cfi_rule *ra, struct unwind_rule *rule)
{
	rule->ra_offset = ra->kind == CFI_OFFSET ? (int16_t)ra->offset : 0;
	return ra->kind == CFI_OFFSET ? ra->offset && rule->ra_offset == ra->offset
				      : ra->kind == CFI_SAME && ARCH_LINK_REGISTER;
}

static void condense(const struct cfi_row *row, uintptr_t pc, struct unwind_rule *rule)
{
	const struct cfi_rule *ra = &row->reg[ARCH_RA];

	rule->function = row->start;
	if (row->signal_frame)
		rule->kind = RULE_SIGNAL;
	else if (ra->kind == CFI_UNDEFINED)
		rule->kind = RULE_END;
	else if (row->reg[ARCH_SP].kind != CFI_SAME || !condense_ra(ra, rule) ||
		 !condense_cfa(row, pc, rule) || !condense_fp(&row->reg[ARCH_FP], rule))
		rule->kind = RULE_FULL;
}

static uint32_t print_of(const uint8_t *block)
{
	uint64_t word[BLOCK / 8], h = 0;

	memcpy(word, block, BLOCK);
	for (unsigned i = 0; i < BLOCK / 8; i++)
		h = (h ^ word[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
	return (uint32_t)(h >> 32) | 1;
}

/* Whether handlers return behind `pc`, to code of which no unwind information says so. */
static bool is_signal_return(uintptr_t pc)
{
	uint64_t code;

	return ARCH_SIGNAL_RETURN && memory_copy(&code, pc + 1, sizeof(code)) && code == ARCH_SIGNAL_RETURN;
}

static struct unwind_rule made_rule(uintptr_t pc, bool replaced)
{
	struct unwind_rule rule = {.kind = RULE_UNKNOWN, .code = jit_code(pc, replaced)};
	struct cfi_row row;

	if (jit_frames_find(pc, &row))
		condense(&row, pc, &rule);
	else if (is_signal_return(pc))
		rule.kind = RULE_SIGNAL;
	return rule;
}

/* What is mapped at code of no module is known. */
static struct unwind_rule make_unknown(struct entry *e, uintptr_t pc)
{
	struct unwind_rule rule = made_rule(pc, false);
	uint8_t block[BLOCK];

	if (memory_copy(block, BLOCK_OF(pc), BLOCK))
		insert(e, pc, &rule, print_of(block));
	return rule;
}

/* It may be, or become, a module's. */
static struct unwind_rule make_unmapped(uintptr_t pc)
{
	struct unwind_rule rule = made_rule(pc, false);

	if (rule.kind == RULE_UNKNOWN)
		rule.kind = RULE_UNMAPPED;
	return rule;
}

static struct unwind_rule make(struct entry *e, uintptr_t pc)
{
	struct unwind_rule rule = {.kind = RULE_NONE};
	struct module_map map;
	struct cfi_row row;

	if (!modules_find(pc, &map)) {
		modules_update(true);
		if (!modules_find(pc, &map))
			return make_unmapped(pc);
	}
	if (map.made)
		return make_unknown(e, pc);
	rule.code = HYB_CODE(map.module, pc - (map.module ? map.bias : 0));
	if (cfi_find(&map, pc, &row))
		condense(&row, pc, &rule);
	else if (is_signal_return(pc))
		rule.kind = RULE_SIGNAL;
	insert(e, pc, &rule, 0);
	return rule;
}

struct unwind_rule unwind_rule_at(uintptr_t pc)
{
	struct entry *e = entry_for(pc);
	struct unwind_rule rule = {.kind = RULE_UNMAPPED, .code = HYB_CODE(0, pc)};
	uint32_t print;

	if (pc < HYB_PAGE) /* entries that are not used have 0 there */
		return rule;
	return likely(lookup(e, pc, &rule, &print)) ? rule : make(e, pc);
}

void unwind_cache_learn(uintptr_t pc, int32_t how)
{
	struct entry *e = entry_for(pc);
	struct unwind_rule rule;
	uint32_t print;

	if (!lookup(e, pc, &rule, &print) || rule.kind > RULE_UNMAPPED)
		return;
	rule.cfa = how;
	insert(e, pc, &rule, print);
}

/* ------------------------------------------------ code that may be replaced */

/* Entries of a walk whose code is compared by one system call. */
struct batch {
	uint64_t *code[BATCH];
	struct iovec remote[BATCH];
	uint8_t block[BATCH][BLOCK];
	unsigned count;
};

/* The address by which an entry of a walk was looked up. */
static uintptr_t pc_of(uint64_t code)
{
	return HYB_CODE_VADDR(code) - !(code & UNWIND_EXACT);
}

static void compare(uint64_t *code, const uint8_t *block)
{
	uint64_t flags = *code & UNWIND_EXACT;
	uintptr_t pc = pc_of(*code);
	struct entry *e = entry_for(pc);
	struct unwind_rule rule;
	uint32_t print;

	if (!lookup(e, pc, &rule, &print) || !print || print == print_of(block))
		return;
	guess_forget();
	rule = made_rule(pc, true);
	insert(e, pc, &rule, print_of(block));
	*code = (rule.code + !(flags & UNWIND_EXACT)) | flags;
}

static void compare_all(struct batch *b)
{
	struct iovec local = {b->block, b->count * BLOCK};
	ssize_t got = b->count ? memory_copy_parts(&local, b->remote, b->count) : 0;

	for (unsigned i = 0; i < b->count; i++)
		if (got >= (ssize_t)((i + 1) * BLOCK) ||
			memory_copy(b->block[i], (uintptr_t)b->remote[i].iov_base, BLOCK))
			compare(b->code[i], b->block[i]);
	b->count = 0;
}

void unwind_cache_check(uint64_t *code, size_t count)
{
	struct batch b;

	b.count = 0;
	for (size_t i = 0; i < count; i++) {
		if (code[i] & UNWIND_PYTHON || !jit_is_made(code[i] & ~(UNWIND_EXACT | UNWIND_EVALUATION)))
			continue;
		b.code[b.count] = &code[i];
		b.remote[b.count++] = (struct iovec){(void *)BLOCK_OF(pc_of(code[i])), BLOCK};
		if (b.count == BATCH)
			compare_all(&b);
	}
	compare_all(&b);
}
