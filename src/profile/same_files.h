/* Pairs the files of two builds that were made in different directories. Pure. */
#ifndef HYB_SAME_FILES_H
#define HYB_SAME_FILES_H

#include "base/strings.h"

/*
 * For each path of `from` the one of `to` that is the same file, else NULL: the same path, or the one with
 * which it has the longest end in common ("b/util.c" of /one/b/util.c and /two/b/util.c), as long as no
 * other path of either side that is left ends so. The paths of a side are different ones. 0 or HYB_ENOMEM
 * with ret_same undefined.
 */
int same_files(const char *const *from, size_t from_count, const char *const *to, size_t to_count,
	const char **ret_same);

#endif
