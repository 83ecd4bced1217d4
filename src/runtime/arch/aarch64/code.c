#include "runtime/arch/arch.h"

#include <string.h>

static uint32_t word_at(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

/* The lowest `bits` of `v`, with a sign. */
static int64_t extend(uint64_t v, unsigned bits)
{
	return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

enum arch_call arch_call_before(const uint8_t code[8], uintptr_t at, uintptr_t *ret_target)
{
	uint32_t word = word_at(code + 4);

	*ret_target = 0;
	if (word >> 26 == 0x25) { /* bl */
		*ret_target = at - 4 + (uintptr_t)(extend(word, 26) * 4);
		return ARCH_CALL_DIRECT;
	}
	/* blr; blraaz and its like, whose target is signed */
	return (word & 0xfffffc1f) == 0xd63f0000 || (word & 0xfefff800) == 0xd63f0800 ? ARCH_CALL_REGISTER
										      : ARCH_NO_CALL;
}

/* adrp x16, page of the slot; ldr x17, [x16, where in the page]; the rest jumps. */
uintptr_t arch_plt_slot(const uint8_t code[16], uintptr_t at)
{
	unsigned i = word_at(code) == 0xd503245f ? 4 : 0; /* bti c */
	uint32_t adrp = word_at(code + i), ldr = word_at(code + i + 4);
	uint64_t page = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);

	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	return ((at + i) & ~0xffful) + (uintptr_t)(extend(page, 21) * 4096) + (ldr >> 10 & 0xfff) * 8;
}

int32_t arch_epilogue(const uint8_t code[ARCH_EPILOGUE], bool *ret_fp_popped)
{
	return 0; /* ret takes the address from a register */
}
