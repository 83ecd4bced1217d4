#include "unwind_cache.h"

#include <dwarf.h>
#include <string.h>
#include <sys/mman.h>

#include "cfi.h"
#include "format/format.h"
#include "runtime.h"

#define ENTRIES 8192u

struct entry {
	_Atomic(uint32_t) sequence; /* odd while it is written; pairs with lookup() */
	_Atomic(uintptr_t) pc;
	struct unwind_rule rule;
};

static struct entry cache[ENTRIES] __attribute__((aligned(HYB_PAGE)));

static struct entry *entry_for(uintptr_t pc)
{
	return &cache[(pc * 0x9e3779b97f4a7c15u) >> 51 & (ENTRIES - 1)];
}

static inline bool lookup(struct entry *e, uintptr_t pc, struct unwind_rule *ret_rule)
{
	uint32_t sequence = atomic_load_explicit(&e->sequence, memory_order_acquire);

	if (atomic_load_explicit(&e->pc, memory_order_relaxed) != pc || sequence & 1)
		return false;
	*ret_rule = e->rule;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&e->sequence, memory_order_relaxed) == sequence;
}

static void insert(struct entry *e, uintptr_t pc, const struct unwind_rule *rule)
{
	uint32_t sequence = atomic_load_explicit(&e->sequence, memory_order_relaxed);

	if (sequence & 1 || !atomic_compare_exchange_strong(&e->sequence, &sequence, sequence + 1))
		return;
	atomic_store_explicit(&e->pc, pc, memory_order_release);
	e->rule = *rule;
	atomic_store_explicit(&e->sequence, sequence + 2, memory_order_release);
}

void unwind_cache_clear(void)
{
	const struct unwind_rule none = {0};

	for (unsigned i = 0; i < ENTRIES; i++)
		insert(&cache[i], 0, &none);
}

void unwind_cache_reset(void)
{
	madvise(cache, sizeof(cache), MADV_DONTNEED);
}

/*
 * The offset d if the expression gives rsp + d without looking at memory: what
 * PLT stubs say, whose rule depends on the place in the stub only.
 */
static bool rsp_plus_constant(const struct cfi_rule *cfa, uintptr_t pc, int64_t *ret_d)
{
	struct cfi_regs regs = {.known = 1u << CFI_RSP | 1u << CFI_RIP};
	struct cfi_stack nothing = {0};
	uint64_t a, b;

	if (memchr(cfa->expression, DW_OP_deref, cfa->length))
		return false;
	regs.value[CFI_RIP] = pc;
	regs.value[CFI_RSP] = 0x10000;
	if (!cfi_evaluate(cfa->expression, cfa->length, &regs, &nothing, NULL, &a))
		return false;
	regs.value[CFI_RSP] = 0x20000;
	if (!cfi_evaluate(cfa->expression, cfa->length, &regs, &nothing, NULL, &b) || b - a != 0x10000)
		return false;
	*ret_d = (int64_t)a - 0x10000;
	return true;
}

/* The offset d if the expression is *(rbp + d), with d in one byte. */
static bool rbp_deref(const struct cfi_rule *cfa, int64_t *ret_d)
{
	if (cfa->length != 3 || cfa->expression[0] != DW_OP_breg6 || cfa->expression[2] != DW_OP_deref ||
		cfa->expression[1] & 0x80)
		return false;
	*ret_d = (int8_t)(cfa->expression[1] << 1) >> 1;
	return true;
}

/* False if the row says more than the rule can hold. */
static bool condense_cfa(const struct cfi_row *row, uintptr_t pc, struct unwind_rule *rule)
{
	int64_t cfa = row->cfa.offset;

	if (row->cfa.kind == CFI_EXPRESSION) {
		if (rsp_plus_constant(&row->cfa, pc, &cfa))
			rule->kind = RULE_RSP;
		else if (rbp_deref(&row->cfa, &cfa))
			rule->kind = RULE_RBP_DEREF;
		else
			return false;
	} else if (row->cfa_register == CFI_RSP)
		rule->kind = RULE_RSP;
	else if (row->cfa_register == CFI_RBP)
		rule->kind = RULE_RBP;
	else
		return false;
	rule->cfa = (int32_t)cfa;
	return rule->cfa == cfa;
}

static bool condense_rbp(const struct cfi_rule *rbp, struct unwind_rule *rule)
{
	int64_t offset = 0;

	if (rbp->kind == CFI_OFFSET)
		offset = rbp->offset;
	else if (rbp->kind == CFI_EXPRESSION && rbp->length == 2 && rbp->expression[0] == DW_OP_breg6 &&
		 !(rbp->expression[1] & 0x80)) {
		offset = (int8_t)(rbp->expression[1] << 1) >> 1;
		rule->rbp_at_rbp = true;
	} else if (rbp->kind != CFI_SAME)
		return false;
	rule->rbp_offset = (int16_t)offset;
	return rule->rbp_offset == offset;
}

static void condense(const struct cfi_row *row, uintptr_t pc, struct unwind_rule *rule)
{
	const struct cfi_rule *ra = &row->reg[CFI_RIP];

	rule->function = row->start;
	if (row->signal_frame)
		rule->kind = RULE_SIGNAL;
	else if (ra->kind == CFI_UNDEFINED)
		rule->kind = RULE_END;
	else if (ra->kind != CFI_OFFSET || ra->offset != -8 || row->reg[CFI_RSP].kind != CFI_SAME ||
		 !condense_cfa(row, pc, rule) || !condense_rbp(&row->reg[CFI_RBP], rule))
		rule->kind = RULE_FULL;
}

static struct unwind_rule make(uintptr_t pc)
{
	struct unwind_rule rule = {.kind = RULE_UNKNOWN, .code = HYB_CODE(0, pc)};
	struct module_map map;
	struct cfi_row row;

	if (!modules_find(pc, &map)) {
		modules_update(true);
		if (!modules_find(pc, &map))
			return rule;
	}
	rule.code = HYB_CODE(map.module, pc - (map.module ? map.bias : 0));
	rule.kind = RULE_NONE;
	if (cfi_find(&map, pc, &row))
		condense(&row, pc, &rule);
	return rule;
}

struct unwind_rule unwind_rule_at(uintptr_t pc)
{
	struct entry *e = entry_for(pc);
	struct unwind_rule rule;

	if (likely(lookup(e, pc, &rule)))
		return rule;
	rule = make(pc);
	if (rule.kind != RULE_UNKNOWN)
		insert(e, pc, &rule);
	return rule;
}
