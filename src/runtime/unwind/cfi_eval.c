/* What a CFI row means: expressions and the step to the caller. */
#include <dwarf.h>
#include <string.h>

#include "cfi.h"
#include "cfi_read.h"
#include "runtime/memory.h"

#define MAX_STACK 16

/* Also right for an empty range, and at the end of the address space. */
static bool inside(const struct cfi_stack *stack, uintptr_t at)
{
	return at - stack->lo < stack->hi - stack->lo;
}

bool cfi_read_slow(struct cfi_stack *stack, uintptr_t at, uint64_t *ret_v)
{
	if (at < 0x1000 || at > UINTPTR_MAX - 8) /* page 0 stands for none; no wrapping around */
		return false;
	for (uintptr_t page = at & ~0xffful; page < at + 8; page += 0x1000) {
		if (page == stack->page || (inside(stack, page) && inside(stack, page + 0xfff)))
			continue;
		if (!memory_readable(page))
			return false;
		stack->page = page;
	}
	memcpy(ret_v, (const void *)at, 8);
	return true;
}

struct evaluator {
	struct reader code;
	uint64_t value[MAX_STACK];
	unsigned depth;
	const struct cfi_regs *regs;
	struct cfi_stack *stack;
};

static uint64_t take_signed(struct reader *r, unsigned size)
{
	uint64_t v = take(r, size), sign = 1ull << (8 * size - 1);

	return (v ^ sign) - sign;
}

static void push(struct evaluator *e, uint64_t v)
{
	if (e->depth == MAX_STACK)
		e->code.failed = true;
	else
		e->value[e->depth++] = v;
}

static uint64_t pop(struct evaluator *e)
{
	if (!e->depth) {
		e->code.failed = true;
		return 0;
	}
	return e->value[--e->depth];
}

/* Of 1, 2, 4 or 8 bytes; odd ones have a sign. */
static void push_constant(struct evaluator *e, uint8_t op)
{
	unsigned size = 1u << (op - DW_OP_const1u) / 2;

	push(e, (op - DW_OP_const1u) % 2 ? take_signed(&e->code, size) : take(&e->code, size));
}

static void push_register(struct evaluator *e, uint64_t reg, int64_t offset)
{
	if (reg >= ARCH_REGISTERS || !(e->regs->known >> reg & 1))
		e->code.failed = true;
	else
		push(e, e->regs->value[reg] + (uint64_t)offset);
}

static void binary(struct evaluator *e, uint8_t op)
{
	uint64_t b = pop(e), a = pop(e), v = 0;
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case DW_OP_and:
		v = a & b;
		break;
	case DW_OP_or:
		v = a | b;
		break;
	case DW_OP_xor:
		v = a ^ b;
		break;
	case DW_OP_plus:
		v = a + b;
		break;
	case DW_OP_minus:
		v = a - b;
		break;
	case DW_OP_mul:
		v = a * b;
		break;
	case DW_OP_shl:
		v = b < 64 ? a << b : 0;
		break;
	case DW_OP_shr:
		v = b < 64 ? a >> b : 0;
		break;
	case DW_OP_shra:
		v = (uint64_t)(sa >> (b < 64 ? b : 63));
		break;
	case DW_OP_eq:
		v = a == b;
		break;
	case DW_OP_ne:
		v = a != b;
		break;
	case DW_OP_ge:
		v = sa >= sb;
		break;
	case DW_OP_gt:
		v = sa > sb;
		break;
	case DW_OP_le:
		v = sa <= sb;
		break;
	case DW_OP_lt:
		v = sa < sb;
		break;
	default:
		e->code.failed = true;
	}
	push(e, v);
}

static void dereference(struct evaluator *e, unsigned size)
{
	uint64_t v = 0;

	if (size > 8 || !cfi_read_slow(e->stack, pop(e), &v))
		e->code.failed = true;
	push(e, size < 8 ? v & ((1ull << (8 * size)) - 1) : v);
}

static void operation(struct evaluator *e, uint8_t op)
{
	uint64_t a, b;

	switch (op) {
	case DW_OP_addr:
		push(e, take(&e->code, 8));
		break;
	case DW_OP_constu:
		push(e, uleb(&e->code));
		break;
	case DW_OP_consts:
		push(e, (uint64_t)sleb(&e->code));
		break;
	case DW_OP_dup:
		a = pop(e), push(e, a), push(e, a);
		break;
	case DW_OP_drop:
		pop(e);
		break;
	case DW_OP_swap:
		a = pop(e), b = pop(e), push(e, a), push(e, b);
		break;
	case DW_OP_over:
		a = pop(e), b = pop(e), push(e, b), push(e, a), push(e, b);
		break;
	case DW_OP_deref:
		dereference(e, 8);
		break;
	case DW_OP_deref_size:
		dereference(e, (unsigned)take(&e->code, 1));
		break;
	case DW_OP_neg:
		push(e, -pop(e));
		break;
	case DW_OP_not:
		push(e, ~pop(e));
		break;
	case DW_OP_plus_uconst:
		a = uleb(&e->code), push(e, pop(e) + a);
		break;
	case DW_OP_bregx:
		a = uleb(&e->code), push_register(e, a, sleb(&e->code));
		break;
	case DW_OP_nop:
		break;
	case DW_OP_skip:
	case DW_OP_bra:
		a = take_signed(&e->code, 2);
		if ((op == DW_OP_skip || pop(e)) && (int64_t)a > 0) { /* backwards: a loop, refused */
			if (a > (uint64_t)(e->code.end - e->code.p))
				e->code.failed = true;
			else
				e->code.p += a;
		} else if ((int64_t)a < 0)
			e->code.failed = true;
		break;
	default:
		binary(e, op);
	}
}

bool cfi_evaluate(const uint8_t *p, size_t length, const struct cfi_regs *regs, struct cfi_stack *stack,
	const uint64_t *initial, uint64_t *ret_v)
{
	struct evaluator e = {.code = {.p = p, .end = p + length}, .regs = regs, .stack = stack};
	uint64_t v;

	if (initial)
		push(&e, *initial);
	while (e.code.p < e.code.end && !e.code.failed) {
		uint8_t op = *e.code.p++;

		if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
			push(&e, op - DW_OP_lit0);
		else if (op >= DW_OP_const1u && op <= DW_OP_const8s)
			push_constant(&e, op);
		else if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
			push_register(&e, op - DW_OP_breg0, sleb(&e.code));
		else
			operation(&e, op);
	}
	v = pop(&e);
	if (e.code.failed)
		return false;
	*ret_v = v;
	return true;
}

/* The value of a register in the caller. False: not known. */
static bool caller_value(const struct cfi_rule *rule, unsigned reg, const struct cfi_regs *regs,
	struct cfi_stack *stack, uint64_t cfa, uint64_t *ret_v)
{
	uint64_t at;

	switch (rule->kind) {
	case CFI_SAME:
		*ret_v = regs->value[reg];
		return regs->known >> reg & 1;
	case CFI_OFFSET:
		return cfi_read(stack, cfa + (uint64_t)rule->offset, ret_v);
	case CFI_VAL_OFFSET:
		*ret_v = cfa + (uint64_t)rule->offset;
		return true;
	case CFI_REGISTER:
		*ret_v = regs->value[rule->offset < ARCH_REGISTERS ? rule->offset : 0];
		return rule->offset < ARCH_REGISTERS && regs->known >> rule->offset & 1;
	case CFI_EXPRESSION:
		return cfi_evaluate(rule->expression, rule->length, regs, stack, &cfa, &at) &&
		       cfi_read(stack, at, ret_v);
	case CFI_VAL_EXPRESSION:
		return cfi_evaluate(rule->expression, rule->length, regs, stack, &cfa, ret_v);
	default:
		return false;
	}
}

uintptr_t cfi_step(const struct cfi_row *row, struct cfi_regs *regs, struct cfi_stack *stack)
{
	struct cfi_regs caller = {.known = 0};
	uint64_t cfa;

	if (row->cfa.kind == CFI_EXPRESSION) {
		if (!cfi_evaluate(row->cfa.expression, row->cfa.length, regs, stack, NULL, &cfa))
			return 0;
	} else if (regs->known >> row->cfa_register & 1)
		cfa = regs->value[row->cfa_register] + (uint64_t)row->cfa.offset;
	else
		return 0;
	for (unsigned reg = 0; reg < ARCH_REGISTERS; reg++) {
		/* Registers that a call may change are lost unless the row has their place. */
		if (row->reg[reg].kind == CFI_SAME && !(ARCH_SAVED >> reg & 1))
			continue;
		if (caller_value(&row->reg[reg], reg, regs, stack, cfa, &caller.value[reg]))
			caller.known |= 1u << reg;
	}
	if (row->reg[ARCH_SP].kind == CFI_SAME) {
		caller.value[ARCH_SP] = cfa;
		caller.known |= 1u << ARCH_SP;
	}
	if (row->reg[ARCH_RA].kind != CFI_UNDEFINED && !(caller.known >> ARCH_RA & 1))
		return 0; /* there is a caller, but its address cannot be read */
	caller.value[ARCH_RA] = arch_address(caller.value[ARCH_RA]);
	*regs = caller;
	return cfa;
}
