/* --check: lists what can be measured on this machine. */
#ifndef RUN_CHECK_H
#define RUN_CHECK_H

#include "run/options.h"
#include "run/program.h"

#include <stdbool.h>

/* Paths of the parts of Hybrid; "" for one that was not built. */
struct checked {
	const char *library, *mpi, *papi;
};

/* Prints it; `program` may be NULL. Whether a measurement with these options works. */
bool check(const struct checked *parts, const struct options *options, const struct program *program);

/* Its lines: a title, and below it what works (true) and what does not, with what to do. */
void check_title(const char *title);
void check_line(bool works, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The part on a program. Whether it can be measured. */
bool check_program(const struct program *program, bool mpi);

#endif
