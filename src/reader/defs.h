/* Decoder of the definitions of a DEFS chunk: pure, from pointer and length. */
#ifndef HYB_DEFS_H
#define HYB_DEFS_H

#include <stdbool.h>

#include "format/format.h"

struct defs {
	const uint8_t *data; /* the chunk with its header, aligned to 8 */
	size_t length;
	size_t pos; /* of the next definition */
	size_t garbage; /* bytes passed over that were neither definitions nor zero */
};

/* `length`: used bytes of the chunk. */
void defs_init(struct defs *defs, const void *data, size_t length);

/*
 * The next complete definition, or NULL behind the last. Its size is inside the
 * data; what follows the size is checked by def_strings().
 */
const struct hyb_def *defs_next(struct defs *defs);

/* Offset in the chunk of what defs_next() returned. */
static inline size_t defs_offset(const struct defs *defs, const struct hyb_def *def)
{
	return (size_t)((const uint8_t *)def - defs->data);
}

/*
 * Whether a definition has its structure of `head` bytes and, behind it, one or
 * two strings (b NULL: one) of the lengths given that end with NUL.
 */
bool def_strings(const struct hyb_def *def, size_t head, size_t a_len, const char **ret_a, size_t b_len,
	const char **ret_b);

#endif
