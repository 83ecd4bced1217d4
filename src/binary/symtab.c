#include "binary/symtab.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "hybrid/reader.h"
#include "binary/cfi.h"

static int load_sections(struct sym_symtab *symtab, Elf *elf)
{
	Elf_Scn *section = NULL;
	int r = 0;

	while (!r && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR && header.sh_size &&
			header.sh_addr + header.sh_size > header.sh_addr)
			r = sym_ranges_add(&symtab->sections, header.sh_addr, header.sh_addr + header.sh_size,
				(uint32_t)elf_ndxscn(section));
	}
	sym_ranges_sort(&symtab->sections);
	return r;
}

/* A file whose section headers were removed is one section. */
static bool same_section(const struct sym_symtab *symtab, uint64_t a, uint64_t b)
{
	return !symtab->sections.count ||
	       sym_ranges_find(&symtab->sections, a) == sym_ranges_find(&symtab->sections, b);
}

static bool is_code(const struct sym_symtab *symtab, const GElf_Sym *sym, uint64_t address)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	/* Labels of assembly code. */
	return type == STT_NOTYPE && sym_ranges_find(&symtab->sections, address);
}

#define RANK_FUNCTION 256u

/* Real functions first, then global names, then those without underscores in front. */
static unsigned rank(const GElf_Sym *sym, const char *name)
{
	unsigned binding = GELF_ST_BIND(sym->st_info);
	unsigned underscores = (unsigned)strspn(name, "_");

	return (GELF_ST_TYPE(sym->st_info) != STT_NOTYPE ? RANK_FUNCTION : 0) | (binding == STB_GLOBAL) << 7 |
	       (binding == STB_WEAK) << 6 | (underscores < 8 ? 8 - underscores : 0);
}

static int compare(const void *a, const void *b)
{
	const struct sym_symbol *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return -strcmp(x->name, y->name);
}

static int load_symbols(struct sym_symtab *symtab, Dwfl_Module *module, GElf_Addr bias)
{
	int n = dwfl_module_getsymtab(module);

	if (n <= 0)
		return 0;
	symtab->symbols = malloc((size_t)n * sizeof(*symtab->symbols));
	if (!symtab->symbols)
		return HYB_ENOMEM;
	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(module, i, &sym, &address, NULL, NULL, NULL);

		/* "$x" and the like mark code and data, they name nothing. */
		if (name && *name && *name != '$' && is_code(symtab, &sym, address - bias))
			symtab->symbols[symtab->count++] = (struct sym_symbol){.name = name,
				.address = address - bias,
				.size = sym.st_size,
				.rank = rank(&sym, name)};
	}
	return 0;
}

/* Functions first: a label inside one is no function of its own. */
static int add_ranges(struct sym_symtab *symtab, bool functions)
{
	struct sym_ranges *ranges = &symtab->by_address;
	size_t covered = ranges->count;
	int r = 0;

	for (size_t i = 0; i < symtab->count && !r; i++) {
		struct sym_symbol *symbol = &symtab->symbols[i];

		if ((symbol->rank >= RANK_FUNCTION) != functions)
			continue;
		/* A damaged table may have symbols that reach around the address space. */
		if (symbol->address + symbol->size < symbol->address)
			symbol->size = 0;
		if (functions ||
			!sym_ranges_find(&(struct sym_ranges){ranges->items, covered}, symbol->address))
			r = sym_ranges_add(
				ranges, symbol->address, symbol->address + symbol->size, (uint32_t)i);
	}
	sym_ranges_sort(ranges);
	return r;
}

int sym_symtab_load(struct sym_symtab *symtab, Dwfl_Module *module)
{
	GElf_Addr bias = 0;
	Elf *elf = dwfl_module_getelf(module, &bias);
	int r = elf ? load_sections(symtab, elf) : 0;

	symtab->elf = elf;
	if (!r)
		r = load_symbols(symtab, module, bias);
	if (r)
		return r;
	if (symtab->count)
		qsort(symtab->symbols, symtab->count, sizeof(*symtab->symbols), compare);
	r = add_ranges(symtab, true);
	return r ? r : add_ranges(symtab, false);
}

/* Most files are never asked for what no symbol holds. */
static const struct sym_range *find_function(struct sym_symtab *symtab, uint64_t address, int *ret_error)
{
	*ret_error = symtab->elf ? sym_cfi_load(&symtab->functions, symtab->elf) : 0;
	symtab->elf = NULL;
	return *ret_error ? NULL : sym_ranges_find(&symtab->functions, address);
}

/* The last range that begins in front of the address, in its section. */
static const struct sym_range *range_before(
	const struct sym_symtab *symtab, const struct sym_ranges *ranges, uint64_t address)
{
	const struct sym_range *range = sym_ranges_before(ranges, address);

	return range && same_section(symtab, range->lo, address) ? range : NULL;
}

/* Code that neither a symbol nor call frame information holds. */
static void find_label(const struct sym_symtab *symtab, uint64_t address, struct sym_place *place)
{
	const struct sym_range *symbol = range_before(symtab, &symtab->by_address, address);
	const struct sym_range *function = range_before(symtab, &symtab->functions, address);

	place->label = symbol && symbol->lo == symbol->hi && !(function && function->hi > symbol->lo);
	if (place->label)
		place->symbol = &symtab->symbols[symbol->value];
	else if (symbol)
		place->start = function && function->hi > symbol->hi ? function->hi : symbol->hi;
}

int sym_symtab_find(struct sym_symtab *symtab, uint64_t address, struct sym_place *ret_place)
{
	const struct sym_range *range = sym_ranges_find(&symtab->by_address, address), *function;
	struct sym_place place = {0};
	int r = 0;

	if (range) {
		place.symbol = &symtab->symbols[range->value];
	} else if ((function = find_function(symtab, address, &r))) {
		/* A symbol without a size may begin it. */
		range = sym_ranges_before(&symtab->by_address, function->lo);
		if (range && range->lo == function->lo)
			place.symbol = &symtab->symbols[range->value];
		else
			place.start = function->lo;
	} else if (!r) {
		find_label(symtab, address, &place);
	}
	if (!r)
		*ret_place = place;
	return r;
}

/* Where code ends that begins at a label. 0: not known. */
static uint64_t end_of_label(const struct sym_symtab *symtab, uint64_t address)
{
	const struct sym_range *section = sym_ranges_find(&symtab->sections, address);
	uint64_t end = section ? section->hi : 0;

	for (size_t i = 0; i < symtab->by_address.count; i++) {
		uint64_t start = symtab->by_address.items[i].lo;

		if (start > address)
			return !end || start < end ? start : end;
	}
	return end;
}

int sym_symtab_extent(struct sym_symtab *symtab, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	const struct sym_range *range = sym_ranges_find(&symtab->by_address, address);
	struct sym_place place = {0};
	int r = 0;

	if (!range)
		range = find_function(symtab, address, &r);
	if (!r && !range) {
		find_label(symtab, address, &place);
		if (!place.label)
			return 0;
		*ret_start = place.symbol->address;
		*ret_end = end_of_label(symtab, address);
		return *ret_end != 0;
	}
	if (r)
		return r;
	*ret_start = range->lo;
	*ret_end = range->hi;
	return 1;
}

void sym_symtab_release(struct sym_symtab *symtab)
{
	free(symtab->symbols);
	sym_ranges_release(&symtab->by_address);
	sym_ranges_release(&symtab->sections);
	sym_ranges_release(&symtab->functions);
	memset(symtab, 0, sizeof(*symtab));
}
