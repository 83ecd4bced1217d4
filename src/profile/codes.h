/*
 * Code addresses as the tree shows them: resolved once, names interned, with
 * what the presentation rules need to know about them.
 */
#ifndef HYB_CODES_H
#define HYB_CODES_H

#include "profile/profile.h"
#include "profile/intern.h"

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

struct code {
	const struct hyb_module *module;
	uint64_t address;
	bool call;
	bool ours; /* in libhybrid: not shown */
	bool start; /* what runs main and thread functions: not shown above them */
	bool main_start; /* what runs main: neither is what called it */
	bool unresolved;
	bool python_program; /* in the executable of an interpreter, "python3.11" */
	bool bridge; /* in what calls C functions for Python */
	bool shown; /* it got into a tree */
	const char *module_path; /* interned */
	uint64_t samples; /* taken at this very address */
	struct code_frame *frames; /* innermost first */
	size_t frame_count; /* at least 1 */
};

/* Zero bytes with `strings` and `mode` set are an empty, valid table. */
struct codes {
	struct strings *strings;
	enum profile_mode mode; /* decides how nameless code is called */
	struct code **slots;
	size_t slot_count, count;
};

/* The entry of an address, valid until codes_release(). NULL when memory is out. */
struct code *codes_get(struct codes *codes, const struct resolver *resolver, const struct hyb_module *module,
	uint64_t address, bool call);

void codes_release(struct codes *codes);

/* The last component of a path. */
const char *path_base(const char *path);

#endif
