/* ARM of 64 bits, as the AAPCS64 has it. See arch.h. */
#ifndef HYB_CPU_H
#define HYB_CPU_H

#include <elf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define ARCH_MACHINE EM_AARCH64
#define ARCH_LOADER "/ld-linux-aarch64.so.1"
#define ARCH_ADDRESS_BITS 48

enum { ARCH_FP = 29, ARCH_RA = 30, ARCH_SP = 31, ARCH_REGISTERS = 32 };
#define ARCH_SAVED (0xfffu << 19) /* x19 to x30 */
#define ARCH_LINK_REGISTER true
/* mov x8, #139; svc #0: the kernel leaves it without, for libgcc */
#define ARCH_SIGNAL_RETURN 0xd4000001d2801168ull

static inline uintptr_t arch_pc(const ucontext_t *context)
{
	return context->uc_mcontext.pc;
}

static inline uintptr_t arch_sp(const ucontext_t *context)
{
	return context->uc_mcontext.sp;
}

static inline void arch_registers(const ucontext_t *context, uint64_t value[ARCH_REGISTERS])
{
	for (int i = 0; i < ARCH_SP; i++)
		value[i] = context->uc_mcontext.regs[i];
	value[ARCH_SP] = arch_sp(context);
}

/* The instruction svc #0. */
static inline bool arch_before_system_call(const ucontext_t *context)
{
	return *(const uint32_t *)arch_pc(context) == 0xd4000001u;
}

static inline bool arch_behind_system_call(const ucontext_t *context)
{
	return ((const uint32_t *)arch_pc(context))[-1] == 0xd4000001u;
}

static inline int64_t arch_system_result(const ucontext_t *context)
{
	return (int64_t)context->uc_mcontext.regs[0];
}

static inline void arch_end_system_call(ucontext_t *context, int64_t result)
{
	context->uc_mcontext.pc += 4;
	context->uc_mcontext.regs[0] = (uint64_t)result;
}

/* Behind the siginfo_t. */
static inline const ucontext_t *arch_signal_context(uintptr_t sp)
{
	return (const ucontext_t *)(sp + sizeof(siginfo_t));
}

static inline uintptr_t arch_context_end(const ucontext_t *context)
{
	return (uintptr_t)&context->uc_mcontext.pc;
}

static inline __attribute__((always_inline)) void arch_here(ucontext_t *context)
{
	__asm__ volatile(
		"stp x19, x20, [%0, 152]\n\tstp x21, x22, [%0, 168]\n\tstp x23, x24, [%0, 184]\n\t"
		"stp x25, x26, [%0, 200]\n\tstp x27, x28, [%0, 216]\n\tstp x29, x30, [%0, 232]\n\t"
		"mov x9, sp\n\tstr x9, [%1]\n\tadr x9, .\n\tstr x9, [%2]"
		:
		: "r"(context->uc_mcontext.regs), "r"(&context->uc_mcontext.sp), "r"(&context->uc_mcontext.pc)
		: "x9", "memory");
}

static inline __attribute__((always_inline)) uintptr_t arch_stack_pointer(void)
{
	uintptr_t sp;

	__asm__("mov %0, sp" : "=r"(sp));
	return sp;
}

/* A frame pointer does not tell where the frame ends. */
#ifdef __clang__ /* whose __builtin_dwarf_cfa() is the frame pointer */
#define ARCH_CALLER_SP() ((uintptr_t)__builtin_sponentry())
#else
#define ARCH_CALLER_SP() ((uintptr_t)__builtin_dwarf_cfa())
#endif

/* xpaclri, which older processors do not know and pass over. */
static inline uintptr_t arch_address(uint64_t ra)
{
	register uint64_t x30 __asm__("x30") = ra;

	__asm__("hint 7" : "+r"(x30));
	return x30;
}

#define ARCH_COUNTER "virtual counter (cntvct_el0)"
#define ARCH_COUNTER_SHIFT 0 /* some count no faster than every 40 ns */

static inline uint64_t arch_counter(void)
{
	uint64_t count;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	return count;
}

static inline bool arch_counter_is_steady(void)
{
	return true; /* the architecture demands it */
}

static inline bool arch_read_pmc(uint32_t index, uint64_t *ret)
{
	return false;
}

#endif
