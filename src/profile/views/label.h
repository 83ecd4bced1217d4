/* What a node of a profile, or a row of a table, is called wherever it is shown. */
#ifndef HYB_LABEL_H
#define HYB_LABEL_H

#include "profile/profile.h"

/* `name` may be cut, the place (file and line) goes behind it. */
struct label {
	uint8_t kind; /* enum profile_kind */
	bool guess;
	bool python; /* a frame of Python: the file matters more than the name */
	const char *name, *file, *module;
	unsigned line;
	uint64_t skipped; /* demoted probe: calls only counted, else 0 */
};

struct label label_of(const struct profile_node *node);

/* Where the code is: ":file.c:23", " (file.c:12)", " (libm.so.6)"; to be freed, or NULL if the place is not
 * known, or memory is out. Without `full_paths` only the last parts of paths. */
char *label_place(const struct label *label, bool full_paths);

#endif
