/* Inside of a session: when what still grows is read again. Pure, but for the clock. */
#ifndef HYB_SESSION_LIVE_H
#define HYB_SESSION_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero bytes: nothing is known yet. */
struct live {
	uint64_t due; /* ns of CLOCK_MONOTONIC; 0: never */
	uint64_t cost; /* ns of a core that the last reading took */
	unsigned failures; /* readings in a row */
	bool ever; /* anything was read */
	bool reported; /* the failure was reported */
};

/* Something was read, or merged again (cost 0). `unfinished`: it may grow. */
void live_read(struct live *live, bool unfinished, uint64_t cost);

/* Nothing could be read. `wait`: it may be there later. Whether to show a message: not if the last attempt
 * failed, too. */
bool live_failed(struct live *live, bool wait);

/* It was due, but nothing can be done now. */
void live_postpone(struct live *live);

/* ms until it is due; 0: now; -1: never. */
int live_wait(const struct live *live);

#endif
