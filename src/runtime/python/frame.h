/* One frame of a thread's chain, read where it is. async-signal-safe */
#ifndef HYB_PYTHON_FRAME_H
#define HYB_PYTHON_FRAME_H

#include "frames.h"
#include "layout.h"

struct python_frame {
	uintptr_t code, previous;
	uint32_t instruction; /* byte offset / 2 + 1; 0: not begun */
	uint8_t owner;
	bool entry;
	bool copied; /* from anywhere */
};

/* Whether a frame at this address can be read in place. */
bool python_frame_mapped(struct python_walk *p, const struct python_layout *l, uintptr_t address);

/* The instruction at which a frame stands whose bytes and code these are, as in struct python_frame. */
uint32_t python_frame_instruction(const struct python_layout *l, const char *bytes, uintptr_t code);

/* False: there is no frame that could be read. Whether it is one, or what was one, is for the caller to see.
 */
bool python_frame_read(
	struct python_walk *p, const struct python_layout *l, uintptr_t address, struct python_frame *ret);

#endif
