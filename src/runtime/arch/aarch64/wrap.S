/*
 * Functions of the C library that are jumped to, so that they see the caller's stack and return address: dlopen and
 * dlclose find the caller's search path by it, and a child of CLONE_VFORK returns through the same frame.
 */
#include <asm/unistd.h>

	.text

/* Keeps the argument registers, the return address and the stack as they were. */
.macro JUMP name closing
	.globl \name
	.type \name, %function
\name:
	.cfi_startproc
	bti c
	stp x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov x29, sp
	stp x0, x1, [sp, 16]
	mov w0, \closing
	bl wrap_dl_target
	mov x16, x0
	ldp x0, x1, [sp, 16]
	ldp x29, x30, [sp], 32
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	br x16
	.cfi_endproc
	.size \name, . - \name
.endm

	JUMP dlopen, 0
	JUMP dlclose, 1

/* All calls are wrap_system_call's but those whose child returns on this stack, or has another. Bit 8: CLONE_VM */
	.globl syscall
	.type syscall, %function
syscall:
	.cfi_startproc
	bti c
	adrp x16, wrap_system_call_target
	ldr x16, [x16, :lo12:wrap_system_call_target]
	cbz x16, 1f
	cmp x0, __NR_clone3
	b.eq 2f
	cmp x0, __NR_clone
	b.ne 1f
	tbnz x1, 8, 2f
	cbnz x2, 2f
1:	b wrap_system_call
2:	br x16
	.cfi_endproc
	.size syscall, . - syscall

	.section .note.GNU-stack, "", %progbits
