/* Functions that a module imports. */
#ifndef HYB_READER_SYMBOLS_IMPORT_H
#define HYB_READER_SYMBOLS_IMPORT_H

#include <libelf.h>

#include "binary/store.h"

/*
 * Fills an empty map: the ELF address of a slot (of the global offset table) to the name, in the store, of
 * the function whose address the loader puts there. What is damaged is left out. 0 or HYB_ENOMEM.
 */
int sym_imports_load(struct sym_map *imports, struct sym_store *store, Elf *elf);

#endif
