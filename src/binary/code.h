/* The machine code of a module, from the very file that ran. */
#ifndef HYB_READER_SYMBOLS_CODE_H
#define HYB_READER_SYMBOLS_CODE_H

#include "binary/file.h"

/* As hyb_symbols_code(). */
int sym_code_read(const struct sym_wanted *wanted, uint64_t address, void *buffer, size_t size,
	struct hyb_code *ret_code, struct hyb_error *err);

#endif
