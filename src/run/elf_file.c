#include "run/elf_file.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

/* The bytes of the file at the virtual address, `size` of them; NULL if they are not in it. */
static const void *at_address(const char *file, size_t file_size, const ElfW(Phdr) * load, unsigned count,
	uint64_t address, size_t size)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t offset = address - load[i].p_vaddr + load[i].p_offset;

		if (load[i].p_type == PT_LOAD && address - load[i].p_vaddr < load[i].p_filesz &&
			offset < file_size && size <= file_size - offset)
			return file + offset;
	}
	return NULL;
}

bool elf_needs(const char *file, size_t size, const char *name)
{
	const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)file;
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)(file + elf->e_phoff);
	const ElfW(Dyn) *dynamic = NULL;
	uint64_t strings = 0;
	size_t entries = 0;

	if (elf->e_phoff > size || elf->e_phnum > (size - elf->e_phoff) / sizeof(*headers))
		return false;
	for (unsigned i = 0; i < elf->e_phnum; i++)
		if (headers[i].p_type == PT_DYNAMIC && headers[i].p_offset < size &&
			headers[i].p_filesz <= size - headers[i].p_offset) {
			dynamic = (const ElfW(Dyn) *)(file + headers[i].p_offset);
			entries = headers[i].p_filesz / sizeof(*dynamic);
		}
	for (size_t i = 0; i < entries; i++)
		if (dynamic[i].d_tag == DT_STRTAB)
			strings = dynamic[i].d_un.d_ptr;
	for (size_t i = 0; i < entries; i++) {
		const char *text = dynamic[i].d_tag == DT_NEEDED
					   ? at_address(file, size, headers, elf->e_phnum,
						     strings + dynamic[i].d_un.d_val, strlen(name))
					   : NULL;

		if (text && !strncmp(text, name, strlen(name)))
			return true;
	}
	return false;
}

/* Whether [offset, offset + bytes) is in the file. */
static bool inside(size_t size, uint64_t offset, uint64_t bytes)
{
	return offset <= size && bytes <= size - offset;
}

/* Whether the table of symbols with its strings defines `name`. */
static bool table_defines(
	const char *file, size_t size, const ElfW(Shdr) * table, const ElfW(Shdr) * strings, const char *name)
{
	const ElfW(Sym) *symbols = (const ElfW(Sym) *)(file + table->sh_offset);
	size_t length = strlen(name) + 1;

	if (!inside(size, table->sh_offset, table->sh_size) || table->sh_offset % 8 ||
		!inside(size, strings->sh_offset, strings->sh_size))
		return false;
	for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++)
		if (symbols[i].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
			symbols[i].st_name < strings->sh_size &&
			length <= strings->sh_size - symbols[i].st_name &&
			!memcmp(file + strings->sh_offset + symbols[i].st_name, name, length))
			return true;
	return false;
}

bool elf_defines(const char *file, size_t size, const char *name)
{
	const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)file;
	const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(file + elf->e_shoff);

	if (elf->e_shoff % 8 || !inside(size, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(*sections)))
		return false;
	for (unsigned i = 0; i < elf->e_shnum; i++)
		if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
			sections[i].sh_link < elf->e_shnum &&
			table_defines(file, size, &sections[i], &sections[sections[i].sh_link], name))
			return true;
	return false;
}

bool elf_has_section(const char *file, size_t size, const char *name)
{
	const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)file;
	const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(file + elf->e_shoff), *names;
	size_t length = strlen(name) + 1;

	if (elf->e_shoff % 8 || !inside(size, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(*sections)) ||
		elf->e_shstrndx >= elf->e_shnum)
		return false;
	names = &sections[elf->e_shstrndx];
	if (!inside(size, names->sh_offset, names->sh_size))
		return false;
	for (unsigned i = 0; i < elf->e_shnum; i++)
		if (sections[i].sh_name < names->sh_size && length <= names->sh_size - sections[i].sh_name &&
			!memcmp(file + names->sh_offset + sections[i].sh_name, name, length))
			return true;
	return false;
}
