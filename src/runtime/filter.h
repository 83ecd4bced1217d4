/*
 * The filter file for -finstrument-functions programs: lines "include PATTERN" and
 * "exclude PATTERN", '#' begins a comment. Patterns know '*' and '?'; they are
 * compared with the symbol's name and, for C++, with its qualified name without
 * arguments ("ns::type::method"). The last rule that matches decides; without
 * a match a function is measured, unless the first rule is an include.
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

/* Writes the qualified name of an Itanium-mangled symbol, as far as it has no arguments; false: not mangled.
 */
bool filter_qualified(const char *symbol, char *to, size_t size);

#endif
