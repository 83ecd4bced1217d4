/* Errors and damage. An error ends a call; damage in a file is left out, counted and described. */
#ifndef HYB_ERROR_H
#define HYB_ERROR_H

#include "hybrid/reader.h"

#define DAMAGE_TEXTS 100

/* All zero is "none". Several threads may add at once. */
struct damage {
	size_t count; /* of all */
	char *texts[DAMAGE_TEXTS]; /* of the first; NULL where memory was out */
};

/* Counts one damage at a file offset. */
__attribute__((format(printf, 4, 5))) void damage_add(
	struct damage *damage, const char *path, uint64_t offset, const char *format, ...);

void damage_release(struct damage *damage);

/* Fills *err, which may be NULL. Returns `code`. */
__attribute__((format(printf, 3, 4))) int error_set(
	struct hyb_error *err, enum hyb_result code, const char *format, ...);

/* The same for a failed system call on a path: "path: what: reason". */
int error_system(struct hyb_error *err, const char *path, const char *what);

#endif
