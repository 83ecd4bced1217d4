/* The line of a Python instruction, from the table of its code object. Pure, from pointer and length. */
#ifndef HYB_PYTHON_LINES_H
#define HYB_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Formats of the table. */
enum python_lines {
	PYTHON_LINES_LNOTAB = 1, /* up to 3.9, co_lnotab */
	PYTHON_LINES_LINETABLE = 2, /* 3.10, co_linetable: pairs of byte offset and line differences */
	PYTHON_LINES_LOCATIONS = 3, /* 3.11 and later, co_linetable: locations */
};

/*
 * `format`: enum python_lines; `first_line`: of the code object; `instruction`: its byte offset / 2 + 1, or 0
 * for a frame that has not begun, which is on the first line. Returns 0 if the table does not have it.
 */
unsigned python_line(
	unsigned format, const uint8_t *table, size_t len, unsigned first_line, uint32_t instruction);

#endif
