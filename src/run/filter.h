/* The file of --filter: checked here, before the program starts; the runtime reads it again. */
#ifndef RUN_FILTER_H
#define RUN_FILTER_H

#include <stdbool.h>

/*
 * 0 if every line is right; otherwise -1, and a line on stderr names file, line and fault. The first line
 * that can match nothing is named there, too; `hooks`: Python functions are probes.
 */
int filter_check(const char *path, bool hooks);

#endif
