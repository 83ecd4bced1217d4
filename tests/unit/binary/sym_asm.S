/* Code that only a line table, or only a symbol table, knows. */
	.text
	.globl	sized
	.type	sized, @function
sized:
	nop
mark_asm:
	nop	/* LINE mark_asm */
	ret
	.size	sized, . - sized
	.globl	unsized
	.type	unsized, @function
unsized:
	nop
	nop
	ret
	.globl	main
	.type	main, @function
main:
	xor	%eax, %eax
	ret
	.size	main, . - main
	.section .note.GNU-stack, "", @progbits
