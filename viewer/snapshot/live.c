#include "viewer/snapshot/live.h"

#include "base/now.h"

#define SECOND 1000000000u /* ns */
#define SHARE 10u /* of the time of a core at most one part of so many */
#define SOON (SECOND / 2)
#define TRIES 3u /* readings of what was there and is not any more: a server may be away for a moment */

void live_read(struct live *live, bool unfinished, uint64_t cost)
{
	uint64_t pause;

	if (cost)
		live->cost = cost;
	pause = live->cost * SHARE > SECOND ? live->cost * SHARE : SECOND;
	live->failures = 0;
	live->ever = true;
	live->reported = false;
	live->due = unfinished ? now() + pause : 0;
}

bool live_failed(struct live *live, bool wait)
{
	bool first = !live->reported;

	live->reported = true;
	live->failures++;
	live->due = wait || (live->ever && live->failures < TRIES) ? now() + SOON : 0;
	return first;
}

void live_postpone(struct live *live)
{
	live->due = now() + SOON;
}

int live_wait(const struct live *live)
{
	uint64_t time = now();

	if (!live->due)
		return -1;
	return live->due <= time ? 0 : (int)((live->due - time + 999999) / 1000000);
}
