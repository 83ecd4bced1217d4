/* Items of one size in the order in which they were added, found by a number. */
#ifndef HYB_OTF2_IMPORT_TABLE_H
#define HYB_OTF2_IMPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/row_index.h"

/* Zero bytes: empty. */
struct refs {
	uint8_t *items;
	uint64_t *refs; /* of the items */
	struct row_index index;
	size_t count, item;
};

#define REF_NONE UINT32_MAX

/* The index of what has that number, or REF_NONE. */
uint32_t refs_find(const struct refs *refs, uint64_t ref);
void *refs_at(const struct refs *refs, uint32_t index); /* NULL for REF_NONE */
static inline void *refs_get(const struct refs *refs, uint64_t ref)
{
	return refs_at(refs, refs_find(refs, ref));
}

/* What is there, or zero bytes of `item`, which is always the same. Good until the next. NULL: memory is out.
 */
void *refs_add(struct refs *refs, uint64_t ref, size_t item);
void refs_release(struct refs *refs);

#endif
