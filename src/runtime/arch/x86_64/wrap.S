/*
 * Functions of the C library that are jumped to, so that they see the caller's stack and return address: dlopen and
 * dlclose find the caller's search path by it, and SYS_vfork returns twice.
 */
#include <asm/unistd.h>

	.text

/* Keeps the argument registers and the stack as they were. */
.macro JUMP name closing
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	push %rdi
	.cfi_adjust_cfa_offset 8
	push %rsi
	.cfi_adjust_cfa_offset 8
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	mov $\closing, %edi
	call wrap_dl_target
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rdi
	.cfi_adjust_cfa_offset -8
	jmp *%rax
	.cfi_endproc
	.size \name, . - \name
.endm

	JUMP dlopen, 0
	JUMP dlclose, 1

/* All calls are wrap_system_call's but those whose child returns on this stack, or has another. 0x100: CLONE_VM */
	.globl syscall
	.type syscall, @function
syscall:
	.cfi_startproc
	mov wrap_system_call_target(%rip), %rax
	test %rax, %rax
	jz 1f
	cmp $__NR_vfork, %rdi
	je 2f
	cmp $__NR_clone3, %rdi
	je 2f
	cmp $__NR_clone, %rdi
	jne 1f
	test $0x100, %esi
	jnz 2f
	test %rdx, %rdx
	jnz 2f
1:	jmp wrap_system_call
2:	jmp *%rax
	.cfi_endproc
	.size syscall, . - syscall

	.section .note.GNU-stack, "", @progbits
