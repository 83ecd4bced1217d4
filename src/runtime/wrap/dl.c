/*
 * dlopen and dlclose look at the address they return to, to find the caller's
 * search path: they are jumped to, so that it stays the caller's. All we do is
 * to note that the module table may change.
 */
#include <dlfcn.h>

#include "runtime/unwind/modules.h"
#include "runtime/python/python.h"
#include "wrap.h"

/* Called by the jumps below. Returns where to go on. */
__attribute__((used)) void *wrap_dl_target(int closing);

void *wrap_dl_target(int closing)
{
	static void *target[2]; /* looked up once; two threads find the same */

	if (closing)
		modules_closing();
	else
		modules_opening();
	python_look();
	if (closing)
		python_closing();
	else
		python_expect();
	if (!target[closing])
		target[closing] = dlsym(RTLD_NEXT, closing ? "dlclose" : "dlopen");
	return target[closing];
}

#if defined(__x86_64__)
/* Keeps the argument registers and the stack as they were. */
#define JUMP(name, closing) \
	__asm__(".pushsection .text\n\t" \
		".globl " #name "\n\t" \
		".type " #name ", @function\n" #name ":\n\t" \
		".cfi_startproc\n\t" \
		"push %rdi\n\t" \
		".cfi_adjust_cfa_offset 8\n\t" \
		"push %rsi\n\t" \
		".cfi_adjust_cfa_offset 8\n\t" \
		"sub $8, %rsp\n\t" \
		".cfi_adjust_cfa_offset 8\n\t" \
		"mov $" #closing ", %edi\n\t" \
		"call wrap_dl_target\n\t" \
		"add $8, %rsp\n\t" \
		".cfi_adjust_cfa_offset -8\n\t" \
		"pop %rsi\n\t" \
		".cfi_adjust_cfa_offset -8\n\t" \
		"pop %rdi\n\t" \
		".cfi_adjust_cfa_offset -8\n\t" \
		"jmp *%rax\n\t" \
		".cfi_endproc\n\t" \
		".size " #name ", . - " #name "\n\t" \
		".popsection")
JUMP(dlopen, 0);
JUMP(dlclose, 1);
#endif
