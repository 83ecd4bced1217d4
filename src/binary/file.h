/*
 * One ELF object that was measured: finding the very file that ran, or its
 * debug information, and asking it for source-level frames.
 */
#ifndef HYB_READER_SYMBOLS_FILE_H
#define HYB_READER_SYMBOLS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "hybrid/reader.h"
#include "binary/ranges.h"

/* The source-level frames of one address. */
struct sym_chain {
	uint32_t count; /* at least 1 */
	struct hyb_frame frames[];
};

/* What to look for. */
struct sym_wanted {
	const struct hyb_module *module; /* what ran */
	const char *path; /* where it should be: the module's path, but for the vdso */
	bool saved; /* the file belongs to the measurement: without a build-id it is believed */
	const char *debug_path; /* directories for separate debug files, with ':' between; NULL: the usual */
};

struct sym_file;

/*
 * Opens the file that ran; or, where it is gone or another one now, its
 * debug file by build-id. On success *ret is to be closed by the caller. On
 * failure a line for the user is in `problem` (or "" where there is nothing to
 * say), and HYB_EFORMAT or HYB_ENOMEM is returned. Strings of later lookups
 * go into `store`, which has to live as long as the file.
 */
int sym_file_open(struct strings *store, const struct sym_wanted *wanted, struct sym_file **ret,
	char *problem, size_t problem_size);

/* The frames of an ELF virtual address, in the store; NULL if out of memory. */
struct sym_chain *sym_file_lookup(struct sym_file *file, uint64_t address);

/* The ELF addresses of the function that holds one. 1, 0 if that is not known, or HYB_ENOMEM. */
int sym_file_extent(struct sym_file *file, uint64_t address, uint64_t *ret_start, uint64_t *ret_end);

/* The function whose address the loader puts at an ELF address, in the store; or NULL. */
const char *sym_file_import(struct sym_file *file, uint64_t slot);

/* Accepts NULL. */
void sym_file_close(struct sym_file *file);

#endif
