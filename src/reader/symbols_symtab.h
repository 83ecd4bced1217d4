/* Function symbols of an ELF file by address: what is left where there is no DWARF. */
#ifndef HYB_READER_SYMBOLS_SYMTAB_H
#define HYB_READER_SYMBOLS_SYMTAB_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "reader/symbols_store.h"

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
};

/* Reads .symtab, else .dynsym, and the compressed table of "minidebug". 0 or HYB_ENOMEM. */
int sym_symtab_load(struct sym_symtab *symtab, Dwfl_Module *module);

/* The symbol at or in front of an ELF address, NULL if there is none in its section. */
const struct sym_symbol *sym_symtab_find(const struct sym_symtab *symtab, uint64_t address, bool *ret_guess);

void sym_symtab_release(struct sym_symtab *symtab);

#endif
