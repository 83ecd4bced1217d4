#include "profile/pack/pack_texts.h"

#include <stdlib.h>
#include <string.h>

#include "hybrid/reader.h"

static int compare_pointers(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (const char *const *)a, y = (uintptr_t) * (const char *const *)b;

	return (x > y) - (x < y);
}

int pack_texts_sort(const struct strings *strings, struct pack_texts *ret)
{
	ret->count = strings->count;
	ret->texts = calloc(ret->count + 1, sizeof(*ret->texts));
	if (!ret->texts)
		return HYB_ENOMEM;
	memcpy(ret->texts, strings->texts, ret->count * sizeof(*ret->texts));
	qsort(ret->texts, ret->count, sizeof(*ret->texts), compare_pointers);
	return 0;
}

void pack_put_text(struct blob *to, const struct pack_texts *texts, const char *text)
{
	const char **at =
		text ? bsearch(&text, texts->texts, texts->count, sizeof(*texts->texts), compare_pointers)
		     : NULL;

	blob_put(to, at ? (uint64_t)(at - texts->texts) + 1 : 0);
}

const char *pack_get_text(struct blob_reader *from, const struct pack_texts *texts)
{
	uint64_t number = blob_get(from);

	if (number > texts->count)
		from->at = NULL;
	return from->at && number ? texts->texts[number - 1] : NULL;
}

int pack_texts_get(struct blob_reader *from, struct strings *strings, struct pack_texts *ret)
{
	size_t count = blob_get_count(from);

	ret->texts = calloc(count + 1, sizeof(*ret->texts));
	if (!ret->texts)
		return HYB_ENOMEM;
	for (; ret->count < count; ret->count++) {
		ret->texts[ret->count] = strings_get(strings, blob_get_text(from));
		if (!ret->texts[ret->count])
			return HYB_ENOMEM;
	}
	return 0;
}
