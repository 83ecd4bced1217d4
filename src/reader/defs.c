#include "reader/defs.h"

#include <string.h>

void defs_init(struct defs *defs, const void *data, size_t length)
{
	*defs = (struct defs){.data = data, .length = length, .pos = sizeof(struct hyb_chunk)};
}

const struct hyb_def *defs_next(struct defs *defs)
{
	while (defs->pos + sizeof(struct hyb_def) <= defs->length) {
		const struct hyb_def *def = (const struct hyb_def *)(defs->data + defs->pos);

		if (def->magic != HYB_DEF_MAGIC || def->size < sizeof(*def) || def->size % 8 ||
			def->size > defs->length - defs->pos) {
			/* A size may have been written without its magic. */
			if (def->magic || def->type)
				defs->garbage += 8;
			defs->pos += 8;
			continue;
		}
		defs->pos += def->size;
		if (def->type)
			return def;
	}
	return NULL;
}

bool def_strings(const struct hyb_def *def, size_t head, size_t a_len, const char **ret_a, size_t b_len,
	const char **ret_b)
{
	const char *a = (const char *)def + head, *b = a + a_len + 1;
	size_t need = head + a_len + 1 + (ret_b ? b_len + 1 : 0);

	if (need > def->size || a[a_len] || (ret_b && b[b_len]))
		return false;
	*ret_a = a;
	if (ret_b)
		*ret_b = b;
	return true;
}
