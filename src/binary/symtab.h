/* Function symbols of an ELF file by address: what is left where there is no DWARF. */
#ifndef HYB_READER_SYMBOLS_SYMTAB_H
#define HYB_READER_SYMBOLS_SYMTAB_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "binary/ranges.h"

struct sym_symbol {
	const char *name; /* as in the file; lives as long as the Dwfl */
	uint64_t address, size;
	unsigned rank; /* the best of several names for the same code has the highest */
};

/* Zeroed is empty. */
struct sym_symtab {
	struct sym_symbol *symbols;
	size_t count;
	struct sym_ranges by_address;
	struct sym_ranges sections; /* of code */
	struct sym_ranges functions; /* by their call frame information */
	Elf *elf; /* not owned; NULL once `functions` is loaded, or if there is no file */
};

/* What is known about the function at an address. */
struct sym_place {
	const struct sym_symbol *symbol; /* NULL: it has none */
	bool label; /* `symbol` has no size, and nothing else begins or ends between it and the address */
	/* Without a symbol: where the function begins, by its call frame information, else where the last one
	 * in front ends. 0: not known. */
	uint64_t start;
};

/* Reads .symtab, else .dynsym, and the compressed table of "minidebug". 0 or HYB_ENOMEM. */
int sym_symtab_load(struct sym_symtab *symtab, Dwfl_Module *module);

/* Finds the function that holds an ELF address. 0 or HYB_ENOMEM. */
int sym_symtab_find(struct sym_symtab *symtab, uint64_t address, struct sym_place *ret_place);

/*
 * The addresses of the function that holds one: by its symbol's size or its call frame information; of a
 * label without a size up to the next symbol, or the end of its section. 1, 0 if that is not known, or
 * HYB_ENOMEM.
 */
int sym_symtab_extent(struct sym_symtab *symtab, uint64_t address, uint64_t *ret_start, uint64_t *ret_end);

void sym_symtab_release(struct sym_symtab *symtab);

#endif
