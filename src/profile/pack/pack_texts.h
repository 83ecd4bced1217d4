/* The texts of a profile by number: as bytes each stands once. */
#ifndef HYB_PACK_TEXTS_H
#define HYB_PACK_TEXTS_H

#include "base/blob.h"
#include "base/strings.h"

struct pack_texts {
	const char **texts;
	size_t count;
};

/* All of the profile's, to be packed: a text's number is its place among the sorted pointers; and those that
 * were packed, as the profile's own. 0 or HYB_ENOMEM; `texts` is the caller's to free. */
int pack_texts_sort(const struct strings *strings, struct pack_texts *ret);
int pack_texts_get(struct blob_reader *from, struct strings *strings, struct pack_texts *ret);

/* One of the texts, or NULL. */
void pack_put_text(struct blob *to, const struct pack_texts *texts, const char *text);
const char *pack_get_text(struct blob_reader *from, const struct pack_texts *texts);

#endif
