/*
 * The filter file: which functions are probes, of -finstrument-functions
 * programs and of Python ones in hooks mode. Lines are "include PATTERN" and
 * "exclude PATTERN", '#' begins a comment, patterns know '*' and '?'. The last
 * rule that matches decides; without a match a function is measured, unless
 * the first rule is an include.
 *
 * Native functions: PATTERN is compared with the symbol's name and, for C++,
 * with its qualified name without arguments ("ns::type::method").
 *
 * Python functions have rules of their own, which begin with "python:" and
 * mean nothing to native ones. The rest of PATTERN is compared with
 * "package.module.Type.method" and with "/path/of/module.py:Type.method".
 */
#ifndef HYB_FILTER_H
#define HYB_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/* Maps the file. False: it cannot be read. start */
bool filter_load(const char *path);

/* Whether a filter is in use. */
bool filter_active(void);

/* Whether the function with this symbol name is left out. async-signal-safe */
bool filter_excludes(const char *symbol);

/*
 * Whether the Python function is left out: `file` is its code's co_filename,
 * `qualname` its qualified name, or its name where there is none (before
 * 3.11). The module is made from the path: packages are the directories with
 * an __init__.py, which are looked up, so keep the answer for each code object.
 * errno is kept. async-signal-safe, 6 KiB of stack
 */
bool filter_excludes_python(const char *file, const char *qualname);

/* Writes the qualified name of an Itanium-mangled symbol, as far as it has no arguments; false: not mangled.
 */
bool filter_qualified(const char *symbol, char *to, size_t size);

#endif
