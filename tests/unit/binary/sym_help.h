/* Programs to look symbols up in: compiled by the tests, in a directory of their own. */
#ifndef SYM_HELP_H
#define SYM_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "binary/symbols.h"

/* cmocka group fixtures: make and remove the directory, with all that is in it. */
int sym_set_up(void **state);
int sym_tear_down(void **state);

/* "DIRECTORY/name"; the text lives until 16 more were made. */
const char *sym_path(const char *name);

/* Runs a shell command in the directory; whether it succeeded. */
__attribute__((format(printf, 1, 2))) bool sym_run(const char *format, ...);

/* The same with its output, to be freed. */
__attribute__((format(printf, 1, 2))) char *sym_output(const char *format, ...);

/* Whether the command is installed. */
bool sym_has(const char *command);

/* The number of the line with "LINE name" in a file of tests/unit. */
unsigned sym_line(const char *source, const char *name);

/* The ELF address of a symbol of a program in the directory; 0: no such symbol. */
uint64_t sym_address_of(const char *program, const char *symbol);

/* What the runtime would have recorded of the file now. */
struct hyb_module sym_module(const char *program);

/* Symbols without a cache. */
struct hyb_symbols *sym_plain(void);

/* The innermost frame, or any. */
struct hyb_frame sym_frame(struct hyb_symbols *symbols, const struct hyb_module *module, uint64_t address);

#endif
