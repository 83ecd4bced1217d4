/*
 * Frame rules by code address, for the whole process; 320 KiB of shared memory
 * at most. A direct-mapped table: an entry is written under its own sequence
 * counter by whoever gets it first, others go on without. async-signal-safe
 */
#ifndef HYB_UNWIND_CACHE_H
#define HYB_UNWIND_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unwind_rule_kind {
	RULE_NONE = 0, /* in a module, but without unwind information */
	RULE_UNKNOWN, /* in executable memory of no module: made at run time */
	RULE_UNMAPPED, /* in none that is known: code that is new, or no code */
	RULE_SP, /* CFA = sp + cfa */
	RULE_FP, /* CFA = fp + cfa */
	RULE_FP_DEREF, /* CFA = *(fp + cfa): stacks that were realigned */
	RULE_SIGNAL, /* the frame that the kernel made for a handler */
	RULE_END, /* has no caller */
	RULE_FULL, /* anything else: ask the interpreter */
};

/* A row of the table, condensed. */
struct unwind_rule {
	int32_t cfa : 24; /* of the first three: how the caller was found; see runtime/unwind/guess.h */
	uint32_t kind : 4; /* enum unwind_rule_kind */
	bool fp_at_fp : 1; /* the caller's fp is at fp + fp_offset, not at CFA + fp_offset */
	int16_t fp_offset; /* where the caller's fp was saved; 0: fp is still the caller's */
	int16_t ra_offset; /* the return address is at CFA + ra_offset; 0: in its register
			      (ARCH_LINK_REGISTER) */
	uint64_t code; /* HYB_CODE of the address */
	uintptr_t function; /* start of the function (FDE), 0 if not known */
};

/* The rule for the instruction at `pc`. */
struct unwind_rule unwind_rule_at(uintptr_t pc);

/* Remembers how the caller of code without unwind information was found. */
void unwind_cache_learn(uintptr_t pc, int32_t how);

/*
 * Compares code made at run time, of the entries of a walk, with what it was when it was met. Keys of code
 * that was replaced become those of the new one.
 */
void unwind_cache_check(uint64_t *code, size_t count);

/* Forgets what is between two addresses: its unwind information came or went. */
void unwind_cache_forget(uintptr_t start, uintptr_t end);

/* Forgets everything: code may have been replaced. */
void unwind_cache_clear(void);

/* The same while there is only one thread: gives the memory back. start */
void unwind_cache_reset(void);

#endif
