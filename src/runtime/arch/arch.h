/*
 * The processor, for all who need to know of it. Each has a folder beside this file; meson takes the one of
 * the machine that is built for. In it are
 *
 * - cpu.h: all that is listed here, as macros and inline functions
 * - code.c: instructions as bytes, what is declared below
 * - wrap.S: dlopen(), dlclose() and syscall(), which jump to the C library's functions
 * - mpi_stub.inc: the macros of the stubs of libhybrid-mpi.so
 *
 * All functions are async-signal-safe.
 *
 * Constants:
 * - ARCH_MACHINE, ARCH_LOADER: e_machine, and how the path of the dynamic linker ends, of its programs
 * - ARCH_ADDRESS_BITS: of an address of user space
 * - ARCH_FP, ARCH_SP, ARCH_RA: DWARF's numbers of frame pointer, stack pointer and return address
 * - ARCH_REGISTERS: how many registers are followed, from number 0 on; at most 32
 * - ARCH_SAVED: bit n: a call keeps register n, if nothing else is said
 * - ARCH_LINK_REGISTER: a call leaves the return address in register ARCH_RA; otherwise it pushes it, and the
 *   number ARCH_RA stands for the program counter
 * - ARCH_SIGNAL_RETURN: eight bytes of code that handlers return to, if it has no unwind information; else 0
 * - ARCH_COUNTER, ARCH_COUNTER_SHIFT: the name of the clock's counter; how many of its bits are too fine
 *
 * Of a context that a signal interrupted:
 * - arch_pc(context), arch_sp(context)
 * - arch_registers(context, value): all, by DWARF's numbers
 * - arch_behind_system_call(context), arch_before_system_call(context): where the instruction is
 * - arch_system_result(context): what a system call gave, behind it
 * - arch_end_system_call(context, result): before one, goes behind it
 * - arch_signal_context(sp): where the kernel put it, for the frame that a handler returns to
 * - arch_context_end(context): the last word of it that the others read
 *
 * Of the function that they stand in:
 * - arch_here(context): the registers that a walk from it needs
 * - arch_stack_pointer()
 * - ARCH_CALLER_SP(): the stack pointer of its caller, at the call; it is compiled with a frame pointer
 *
 * Others:
 * - arch_address(ra): a return address without what the processor may have signed it with
 * - arch_counter(): what the clock reads
 * - arch_counter_is_steady(): whether it runs at a constant rate through frequency changes and sleep
 * - arch_read_pmc(index, ret): a performance counter; false: not without a system call
 */
#ifndef HYB_ARCH_H
#define HYB_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu.h"

/* What kind of call stands in front of an address. */
enum arch_call {
	ARCH_NO_CALL = 1,
	ARCH_CALL_REGISTER, /* leads anywhere */
	ARCH_CALL_DIRECT, /* its target is known */
	ARCH_CALL_SLOT, /* the target stands in memory */
};

#define ARCH_EPILOGUE 32u /* bytes in which the end of a function is looked for */

/* The call that ends in front of `at`; `code` are the eight bytes there. *ret_target: where it leads, or the
 * slot. */
enum arch_call arch_call_before(const uint8_t code[8], uintptr_t at, uintptr_t *ret_target);

/* Where the word is from which a stub of the PLT at `at` takes its target; 0: it is none. */
uintptr_t arch_plt_slot(const uint8_t code[16], uintptr_t at);

/*
 * If these instructions end a function, and take the return address from the stack: how far above the stack
 * pointer the frame ends. *ret_fp_popped: the caller's frame pointer lies below the return address. 0: they
 * do not.
 */
int32_t arch_epilogue(const uint8_t code[ARCH_EPILOGUE], bool *ret_fp_popped);

#endif
