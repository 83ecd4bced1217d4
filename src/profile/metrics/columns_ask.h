/* The columns that a command line asks for: --metric and --metrics-file of all tools. */
#ifndef HYB_COLUMNS_ASK_H
#define HYB_COLUMNS_ASK_H

#include "profile/metrics/columns.h"

struct columns_wanted {
	const char *const *lists; /* of names and definitions */
	size_t list_count;
	const char *const *files; /* of definitions; shown if there are no lists */
	size_t file_count;
	/* What is wrong in "--metric", or "file:line"; also what a file defines and was not measured. */
	void (*warn)(void *data, const char *where, const char *text);
	void *data;
};

/* Fills an empty set of these metrics; 0, -1 after a message, or HYB_ENOMEM. To be released in all cases. */
int columns_ask(struct column_set *set, const struct columns_wanted *wanted,
	const struct profile_metric *metrics, size_t count);

#endif
