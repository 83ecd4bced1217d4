/* Functions that a module imports. */
#ifndef HYB_READER_SYMBOLS_IMPORT_H
#define HYB_READER_SYMBOLS_IMPORT_H

#include <libelf.h>

#include "base/map.h"
#include "base/strings.h"
#include "binary/ranges.h"

/*
 * Fills an empty map: the ELF address of a slot (of the global offset table) to the name, in the store, of
 * the function whose address the loader puts there. What is damaged is left out. 0 or HYB_ENOMEM.
 */
int sym_imports_load(struct map *imports, struct strings *store, Elf *elf);

#endif
