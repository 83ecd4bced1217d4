#include "binary/cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <string.h>

#include "hybrid/reader.h"

struct cfi {
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t address; /* of the first byte of `data` */
	Dwarf_Off cie; /* the one whose encoding is known; (Dwarf_Off)-1: none */
	uint8_t encoding; /* of its addresses; DW_EH_PE_omit: not understood */
};

/* Bytes of a value; 0: none of a fixed size. */
static unsigned size_of(uint8_t encoding)
{
	switch (encoding & 7) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
		return 8;
	case DW_EH_PE_udata4:
		return 4;
	case DW_EH_PE_udata2:
		return 2;
	}
	return 0;
}

/* The encoding of a CIE's addresses. */
static uint8_t encoding_of(const Dwarf_CIE *cie)
{
	const uint8_t *p = cie->augmentation_data, *end = p + cie->augmentation_data_size;
	const char *letter = cie->augmentation;

	if (!*letter)
		return DW_EH_PE_absptr;
	if (*letter != 'z')
		return DW_EH_PE_omit;
	while (*++letter && p < end) {
		if (*letter == 'R')
			return *p;
		if (*letter == 'P' && size_of(*p) && size_of(*p) < end - p)
			p += 1 + size_of(*p);
		else if (*letter == 'L')
			p++;
		else if (*letter != 'S' && *letter != 'B')
			return DW_EH_PE_omit;
	}
	return *letter ? DW_EH_PE_omit : DW_EH_PE_absptr;
}

/* Makes `encoding` that of the CIE at an offset. */
static void look_at_cie(struct cfi *cfi, Dwarf_Off offset)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (cfi->cie == offset)
		return;
	cfi->cie = offset;
	cfi->encoding = DW_EH_PE_omit;
	if (dwarf_next_cfi(cfi->ident, cfi->data, true, offset, &next, &entry) == 0 &&
		dwarf_cfi_cie_p(&entry))
		cfi->encoding = encoding_of(&entry.cie);
}

static uint64_t value_at(const uint8_t *p, uint8_t encoding)
{
	unsigned size = size_of(encoding), unused = 64 - 8 * size;
	uint64_t value = 0;

	memcpy(&value, p, size);
	return encoding & DW_EH_PE_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static int add_function(struct cfi *cfi, const Dwarf_FDE *fde, struct sym_ranges *ranges)
{
	unsigned size, relative;
	uint64_t lo, length;

	look_at_cie(cfi, fde->CIE_pointer);
	size = size_of(cfi->encoding);
	relative = cfi->encoding & 0xf0;
	if (!size || fde->end - fde->start < 2 * size || (relative && relative != DW_EH_PE_pcrel))
		return 0;
	lo = value_at(fde->start, cfi->encoding);
	if (relative)
		lo += cfi->address + (uint64_t)(fde->start - (const uint8_t *)cfi->data->d_buf);
	length = value_at(fde->start + size, cfi->encoding & 7);
	return lo + length > lo ? sym_ranges_add(ranges, lo, lo + length, 0) : 0;
}

static int add_section(struct cfi *cfi, struct sym_ranges *ranges)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off offset = 0, next;
	int r = 0, more;

	while (!r && (more = dwarf_next_cfi(cfi->ident, cfi->data, true, offset, &next, &entry)) <= 0) {
		if (more == 0 && !dwarf_cfi_cie_p(&entry))
			r = add_function(cfi, &entry.fde, ranges);
		/* What cannot be skipped has no next. */
		if (next == (Dwarf_Off)-1 || next <= offset)
			break;
		offset = next;
	}
	return r;
}

static Elf_Scn *find_section(Elf *elf, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, ret_header) || ret_header->sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, ret_header->sh_name);
		if (name && !strcmp(name, ".eh_frame"))
			return section;
	}
	return NULL;
}

int sym_cfi_load(struct sym_ranges *ranges, Elf *elf)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	struct cfi cfi = {.ident = ident, .cie = (Dwarf_Off)-1};
	Elf_Scn *section;
	GElf_Shdr header;
	int r = 0;

	if (!ident || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	section = find_section(elf, &header);
	cfi.data = section ? elf_rawdata(section, NULL) : NULL;
	cfi.address = section ? header.sh_addr : 0;
	if (cfi.data && cfi.data->d_buf)
		r = add_section(&cfi, ranges);
	sym_ranges_sort(ranges);
	return r;
}
