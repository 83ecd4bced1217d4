#include "binary/disassemble.h"

#include <stdio.h>

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <elf.h>

const char *disassemble_missing(void)
{
	return NULL;
}

static bool choose(const struct hyb_code *code, cs_arch *arch, cs_mode *mode)
{
	*mode = code->big_endian ? CS_MODE_BIG_ENDIAN : CS_MODE_LITTLE_ENDIAN;
	switch (code->machine) {
	case EM_X86_64:
	case EM_386:
		*arch = CS_ARCH_X86;
		*mode = code->machine == EM_386 ? CS_MODE_32 : CS_MODE_64;
		return true;
	case EM_AARCH64:
		*arch = CS_ARCH_ARM64;
		return true;
	case EM_PPC64:
		*arch = CS_ARCH_PPC;
		*mode |= CS_MODE_64;
		return true;
	}
	return false;
}

static uint64_t target_of(cs_arch arch, const cs_insn *insn)
{
	const cs_detail *detail = insn->detail;

	switch (arch) {
	case CS_ARCH_X86:
		for (unsigned i = 0; i < detail->x86.op_count; i++)
			if (detail->x86.operands[i].type == X86_OP_IMM)
				return (uint64_t)detail->x86.operands[i].imm;
		break;
	case CS_ARCH_ARM64: /* a condition and what it tests may stand in front */
		for (unsigned i = detail->arm64.op_count; i-- > 0;)
			if (detail->arm64.operands[i].type == ARM64_OP_IMM)
				return (uint64_t)detail->arm64.operands[i].imm;
		break;
	case CS_ARCH_PPC:
		for (unsigned i = detail->ppc.op_count; i-- > 0;)
			if (detail->ppc.operands[i].type == PPC_OP_IMM)
				return (uint64_t)detail->ppc.operands[i].imm;
		break;
	default:
		break;
	}
	return 0;
}

/* The address that a jump or call takes its target from, relative to the instruction behind it. */
static uint64_t slot_of(cs_arch arch, const cs_insn *insn)
{
	const cs_x86_op *op = &insn->detail->x86.operands[0];

	if (arch != CS_ARCH_X86 || insn->detail->x86.op_count != 1 || op->type != X86_OP_MEM ||
		op->mem.base != X86_REG_RIP || op->mem.index != X86_REG_INVALID)
		return 0;
	return insn->address + insn->size + (uint64_t)op->mem.disp;
}

static void translate(csh handle, cs_arch arch, const cs_insn *insn, struct instruction *to)
{
	*to = (struct instruction){.address = insn->address, .size = insn->size};
	to->call = cs_insn_group(handle, insn, CS_GRP_CALL) ||
		   (arch == CS_ARCH_ARM64 && insn->id == ARM64_INS_BL);
	to->jump = !to->call && cs_insn_group(handle, insn, CS_GRP_JUMP);
	if (to->call || to->jump) {
		to->target = target_of(arch, insn);
		to->slot = slot_of(arch, insn);
	}
	snprintf(to->mnemonic, sizeof(to->mnemonic), "%s", insn->mnemonic);
	snprintf(to->operands, sizeof(to->operands), "%s", insn->op_str);
}

/* What is no instruction: a byte, or as many as all instructions have. */
static void take_bytes(
	cs_arch arch, const uint8_t *bytes, size_t left, uint64_t address, struct instruction *to)
{
	*to = (struct instruction){.address = address, .size = arch == CS_ARCH_X86 || left < 4 ? 1 : 4};
	snprintf(to->mnemonic, sizeof(to->mnemonic), ".byte");
	for (unsigned i = 0, at = 0; i < to->size; i++)
		at += (unsigned)snprintf(
			to->operands + at, sizeof(to->operands) - at, "%s0x%02x", i ? ", " : "", bytes[i]);
}

int disassemble(const struct hyb_code *code, const uint8_t *bytes, uint64_t address, bool att,
	int (*put)(void *data, const struct instruction *instruction), void *data)
{
	struct instruction instruction;
	size_t left = code->size;
	cs_arch arch;
	cs_mode mode;
	cs_insn *insn;
	csh handle;
	int r = 0;

	if (!choose(code, &arch, &mode) || cs_open(arch, mode, &handle) != CS_ERR_OK)
		return HYB_EFORMAT;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (att && arch == CS_ARCH_X86)
		cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	insn = cs_malloc(handle);
	while (insn && left && !r) {
		if (cs_disasm_iter(handle, &bytes, &left, &address, insn)) {
			translate(handle, arch, insn, &instruction);
		} else {
			take_bytes(arch, bytes, left, address, &instruction);
			bytes += instruction.size;
			left -= instruction.size;
			address += instruction.size;
		}
		r = put(data, &instruction);
	}
	if (insn)
		cs_free(insn, 1);
	else
		r = HYB_ENOMEM;
	cs_close(&handle);
	return r;
}

#else

const char *disassemble_missing(void)
{
	return "built without capstone, so that there are no instructions: install libcapstone-dev, build "
	       "again";
}

int disassemble(const struct hyb_code *code, const uint8_t *bytes, uint64_t address, bool att,
	int (*put)(void *data, const struct instruction *instruction), void *data)
{
	return HYB_EFORMAT;
}

#endif
