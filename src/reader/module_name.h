/* The names of Python's modules. */
#ifndef HYB_MODULE_NAME_H
#define HYB_MODULE_NAME_H

#include <stddef.h>

/*
 * Python calls the top-level code of every module "<module>". Writes "<module package.name>", found from the
 * path of its file, cut to `size` bytes with its NUL. Where the file is none of a module ("<string>"), that
 * is "<module>".
 */
void module_name(const char *file, char *to, size_t size);

#endif
