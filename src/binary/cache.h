/*
 * The file of resolved addresses, with which a second look opens no ELF file.
 * Little endian, one part behind the other: header; entries by key, address
 * and call; the entries' frames; strings, each with its NUL. Nothing of it is
 * trusted: a file that does not fit together is no cache.
 */
#ifndef HYB_READER_SYMBOLS_CACHE_H
#define HYB_READER_SYMBOLS_CACHE_H

#include "base/map.h"
#include "base/strings.h"
#include "binary/file.h"
#include "binary/ranges.h"

/*
 * What addresses resolve to is a map with the keys (module, address) and
 * struct sym_chain in the store as values. The module is its key as interned
 * string, "?..." if it is not to be kept; bit 0 is set for return addresses.
 */
#define SYM_MEMO_KEY(module_key, call) ((uint64_t)(uintptr_t)(module_key) | (call))

/* Adds what the file holds to `memo`. 0, or an enum hyb_result with nothing or a part added. */
int sym_cache_read(const char *path, struct strings *store, struct map *memo);

/* Replaces the file by what `memo` holds. 0, or an enum hyb_result and the file as it was. */
int sym_cache_write(const char *path, const struct map *memo);

#endif
