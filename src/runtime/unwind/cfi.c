#include "cfi.h"

#include <dwarf.h>
#include <stddef.h>
#include <string.h>

#include "cfi_read.h"
#include "runtime/memory.h"

#define MAX_REMEMBERED 4 /* compilers need one; this stands on the handler's stack */

/* A pointer in one of the encodings of the LSB. */
static uint64_t encoded(struct reader *r, uint8_t encoding, uintptr_t data)
{
	uintptr_t at = (uintptr_t)r->p + r->moved;
	uint64_t v;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		v = take(r, 8);
		break;
	case DW_EH_PE_udata2:
		v = take(r, 2);
		break;
	case DW_EH_PE_sdata2:
		v = (uint64_t)(int16_t)take(r, 2);
		break;
	case DW_EH_PE_udata4:
		v = take(r, 4);
		break;
	case DW_EH_PE_sdata4:
		v = (uint64_t)(int32_t)take(r, 4);
		break;
	case DW_EH_PE_uleb128:
		v = uleb(r);
		break;
	case DW_EH_PE_sleb128:
		v = (uint64_t)sleb(r);
		break;
	default:
		r->failed = true;
		return 0;
	}
	if (!v)
		return 0;
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		v += at;
	else if ((encoding & 0x70) == DW_EH_PE_datarel)
		v += data;
	return v; /* indirect pointers are only used for what is skipped */
}

/* ------------------------------------------------------------ CIE and FDE */

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding; /* of the addresses in its FDEs */
	bool augmented; /* FDEs have augmentation data */
	bool signal_frame;
	struct reader program;
};

/* The record at `at`; its id field is returned. False if it is not inside the object. */
static bool record(
	const struct module_map *map, uintptr_t at, struct reader *r, uint32_t *ret_id, uintptr_t *ret_id_at)
{
	struct reader head = {(const uint8_t *)at, (const uint8_t *)map->image_hi, false, 0};
	uint64_t length;

	if (at < map->image_lo || at + 12 > map->image_hi)
		return false;
	length = take(&head, 4);
	if (length == 0xffffffffu)
		length = take(&head, 8);
	if (!length || length > (uint64_t)(head.end - head.p))
		return false;
	r->p = head.p;
	r->end = head.p + length;
	r->failed = false;
	r->moved = map->moved;
	*ret_id_at = (uintptr_t)r->p;
	*ret_id = (uint32_t)take(r, 4);
	return !r->failed;
}

static bool read_cie(const struct module_map *map, uintptr_t at, struct cie *cie)
{
	struct reader r;
	const char *augmentation;
	uintptr_t id_at;
	uint32_t id;
	uint8_t version;

	memset(cie, 0, sizeof(*cie));
	if (!record(map, at, &r, &id, &id_at) || id != 0)
		return false;
	version = (uint8_t)take(&r, 1);
	augmentation = (const char *)r.p;
	if ((version != 1 && version != 3) || !memchr(r.p, 0, (size_t)(r.end - r.p)))
		return false;
	r.p += strlen(augmentation) + 1;
	cie->code_align = uleb(&r);
	cie->data_align = sleb(&r);
	cie->return_register = version == 1 ? take(&r, 1) : uleb(&r);
	if (*augmentation == 'z') {
		uint64_t length = uleb(&r);
		struct reader data = {r.p, r.p + length, false, r.moved};

		if (length > (uint64_t)(r.end - r.p))
			return false;
		r.p = data.end;
		cie->augmented = true;
		for (augmentation++; *augmentation; augmentation++) {
			if (*augmentation == 'R')
				cie->encoding = (uint8_t)take(&data, 1);
			else if (*augmentation == 'P')
				encoded(&data, (uint8_t)take(&data, 1), 0);
			else if (*augmentation == 'L')
				take(&data, 1);
			else if (*augmentation == 'S')
				cie->signal_frame = true;
			else
				break;
		}
		r.failed |= data.failed;
	} else if (*augmentation)
		return false;
	cie->program = r;
	return !r.failed && cie->return_register == ARCH_RA;
}

/* The address of the FDE for `pc`, from the sorted table of the object; 0: none. */
static uintptr_t search_table(const struct module_map *map, uintptr_t pc)
{
	uintptr_t hdr = map->eh_frame_hdr;
	struct reader r = {(const uint8_t *)hdr, (const uint8_t *)map->image_hi, false, 0};
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	uint64_t count, lo = 0, hi;
	const int32_t *table;

	if (hdr < map->image_lo || hdr + 12 > map->image_hi)
		return 0;
	version = (uint8_t)take(&r, 1);
	frame_encoding = (uint8_t)take(&r, 1);
	count_encoding = (uint8_t)take(&r, 1);
	table_encoding = (uint8_t)take(&r, 1);
	if (version != 1 || table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return 0;
	encoded(&r, frame_encoding, hdr);
	count = encoded(&r, count_encoding, hdr);
	if (r.failed || count > (uint64_t)(r.end - r.p) / 8)
		return 0;
	table = (const int32_t *)r.p;
	for (hi = count; lo < hi;) { /* the last entry that starts at or before pc */
		uint64_t mid = (lo + hi) / 2;

		if (hdr + (uintptr_t)(intptr_t)table[2 * mid] <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? hdr + (uintptr_t)(intptr_t)table[2 * lo - 1] : 0;
}

/* ------------------------------------------------------------ the program */

struct machine {
	struct cfi_row *row;
	struct cfi_row initial;
	struct cfi_row remembered[MAX_REMEMBERED];
	unsigned depth;
	const struct cie *cie;
	uintptr_t location;
};

static void set(struct machine *m, uint64_t reg, enum cfi_kind kind, int64_t offset)
{
	if (reg < ARCH_REGISTERS)
		m->row->reg[reg] = (struct cfi_rule){.kind = (uint8_t)kind, .offset = offset};
}

static void set_expression(struct cfi_rule *rule, enum cfi_kind kind, struct reader *r)
{
	uint64_t length = uleb(r);

	if (length > (uint64_t)(r->end - r->p) || length > UINT16_MAX) {
		r->failed = true;
		return;
	}
	*rule = (struct cfi_rule){.kind = (uint8_t)kind, .length = (uint16_t)length, .expression = r->p};
	r->p += length;
}

static void reg_expression(struct machine *m, uint64_t reg, enum cfi_kind kind, struct reader *r)
{
	struct cfi_rule unused;

	set_expression(reg < ARCH_REGISTERS ? &m->row->reg[reg] : &unused, kind, r);
}

static void def_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	m->row->cfa_register = (uint8_t)(reg < ARCH_REGISTERS ? reg : ARCH_RA);
	m->row->cfa = (struct cfi_rule){.kind = CFI_OFFSET, .offset = offset};
}

/* One instruction that changes rules. */
static void instruction(struct machine *m, uint8_t op, struct reader *r)
{
	int64_t align = m->cie->data_align;
	uint64_t reg;

	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_offset_extended:
		reg = uleb(r);
		set(m, reg, CFI_OFFSET, (int64_t)uleb(r) * align);
		break;
	case DW_CFA_offset_extended_sf:
		reg = uleb(r);
		set(m, reg, CFI_OFFSET, sleb(r) * align);
		break;
	case DW_CFA_val_offset:
		reg = uleb(r);
		set(m, reg, CFI_VAL_OFFSET, (int64_t)uleb(r) * align);
		break;
	case DW_CFA_val_offset_sf:
		reg = uleb(r);
		set(m, reg, CFI_VAL_OFFSET, sleb(r) * align);
		break;
	case DW_CFA_restore_extended:
		reg = uleb(r);
		if (reg < ARCH_REGISTERS)
			m->row->reg[reg] = m->initial.reg[reg];
		break;
	case DW_CFA_undefined:
		set(m, uleb(r), CFI_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		set(m, uleb(r), CFI_SAME, 0);
		break;
	case DW_CFA_register:
		reg = uleb(r);
		set(m, reg, CFI_REGISTER, (int64_t)uleb(r));
		break;
	case DW_CFA_remember_state:
		if (m->depth == MAX_REMEMBERED)
			r->failed = true;
		else
			m->remembered[m->depth++] = *m->row;
		break;
	case DW_CFA_restore_state:
		if (!m->depth)
			r->failed = true;
		else
			*m->row = m->remembered[--m->depth];
		break;
	case DW_CFA_def_cfa:
		reg = uleb(r);
		def_cfa(m, reg, (int64_t)uleb(r));
		break;
	case DW_CFA_def_cfa_sf:
		reg = uleb(r);
		def_cfa(m, reg, sleb(r) * align);
		break;
	case DW_CFA_def_cfa_register:
		def_cfa(m, uleb(r), m->row->cfa.offset);
		break;
	case DW_CFA_def_cfa_offset:
		def_cfa(m, m->row->cfa_register, (int64_t)uleb(r));
		break;
	case DW_CFA_def_cfa_offset_sf:
		def_cfa(m, m->row->cfa_register, sleb(r) * align);
		break;
	case DW_CFA_def_cfa_expression:
		set_expression(&m->row->cfa, CFI_EXPRESSION, r);
		break;
	case DW_CFA_expression:
		reg = uleb(r);
		reg_expression(m, reg, CFI_EXPRESSION, r);
		break;
	case DW_CFA_val_expression:
		reg = uleb(r);
		reg_expression(m, reg, CFI_VAL_EXPRESSION, r);
		break;
	case DW_CFA_GNU_args_size:
		uleb(r);
		break;
	case DW_CFA_GNU_window_save: /* on ARM: return addresses are signed from here on, or no longer */
		break;
	default:
		r->failed = true;
	}
}

/* Runs a program up to `pc`. */
static bool run(struct machine *m, struct reader r, uintptr_t pc)
{
	while (r.p < r.end && !r.failed) {
		uint8_t op = (uint8_t)take(&r, 1);
		uint64_t advance = 0;

		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			advance = op & 0x3f;
			break;
		case DW_CFA_offset:
			set(m, op & 0x3f, CFI_OFFSET, (int64_t)uleb(&r) * m->cie->data_align);
			continue;
		case DW_CFA_restore:
			if ((op & 0x3f) < ARCH_REGISTERS)
				m->row->reg[op & 0x3f] = m->initial.reg[op & 0x3f];
			continue;
		default:
			if (op == DW_CFA_set_loc) {
				m->location = encoded(&r, m->cie->encoding, 0);
				if (m->location > pc)
					return !r.failed;
				continue;
			}
			if (op < DW_CFA_advance_loc1 || op > DW_CFA_advance_loc4) {
				instruction(m, op, &r);
				continue;
			}
			advance = take(&r, op == DW_CFA_advance_loc1 ? 1 : op == DW_CFA_advance_loc2 ? 2 : 4);
		}
		m->location += advance * m->cie->code_align;
		if (m->location > pc)
			break;
	}
	return !r.failed;
}

/* Reads the head of an FDE: what it covers, and its CIE. The program is what is left in `r`. */
static bool read_fde(const struct module_map *map, uintptr_t fde, struct reader *r, struct cie *cie,
	uintptr_t *ret_start, uintptr_t *ret_end)
{
	uintptr_t id_at;
	uint32_t id;

	if (!record(map, fde, r, &id, &id_at) || !id || !read_cie(map, id_at - id, cie))
		return false;
	*ret_start = encoded(r, cie->encoding, map->eh_frame_hdr);
	*ret_end = *ret_start + encoded(r, cie->encoding & 0x0f, 0);
	if (cie->augmented) {
		uint64_t length = uleb(r);

		if (length > (uint64_t)(r->end - r->p))
			return false;
		r->p += length;
	}
	return !r->failed;
}

/* A frame holds its return address, even if its table leaves out what the PLT pushed: glibc's resolver on ARM
 * does. */
static void reach_return_address(struct cfi_row *row)
{
	const struct cfi_rule *ra = &row->reg[ARCH_RA];
	int64_t more = ra->offset + 8;

	if (ra->kind != CFI_OFFSET || more <= 0 || row->cfa.kind != CFI_OFFSET)
		return;
	row->cfa.offset += more;
	for (unsigned reg = 0; reg < ARCH_REGISTERS; reg++)
		if (row->reg[reg].kind == CFI_OFFSET || row->reg[reg].kind == CFI_VAL_OFFSET)
			row->reg[reg].offset -= more;
}

bool cfi_find_in(const struct module_map *map, uintptr_t fde, uintptr_t pc, struct cfi_row *row)
{
	struct machine m = {.row = row};
	struct reader r;
	struct cie cie;

	memset(row, 0, sizeof(*row));
	if (!fde || !read_fde(map, fde, &r, &cie, &row->start, &row->end) || pc < row->start ||
		pc >= row->end)
		return false;
	row->signal_frame = cie.signal_frame;
	m.cie = &cie;
	m.location = row->start;
	if (!run(&m, cie.program, UINTPTR_MAX))
		return false;
	m.initial = *row;
	m.location = row->start;
	if (!run(&m, r, pc))
		return false;
	reach_return_address(row);
	return true;
}

bool cfi_find(const struct module_map *map, uintptr_t pc, struct cfi_row *row)
{
	return cfi_find_in(map, search_table(map, pc), pc, row);
}

uintptr_t cfi_next(const struct module_map *map, uintptr_t at, uintptr_t *ret_start, uintptr_t *ret_end)
{
	struct reader r;
	struct cie cie;
	uintptr_t id_at, end;
	uint32_t id;

	*ret_start = *ret_end = 0;
	if (!record(map, at, &r, &id, &id_at))
		return 0;
	end = (uintptr_t)r.end;
	if (id && !read_fde(map, at, &r, &cie, ret_start, ret_end))
		*ret_start = *ret_end = 0;
	return end;
}
