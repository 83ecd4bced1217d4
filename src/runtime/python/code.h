/*
 * Python code objects, as the file knows them: a region by name, file and first
 * line, and the lines of their instructions. async-signal-safe
 */
#ifndef HYB_PYTHON_CODE_H
#define HYB_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The key of the region of a code object's function, defined if it is new. 0: at this
 * address is no code object, or there is no room. Any address may be asked for.
 */
uint64_t python_code_region(uintptr_t code);

/*
 * Whether a code object is at this address now. For one that a stale pointer leads to: where it
 * was found before, the other functions take it for granted.
 */
bool python_code_exists(uintptr_t code);

/*
 * The key of the node of a frame of this code object at this instruction (byte offset / 2
 * + 1; 0: not begun). 0: as above.
 */
uint64_t python_code_line(uintptr_t code, uint32_t instruction);

/*
 * Whether a code object is no function of anybody's: from 3.12 on making an object
 * can put a frame of the interpreter's own, "__init__" of line 0 in a file of that
 * name, outside of the one of __init__.
 */
bool python_code_internal(uintptr_t code);

/* A string object as UTF-8 with its NUL, cut to the room there is. False: it is none that could be read. */
bool python_code_string(uintptr_t object, char *to, size_t size);

/* Forgets all: a new file begins. start */
void python_code_reset(void);

#endif
