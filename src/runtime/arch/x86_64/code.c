#include "runtime/arch/arch.h"

#include <string.h>

static uintptr_t relative(const uint8_t *displacement, uintptr_t next)
{
	int32_t v;

	memcpy(&v, displacement, sizeof(v));
	return next + (uintptr_t)(intptr_t)v;
}

enum arch_call arch_call_before(const uint8_t code[8], uintptr_t at, uintptr_t *ret_target)
{
	*ret_target = relative(code + 4, at);
	if (code[3] == 0xe8)
		return ARCH_CALL_DIRECT;
	if (code[2] == 0xff && code[3] == 0x15) /* call *slot(%rip) */
		return ARCH_CALL_SLOT;
	*ret_target = 0;
	return (code[6] == 0xff && (code[7] & 0xf8) == 0xd0) || /* call *%reg */
			       (code[5] == 0xff && (code[6] & 0xf8) == 0x50) || /* call *disp8(%reg) */
			       (code[2] == 0xff && (code[3] & 0xf8) == 0x90) || /* call *disp32(%reg) */
			       (code[6] == 0xff && (code[7] & 0xf8) == 0x10) /* call *(%reg) */
		       ? ARCH_CALL_REGISTER
		       : ARCH_NO_CALL;
}

uintptr_t arch_plt_slot(const uint8_t code[16], uintptr_t at)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t i = 0;

	if (!memcmp(code, endbr, sizeof(endbr)))
		i = sizeof(endbr);
	if (code[i] == 0xf2) /* bnd */
		i++;
	if (code[i] != 0xff || code[i + 1] != 0x25) /* jmp *slot(%rip) */
		return 0;
	return relative(code + i + 2, at + i + 6);
}

int32_t arch_epilogue(const uint8_t code[ARCH_EPILOGUE], bool *ret_fp_popped)
{
	int32_t end = 8, add;
	bool popped = false, last = false;
	unsigned i = 0;

	if (code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4) { /* add $imm8, %rsp */
		end += (int8_t)code[3];
		i = 4;
	} else if (code[0] == 0x48 && code[1] == 0x81 && code[2] == 0xc4) { /* add $imm32, %rsp */
		memcpy(&add, code + 3, sizeof(add));
		end += add;
		i = 7;
	}
	for (; i < ARCH_EPILOGUE - 8; i++, end += 8) {
		if (code[i] == 0x41) { /* of r8 to r15 */
			i++;
		} else if (code[i] == 0x5d) { /* rbp */
			popped = true;
			last = code[i + 1] == 0xc3;
		}
		if ((code[i] & 0xf8) != 0x58) /* pop */
			break;
	}
	*ret_fp_popped = popped;
	return code[i] == 0xc3 && popped == last ? end : 0;
}
