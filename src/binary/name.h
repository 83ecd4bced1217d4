/* How functions and files are called. */
#ifndef HYB_READER_SYMBOLS_NAME_H
#define HYB_READER_SYMBOLS_NAME_H

/*
 * The readable form of a C++ or Rust linkage name: scopes and template
 * arguments, but no parameter list and no return type; Rust without its hash.
 * NULL if it is no such name. To be freed by the caller.
 */
char *sym_demangle(const char *name);

/*
 * `file` in `directory` (may be NULL; only an absolute one counts) without
 * empty, "." and ".." parts where they can be resolved in the text alone.
 * NULL if out of memory. To be freed by the caller.
 */
char *sym_normalise_path(const char *directory, const char *file);

#endif
