/*
 * Python code objects, as the file knows them: a region by name, file and first
 * line, and a definition with the table of lines. async-signal-safe
 */
#ifndef HYB_PYTHON_CODE_H
#define HYB_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_code {
	uint64_t id; /* of its HYB_DEF_CODE */
	uint64_t region; /* key of its region */
};

/*
 * The definition of the code object at this address, made if it is new. False: it
 * is no code object, or there is no room. Any address may be asked for.
 */
bool python_code(uintptr_t address, struct python_code *ret_code);

/* Forgets all: a new file begins. start */
void python_code_reset(void);

#endif
