/* --check: lists what can be measured on this machine. */
#ifndef RUN_CHECK_H
#define RUN_CHECK_H

#include "run/options.h"
#include "run/program.h"

#include <stdbool.h>
#include <stddef.h>

/* Paths of the parts of Hybrid; "" for one that was not built. */
struct checked {
	const char *library, *mpi, *papi;
};

/* Prints it; `program` may be NULL. Whether a measurement with these options works. */
bool check(const struct checked *parts, const struct options *options, const struct program *program);

/* Its lines: a title, and below it what works (true) and what does not, with what to do. */
void check_title(const char *title);
void check_line(bool works, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The command that mends what the line above says. */
void check_mend(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The first line of a file; false if it cannot be read. */
bool check_read(const char *path, char *ret, size_t room);

/* The part on MPI: what is in PATH, and whether its wrappers stand beside `library`, libhybrid-mpi.so or "".
 * `runtime` is the path of libhybrid.so. */
void check_mpi(const char *library, const char *runtime);

/* The part on where experiments go and what limits them, and a measurement to see that all works: whether it
 * did. */
bool check_place(const struct options *options);

/* The part on a program. Whether it can be measured. */
bool check_program(const struct program *program, bool mpi);

#endif
