/* A time axis: where its ticks stand, and how moments read. Pure. */
#ifndef HYB_TIMELINE_AXIS_H
#define HYB_TIMELINE_AXIS_H

#include <stdint.h>

#define AXIS_TEXT 48

struct axis {
	uint64_t first, step; /* ns: ticks stand at first, first + step ... */
};

/* Ticks of 1, 2 or 5 times a power of ten, not more than `most` in [from, to). */
struct axis axis_make(uint64_t from, uint64_t to, unsigned most);

/* A moment in s, ms or us, as what matters at that step: "1.25 s", "12.5 ms". The buffer is returned. */
const char *axis_text(uint64_t time, uint64_t step, char text[AXIS_TEXT]);

#endif
