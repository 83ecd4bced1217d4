/* Which functions of other modules a module calls, by the slots that their addresses are put into. */
#include "base/map.h"
#include "base/strings.h"
#include "binary/import.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "hybrid/reader.h"
#include "binary/name.h"

/* The name as that of a function; versions are no part of it. */
static const char *keep_name(struct strings *store, const char *name)
{
	char *readable = sym_demangle(name);
	const char *kept = strings_add(
		store, readable ? readable : name, readable ? strlen(readable) : strcspn(name, "@"));

	free(readable);
	return kept;
}

static int add_relocation(
	struct map *imports, struct strings *store, Elf *elf, Elf_Scn *symbols, uint64_t slot, size_t index)
{
	Elf_Data *data = elf_getdata(symbols, NULL);
	GElf_Shdr header;
	GElf_Sym symbol;
	const char *name;

	if (!index || !data || index > INT32_MAX || !gelf_getshdr(symbols, &header) ||
		!gelf_getsym(data, (int)index, &symbol))
		return 0;
	name = elf_strptr(elf, header.sh_link, symbol.st_name);
	if (!name || !*name || GELF_ST_TYPE(symbol.st_info) == STT_OBJECT)
		return 0;
	name = keep_name(store, name);
	return name && map_put(imports, MAP_KEY(slot), (void *)name) ? 0 : HYB_ENOMEM;
}

static int add_section(
	struct map *imports, struct strings *store, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	int r = 0;

	for (size_t i = 0; symbols && data && i < count && i <= INT32_MAX && !r; i++) {
		GElf_Rela rela;
		GElf_Rel rel;

		if (header->sh_type == SHT_RELA && gelf_getrela(data, (int)i, &rela))
			r = add_relocation(
				imports, store, elf, symbols, rela.r_offset, (size_t)GELF_R_SYM(rela.r_info));
		else if (header->sh_type == SHT_REL && gelf_getrel(data, (int)i, &rel))
			r = add_relocation(
				imports, store, elf, symbols, rel.r_offset, (size_t)GELF_R_SYM(rel.r_info));
	}
	return r;
}

int sym_imports_load(struct map *imports, struct strings *store, Elf *elf)
{
	Elf_Scn *section = NULL;
	int r = 0;

	while (!r && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		/* Only those that the loader works through. */
		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC &&
			(header.sh_type == SHT_RELA || header.sh_type == SHT_REL))
			r = add_section(imports, store, elf, section, &header);
	}
	return r;
}
