/* x86-64, as the System V ABI has it. See arch.h. */
#ifndef HYB_CPU_H
#define HYB_CPU_H

#include <cpuid.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>
#include <x86intrin.h>

#define ARCH_MACHINE EM_X86_64
#define ARCH_LOADER "/ld-linux-x86-64.so.2"
#define ARCH_ADDRESS_BITS 47

enum { ARCH_FP = 6, ARCH_SP = 7, ARCH_RA = 16, ARCH_REGISTERS = 17 };
#define ARCH_SAVED (1u << 3 | 1u << ARCH_FP | 0xfu << 12) /* rbx, rbp, r12 to r15 */
#define ARCH_LINK_REGISTER false
#define ARCH_SIGNAL_RETURN 0ull /* the C library has unwind information for it */

static inline uintptr_t arch_pc(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t arch_sp(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

static inline void arch_registers(const ucontext_t *context, uint64_t value[ARCH_REGISTERS])
{
	static const uint8_t order[ARCH_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
		REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
		REG_RIP};

	for (int i = 0; i < ARCH_REGISTERS; i++)
		value[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

/* The instruction syscall. */
static inline bool arch_before_system_call(const ucontext_t *context)
{
	const uint8_t *pc = (const uint8_t *)arch_pc(context);

	return pc[0] == 0x0f && pc[1] == 0x05;
}

static inline bool arch_behind_system_call(const ucontext_t *context)
{
	const uint8_t *pc = (const uint8_t *)arch_pc(context);

	return pc[-2] == 0x0f && pc[-1] == 0x05;
}

static inline int64_t arch_system_result(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RAX];
}

static inline void arch_end_system_call(ucontext_t *context, int64_t result)
{
	context->uc_mcontext.gregs[REG_RIP] += 2;
	context->uc_mcontext.gregs[REG_RAX] = result;
}

static inline const ucontext_t *arch_signal_context(uintptr_t sp)
{
	return (const ucontext_t *)sp;
}

static inline uintptr_t arch_context_end(const ucontext_t *context)
{
	return (uintptr_t)&context->uc_mcontext.gregs[REG_RIP];
}

static inline __attribute__((always_inline)) void arch_here(ucontext_t *context)
{
	greg_t *r = context->uc_mcontext.gregs;

	__asm__ volatile("movq %%rbx, %0\n\tmovq %%rbp, %1\n\tmovq %%r12, %2\n\tmovq %%r13, %3\n\t"
			 "movq %%r14, %4\n\tmovq %%r15, %5\n\tmovq %%rsp, %6"
			 : "=m"(r[REG_RBX]), "=m"(r[REG_RBP]), "=m"(r[REG_R12]), "=m"(r[REG_R13]),
			 "=m"(r[REG_R14]), "=m"(r[REG_R15]), "=m"(r[REG_RSP]));
	__asm__ volatile("leaq 0(%%rip), %%rax\n\tmovq %%rax, %0" : "=m"(r[REG_RIP]) : : "rax");
}

static inline __attribute__((always_inline)) uintptr_t arch_stack_pointer(void)
{
	uintptr_t sp;

	__asm__("mov %%rsp, %0" : "=r"(sp));
	return sp;
}

#define ARCH_CALLER_SP() ((uintptr_t)__builtin_frame_address(0) + 16)

static inline uintptr_t arch_address(uint64_t ra)
{
	return ra;
}

#define ARCH_COUNTER "time stamp counter"
#define ARCH_COUNTER_SHIFT 1 /* a millisecond still fits into a trace record's three bytes */

static inline uint64_t arch_counter(void)
{
	return __rdtsc();
}

static inline bool arch_counter_is_steady(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
}

static inline bool arch_read_pmc(uint32_t index, uint64_t *ret)
{
	*ret = (uint64_t)__rdpmc((int)index);
	return true;
}

#endif
