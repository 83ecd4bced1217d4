/*
 * double scaled_sum(const double *x, size_t n, double scale): the sum of scale * x[i]. Written by hand, as the kernels of
 * MADNESS are: no call frame information, and a loop under a name of its own (.TKLOOP16) that no function's size covers.
 */
	.text
	.globl scaled_sum
	.type scaled_sum, @function
scaled_sum:
	pxor %xmm1, %xmm1
	test %rsi, %rsi
	jz .TKDONE
	jmp .TKLOOP16
	.size scaled_sum, . - scaled_sum

	.balign 16
.TKLOOP16:
	movsd (%rdi), %xmm2
	mulsd %xmm0, %xmm2
	addsd %xmm2, %xmm1
	sqrtsd %xmm1, %xmm3
	divsd %xmm3, %xmm1
	add $8, %rdi
	dec %rsi
	jnz .TKLOOP16
.TKDONE:
	movapd %xmm1, %xmm0
	ret

	.section .note.GNU-stack, "", @progbits
