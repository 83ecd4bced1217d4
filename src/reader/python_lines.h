/* The line of a Python instruction, from the table of its code object. Pure, from pointer and length. */
#ifndef HYB_PYTHON_LINES_H
#define HYB_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/*
 * `format`: enum hyb_lines; `first_line`: of the code object; `instruction`: as in the key of a
 * HYB_NODE_PYTHON, where 0 (not begun) is on the first line. Returns 0 if the table does not say.
 */
unsigned python_line(
	unsigned format, const uint8_t *table, size_t len, unsigned first_line, uint32_t instruction);

#endif
