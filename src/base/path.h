/* Paths as text. */
#ifndef HYB_BASE_PATH_H
#define HYB_BASE_PATH_H

#include <string.h>

/* The last part; of what ends in a slash all, so that no name is empty. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
