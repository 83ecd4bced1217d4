/*
 * Interned strings: equal texts have equal pointers, so that identity of a tree
 * node is a comparison of pointers. They live until strings_release().
 */
#ifndef HYB_STRINGS_H
#define HYB_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/row_index.h"

/* Zero bytes are an empty, valid table. */
struct strings {
	const char **texts; /* each once, in the order in which they came */
	size_t count;
	struct row_index index;
	struct arena arena; /* also for what is to live as long */
};

/* The one copy of `text`, or NULL when memory is out. */
const char *strings_get(struct strings *strings, const char *text);

/* The same for `length` bytes without a NUL. */
const char *strings_add(struct strings *strings, const char *text, size_t length);

void strings_release(struct strings *strings);

#endif
