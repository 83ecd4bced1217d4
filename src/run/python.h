/* Python programs that a shell does not execute by that name: sources, archives and directories. */
#ifndef RUN_PYTHON_H
#define RUN_PYTHON_H

#include "run/program.h"

/* Whether files of this name are for Python. */
bool python_name(const char *name);

/*
 * If `path` is a Python program that cannot be executed as it is, makes
 * `program` its interpreter with it as script: the one that its #! line names
 * if that can be executed, else python3 of PATH. `found`: what it names is a
 * command; else it is a file here that is in no folder of PATH.
 *
 * 1 if it did, 0 if `path` is none (`program` is untouched), -ENOENT if there
 * is no interpreter.
 */
int python_find(const char *path, bool found, struct program *program);

#endif
