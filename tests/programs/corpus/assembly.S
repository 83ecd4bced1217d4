/* Hand-written code: with unwind information, with little of it, with none. */
	.text

/* uint64_t asm_cfi(uint64_t (*f)(uint64_t), uint64_t x): right information at each instruction. */
	.globl asm_cfi
	.type asm_cfi, @function
asm_cfi:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	push %r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	sub $40, %rsp
	.cfi_adjust_cfa_offset 40
	mov %rdi, %rax
	mov %rsi, %rdi
	mov $2000, %ebx
1:	dec %ebx
	jnz 1b
	call *%rax
	add $40, %rsp
	.cfi_adjust_cfa_offset -40
	pop %r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size asm_cfi, . - asm_cfi

/* The same signature; the CFA is a DWARF expression: *(rsp + 16) + 8. */
	.globl asm_expression
	.type asm_expression, @function
asm_expression:
	.cfi_startproc
	mov %rsp, %rax
	sub $24, %rsp
	.cfi_adjust_cfa_offset 24
	mov %rax, 16(%rsp)
	.cfi_escape 0x0f, 0x05, 0x77, 0x10, 0x06, 0x23, 0x08
	mov %rdi, %rax
	mov %rsi, %rdi
	mov $2000, %ecx
1:	dec %ecx
	jnz 1b
	call *%rax
	.cfi_def_cfa %rsp, 32
	add $24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
	.size asm_expression, . - asm_expression

/* void asm_leaf(uint64_t rounds): no information, no frame. */
	.globl asm_leaf
	.type asm_leaf, @function
asm_leaf:
	dec %rdi
	jnz asm_leaf
	ret
	.size asm_leaf, . - asm_leaf

/* void asm_push(uint64_t rounds): no information, three pushed registers and room on the stack. */
	.globl asm_push
	.type asm_push, @function
asm_push:
	push %rbx
	push %r14
	push %r15
	sub $64, %rsp
	mov %rdi, 8(%rsp)
1:	decq 8(%rsp)
	jnz 1b
	add $64, %rsp
	pop %r15
	pop %r14
	pop %rbx
	ret
	.size asm_push, . - asm_push

/* void asm_frame(uint64_t rounds): no information, but a frame pointer. */
	.globl asm_frame
	.type asm_frame, @function
asm_frame:
	push %rbp
	mov %rsp, %rbp
	sub $128, %rsp
	mov %rdi, -8(%rbp)
1:	decq -8(%rbp)
	jnz 1b
	leave
	ret
	.size asm_frame, . - asm_frame

/* uint64_t asm_callback(uint64_t (*f)(uint64_t), uint64_t x): no information, calls back into C. */
	.globl asm_callback
	.type asm_callback, @function
asm_callback:
	push %rbx
	push %r12
	sub $24, %rsp
	mov %rdi, %rax
	mov %rsi, %rdi
	call *%rax
	add $24, %rsp
	pop %r12
	pop %rbx
	ret
	.size asm_callback, . - asm_callback

/* void asm_switch(void **save, void *load): leaves one stack for another. */
	.globl asm_switch
	.type asm_switch, @function
asm_switch:
	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	push %r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	push %r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r13, 0
	push %r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r14, 0
	push %r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r15, 0
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	pop %r15
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r15
	pop %r14
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r14
	pop %r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r13
	pop %r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	pop %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size asm_switch, . - asm_switch

/* Where a new stack of asm_switch begins: calls what is in rbx; nobody called it. */
	.globl asm_entry
	.type asm_entry, @function
asm_entry:
	.cfi_startproc
	.cfi_undefined %rip
	call *%rbx
	hlt
	.cfi_endproc
	.size asm_entry, . - asm_entry

	.section .note.GNU-stack, "", @progbits
