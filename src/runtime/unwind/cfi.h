/*
 * DWARF call frame information from .eh_frame in memory (DWARF 5, section 6.4;
 * Linux Standard Base, eh_frame_hdr). async-signal-safe
 */
#ifndef HYB_CFI_H
#define HYB_CFI_H

#include "modules.h"
#include "runtime/arch/arch.h"

/* A register file of which only some values are known. */
struct cfi_regs {
	uint64_t value[ARCH_REGISTERS];
	uint32_t known; /* bit n: value[n] */
};

/* Memory of the stack; checked reads. */
struct cfi_stack {
	uintptr_t lo, hi; /* readable without asking */
	uintptr_t page; /* the page asked for last and found readable; 0: none */
};

bool cfi_read_slow(struct cfi_stack *stack, uintptr_t at, uint64_t *ret_v);

/* Reads eight bytes; false if they are not readable. */
static inline bool cfi_read(struct cfi_stack *stack, uintptr_t at, uint64_t *ret_v)
{
	if (__builtin_expect(at - stack->lo >= stack->hi - stack->lo, 0) || (at & 7))
		return cfi_read_slow(stack, at, ret_v);
	*ret_v = *(const uint64_t *)at;
	return true;
}

enum cfi_kind {
	CFI_SAME = 0, /* also: no instruction set it */
	CFI_UNDEFINED,
	CFI_OFFSET, /* at CFA + offset */
	CFI_VAL_OFFSET, /* is CFA + offset */
	CFI_REGISTER, /* is in register `offset` */
	CFI_EXPRESSION, /* at the address that the expression gives */
	CFI_VAL_EXPRESSION,
};

struct cfi_rule {
	uint8_t kind; /* enum cfi_kind */
	uint16_t length; /* of the expression */
	union {
		int64_t offset;
		const uint8_t *expression;
	};
};

/* The table row that holds for one address. */
struct cfi_row {
	uintptr_t start, end; /* of the function (FDE) */
	bool signal_frame;
	uint8_t cfa_register; /* CFA = register + offset, unless it has an expression */
	struct cfi_rule cfa;
	struct cfi_rule reg[ARCH_REGISTERS];
};

/* Finds the row for `pc` in the object that holds it. False: no information. */
bool cfi_find(const struct module_map *map, uintptr_t pc, struct cfi_row *ret_row);

/* The same by the FDE at `fde`. */
bool cfi_find_in(const struct module_map *map, uintptr_t fde, uintptr_t pc, struct cfi_row *ret_row);

/*
 * Goes over the records of an .eh_frame: what the one at `at` covers (nothing, if it is no FDE), and the
 * address of the next one; 0 behind the last.
 */
uintptr_t cfi_next(const struct module_map *map, uintptr_t at, uintptr_t *ret_start, uintptr_t *ret_end);

/*
 * Applies a row: `regs` become the caller's. Returns the CFA, or 0 if something that
 * is needed is not known or not readable. regs->known lacks ARCH_RA if there is no caller.
 */
uintptr_t cfi_step(const struct cfi_row *row, struct cfi_regs *regs, struct cfi_stack *stack);

/* Evaluates a DWARF expression with `initial` on the stack. False if it cannot be. */
bool cfi_evaluate(const uint8_t *p, size_t length, const struct cfi_regs *regs, struct cfi_stack *stack,
	const uint64_t *initial, uint64_t *ret_v);

#endif
