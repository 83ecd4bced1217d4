/*
 * Code addresses as the tree shows them: resolved once, names interned, with
 * what the presentation rules need to know about them.
 */
#ifndef HYB_CODES_H
#define HYB_CODES_H

#include "base/map.h"
#include "profile/profile.h"
#include "base/strings.h"
#include "profile/views/row_map.h"

/* As hyb_symbols_lookup(). */
struct resolver {
	const struct hyb_frame *(*lookup)(
		void *data, const struct hyb_module *module, uint64_t address, bool call, size_t *ret_count);
	void *data;
};

/* One source-level frame; strings are interned. */
struct code_frame {
	const char *function; /* never empty: "[libm.so.6+0x1234]" if not known */
	const char *file;
	unsigned line;
	unsigned function_line;
	bool guess;
};

/* A module as a process describes it, and the first description of the same contents. */
struct code_module {
	const struct hyb_module *module, *first;
};

struct code {
	const struct hyb_module *module; /* the first of its contents */
	uint64_t address;
	bool call;
	bool ours; /* in libhybrid: not shown */
	bool start; /* what runs main and thread functions: not shown above them */
	bool main_start; /* what runs main: neither is what called it */
	bool unresolved;
	bool python_program; /* in the executable of an interpreter, "python3.11"; or its jump to a function
				(-X perf) */
	const char *python_part; /* the interpreter's own work that this is ("garbage collection" ...),
				    interned; NULL: it runs the program. Only for code in an interpreter */
	bool bridge; /* in what calls C functions for Python */
	bool shown; /* it got into a tree */
	const char *module_path; /* interned */
	uint64_t samples; /* taken at this very address */
	struct code_frame *frames; /* innermost first */
	size_t frame_count; /* at least 1 */
};

/*
 * Zero bytes with `strings` and `mode` set are an empty, valid table. Each process describes the modules that
 * all share: those of the same contents are one here.
 */
struct codes {
	struct strings *strings;
	enum profile_mode mode; /* decides how nameless code is called */
	struct row_map modules; /* a struct code_module for each description */
	struct row_map contents; /* a struct code_contents for each that differs */
	struct code_module last; /* that was asked for */
	struct map map; /* of struct code */
};

/* The entry of an address, valid until codes_release(). NULL when memory is out. */
struct code *codes_get(struct codes *codes, const struct resolver *resolver, const struct hyb_module *module,
	uint64_t address, bool call);

void codes_release(struct codes *codes);

/* Whether a module is our wrapper of MPI; a library of MPI itself, or of its Fortran and C++ bindings. NULL:
 * no. */
bool is_wrapper(const struct hyb_module *module);
bool is_mpi_library(const struct hyb_module *module);

/* Whether `name`, perhaps "space::name<T>(int)", is the function that a region calls `region`. */
bool is_function(const char *name, const char *region);

#endif
