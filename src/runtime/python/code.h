/*
 * Python code objects, as the file knows them: a region by name, file and first
 * line, and the lines of their instructions. async-signal-safe
 */
#ifndef HYB_PYTHON_CODE_H
#define HYB_PYTHON_CODE_H

#include <stdint.h>

/*
 * The key of the region of a code object's function, defined if it is new. 0: at this
 * address is no code object, or there is no room. Any address may be asked for.
 */
uint64_t python_code_region(uintptr_t code);

/*
 * The key of the node of a frame of this code object at this instruction (byte offset / 2
 * + 1; 0: not begun). 0: as above.
 */
uint64_t python_code_line(uintptr_t code, uint32_t instruction);

/* Forgets all: a new file begins. start */
void python_code_reset(void);

#endif
