/*
 * Where functions begin and end by their call frame information, which is
 * there even when the symbols were stripped.
 */
#ifndef HYB_READER_SYMBOLS_CFI_H
#define HYB_READER_SYMBOLS_CFI_H

#include <libelf.h>

#include "binary/ranges.h"

/*
 * Fills `ranges`, which is empty, with the ELF addresses that each entry of
 * .eh_frame covers. What is damaged or not understood is left out. 0 or
 * HYB_ENOMEM.
 */
int sym_cfi_load(struct sym_ranges *ranges, Elf *elf);

#endif
