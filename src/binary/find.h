/* Finding the ELF file of a module, and being sure that it is the one that ran. */
#ifndef HYB_READER_SYMBOLS_FIND_H
#define HYB_READER_SYMBOLS_FIND_H

#include "binary/file.h"

/* The default directories of separate debug files; in the syntax of libdwfl. */
#define SYM_DEBUG_PATH ":.debug:/usr/lib/debug"

/* Room for a build-id in hexadecimal digits. */
#define SYM_HEX_SIZE (2 * sizeof(((struct hyb_module *)0)->build_id) + 1)

/* Writes the build-id; returns its length in bytes, 0 if there is none or it makes no sense. */
unsigned sym_build_id_hex(const struct hyb_module *module, char hex[SYM_HEX_SIZE]);

/*
 * A descriptor of the file that ran or of its debug file, to be closed by the
 * caller; or -1 with a line about it in `problem` (empty if the module has no
 * file by its nature).
 */
int sym_find(const struct sym_wanted *wanted, char *problem, size_t problem_size);

/* The same, but only the file that ran: a debug file has no code in it. */
int sym_find_code(const struct sym_wanted *wanted, char *problem, size_t problem_size);

#endif
