/*
 * Turns an OTF2 archive into .hyb files, whoever wrote it. libotf2 reads it in processes of their own, one
 * for each core: what crashes or hangs there on a damaged archive harms nobody else, and what was read until
 * then is kept. Memory does not grow with the archive's events.
 */
#ifndef HYB_OTF2_IMPORT_H
#define HYB_OTF2_IMPORT_H

#include <signal.h>
#include <stdbool.h>

#include "hybrid/reader.h"

#define OTF2_IMPORT_FILES 64u

/* Who waits. Members may be NULL or 0. */
struct import_watch {
	void (*progress)(void *data, uint64_t done, uint64_t total); /* several times a second: events */
	void *data;
	const volatile sig_atomic_t *stop; /* not 0: give up */
};

/*
 * `anchor`: the archive's file that ends with .otf2. `fds`: OTF2_IMPORT_FILES empty files open for reading
 * and writing; the first *ret_count of them are .hyb files then, and hold the archive's processes in turn. 0,
 * or enum hyb_result and *err has the reason. `watch` may be NULL.
 */
int otf2_import(const char *anchor, const int *fds, const struct import_watch *watch, unsigned *ret_count,
	struct hyb_error *err);

#endif
