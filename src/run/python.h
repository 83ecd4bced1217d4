/* Python programs that the kernel does not execute by itself: sources, archives and directories. */
#ifndef RUN_PYTHON_H
#define RUN_PYTHON_H

#include "run/program.h"

/* Whether files of this name are for Python. */
bool python_name(const char *name);

/*
 * If `path` is a Python program that cannot be executed as it is, makes
 * `program` its interpreter with it as script: the one that its #! line names
 * if that can be executed, else python3 of PATH.
 *
 * 1 if it did, 0 if `path` is none (`program` is untouched), -ENOENT if there
 * is no interpreter.
 */
int python_find(const char *path, struct program *program);

#endif
