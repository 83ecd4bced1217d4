/* What hybrid-run wants to know of a program's ELF file, mapped as a whole; nothing in it is trusted. */
#ifndef RUN_ELF_FILE_H
#define RUN_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it names a needed library that begins so. */
bool elf_needs(const char *file, size_t size, const char *name);

/* Whether it has a definition of that symbol; false also where symbols were stripped. */
bool elf_defines(const char *file, size_t size, const char *name);

/* Whether it has a section of that name. */
bool elf_has_section(const char *file, size_t size, const char *name);

#endif
